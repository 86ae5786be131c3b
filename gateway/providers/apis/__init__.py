"""How each kind of provider is spoken to: one file for each API.

An API is words alone: what is posted and where, with which credentials, what an answer's events say, and what an error
means. `gateway/providers/http.py` does the calling for all of them; `ears.py` listens to streams of events, and
`signing.py` signs what goes to Amazon. Many speak the OpenAI API, each in its own way: `manners.py` is how they are
asked, `canonical.py` how their answers are put right and `failures.py` how their errors are read. `counts.py` is how
those are asked for the count of a prompt who can be.
"""

from collections.abc import Mapping
from typing import Any, Protocol

from gateway.providers.upstream import Call, Chunk, Dialect, Wanted


class Ear(Protocol):
    """Hears one streamed answer.

    Every method raises `UpstreamError` for what makes no sense. An error in place of an answer is a chunk whose value
    has an `error`, which is the error object of a chat.
    """

    @property
    def done(self) -> bool:
        """Whether the answer has said that nothing follows."""
        ...

    def feed(self, read: bytes) -> list[Chunk]:
        """Return the chunks that `read` completes."""
        ...

    def end(self) -> list[Chunk]:
        """Return what the end of the stream completes."""
        ...


class Api(Protocol):
    """The words of one API, with the credentials of one provider."""

    @property
    def dialect(self) -> Dialect:
        """What the payloads of its streams are written in."""
        ...

    def headers(self, url: str, payload: bytes) -> dict[str, str]:
        """Return its credentials for posting `payload` to `url`, and what else goes with every request."""
        ...

    def chat(self, call: Call) -> Wanted:
        """Say a call.

        Raises:
            BadRequest: this API has no word for something in it.
        """
        ...

    def ear(self, provider: str, wanted: Wanted) -> Ear:
        """Return what hears the answer to `wanted`."""
        ...

    def embeddings(self, body: dict[str, Any]) -> Wanted:
        """Say an embeddings request of OpenAI's form.

        Raises:
            BadRequest: this API has no word for something in it.
        """
        ...

    def embedded(self, reply: dict[str, Any], asked: dict[str, Any], headers: Mapping[str, str]) -> dict[str, Any]:
        """Return the reply to the embeddings request `asked` in OpenAI's form; one without `data` says nothing.

        Some tell what they have read in the `headers` of the reply alone.
        """
        ...

    def error(self, body: bytes) -> dict[str, Any]:
        """Return the error object of a chat that says what the body of a refusal says; empty when it says nothing."""
        ...
