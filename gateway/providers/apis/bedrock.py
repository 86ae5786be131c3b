"""Amazon Bedrock: Converse for chats, and the models that make vectors by the words of their makers.

Spec: the Amazon Bedrock API reference, `ConverseStream` and `InvokeModel`. This needs the extra `bedrock`.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final
from urllib.parse import quote, unquote

from gateway.dialects.converse.calling import to_converse
from gateway.dialects.converse.embedding import to_embeddings, to_invocation
from gateway.dialects.converse.failures import refused
from gateway.dialects.converse.frames import Frames
from gateway.dialects.converse.hearing import Hearing
from gateway.providers.apis.ears import Heard, translated
from gateway.providers.apis.signing import Sign
from gateway.providers.replies import json_of
from gateway.providers.upstream import Call, Dialect, Wanted

_STREAM: Final = "converse-stream"
_INVOKE: Final = "invoke"
_READ_TOKENS: Final = "x-amzn-bedrock-input-token-count"


class BedrockEar:
    """Hears the frames of one answer; `done` is said by the end of the stream alone."""

    done = False

    def __init__(self, provider: str, hearing: Hearing) -> None:
        self._frames = Frames(provider)
        self._hearing = hearing

    def feed(self, read: bytes) -> Heard:
        """Return the chunks that `read` completes."""
        frames = self._frames.feed(read)
        heard = [translated(frame.payload, self._hearing.hear(frame.name, frame.data), "converse") for frame in frames]
        return [chunk for chunks in heard for chunk in chunks]

    def end(self) -> Heard:
        """Return nothing: a frame that is not complete says nothing."""
        return []


class BedrockApi:
    """Converse and InvokeModel.

    Args:
        sign: gives the credentials.
        clock: gives seconds since the epoch: the API does not say when an answer began.
        name_answer: gives a name to an answer, for which the API has none.
    """

    dialect: Dialect = "converse"

    def __init__(self, sign: Sign, clock: Callable[[], float], name_answer: Callable[[], str]) -> None:
        self._sign = sign
        self._clock = clock
        self._name_answer = name_answer

    def headers(self, url: str, payload: bytes) -> dict[str, str]:
        """Return the key, or a signature of the request."""
        return self._sign(url, payload)

    def chat(self, call: Call) -> Wanted:
        """Say a chat as Converse, streamed."""
        return Wanted(_path(call.body["model"], _STREAM), to_converse(call.body, call.max_tokens))

    def ear(self, provider: str, wanted: Wanted) -> BedrockEar:
        """Hear frames; what they leave unsaid of the model stands in the path that was called."""
        model = unquote(wanted.path.split("/")[1])
        return BedrockEar(provider, Hearing(provider, self._name_answer(), model, int(self._clock())))

    def embeddings(self, body: dict[str, Any]) -> Wanted:
        """Say an embeddings request in the words of the model's maker."""
        return Wanted(_path(body["model"], _INVOKE), to_invocation(body))

    def embedded(self, reply: dict[str, Any], asked: dict[str, Any], headers: Mapping[str, str]) -> dict[str, Any]:
        """Return the vectors as OpenAI's API lists them."""
        return to_embeddings(reply, asked, headers.get(_READ_TOKENS, ""))

    def error(self, body: bytes) -> dict[str, Any]:
        """Return the error of a chat that says the same."""
        said = json_of(body)
        return refused(said) if isinstance(said, dict) else {}


def _path(model: str, verb: str) -> str:
    """Where a model is called. A colon stays as it is: the client would write one so, and that is what is signed."""
    return f"model/{quote(model, safe=':')}/{verb}"
