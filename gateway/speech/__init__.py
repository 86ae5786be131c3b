"""How a client is spoken to, in the dialect that it has chosen by the path it calls.

Each dialect has one file: it reads a request as the body of a chat, and passes an answer on. What a provider of the
same dialect says goes to the client as it came, byte for byte, but for the usage, to which the cost is added; what
another says is told in the client's own words. Nothing here knows policy, money or HTTP.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from gateway.providers.upstream import Chunk, Dialect
from gateway.wire.request.chat_body import ChatFields


class Speech(Protocol):
    """One answer, as its client wants it said. `money` has what was paid and spared, as decimal text by name."""

    def piece(self, chunk: Chunk) -> bytes:
        """Return what a stream says of `chunk`; empty when that is nothing, or nothing yet."""
        ...

    def told(self, completion: dict[str, Any]) -> Iterator[bytes]:
        """Yield what a stream says of a completion that is whole already, up to its end."""
        ...

    def end(self, completion: dict[str, Any], money: dict[str, str]) -> bytes:
        """Return what ends the stream of a completion."""
        ...

    def whole(self, completion: dict[str, Any]) -> dict[str, Any]:
        """Return the body of an answer that is not streamed."""
        ...

    def broken(self, error: dict[str, Any]) -> bytes:
        """Return what ends a stream that broke off; `error` is the error body of a chat."""
        ...


@dataclass(frozen=True, slots=True)
class Request:
    """One request, understood.

    Attributes:
        dialect: the one it is in.
        body: what it asks, as the body of a chat.
        fields: those of the body that governance reads, checked.
        stream: whether the answer is to come in pieces.
        speech: how its answer is said.
    """

    dialect: Dialect
    body: dict[str, Any]
    fields: ChatFields
    stream: bool
    speech: Speech
