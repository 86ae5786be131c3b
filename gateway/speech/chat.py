"""Chat Completions, which is what an answer is inside already. Spec: the OpenAI API reference, "Chat Completions"."""

from collections.abc import Iterator
from typing import Any

import msgspec

from gateway.providers.upstream import Chunk
from gateway.speech import Request
from gateway.wire.request.chat_body import decode_chat
from gateway.wire.request.controls import Headers
from gateway.wire.sse import DONE, event
from gateway.wire.unfold import unfold, usage_chunk


class ChatSpeech:
    """An answer in chunks. With `usage`, the client has asked for it, and gets it at the end with its cost."""

    def __init__(self, *, usage: bool) -> None:
        self._usage = usage

    def piece(self, chunk: Chunk) -> bytes:
        """Return the chunk with its own bytes wherever nothing in it is ours to change."""
        value = chunk.value
        counts_nothing = "usage" in value and not value["usage"]
        if not value or (counts_nothing and not value.get("choices")):  # to read a choice of that would be an error
            return b""
        if not isinstance(value.get("usage"), dict):
            return event(chunk.payload if chunk.dialect == "chat" else msgspec.json.encode(value))
        # The usage so far is for our own accounts; a client that asked gets the final one at the end, with its cost.
        rest = {name: part for name, part in value.items() if name != "usage"}
        return event(msgspec.json.encode(rest)) if value.get("choices") else b""

    def told(self, completion: dict[str, Any]) -> Iterator[bytes]:
        """Yield the chunks of a whole completion."""
        for chunk in unfold(completion):
            yield event(msgspec.json.encode(chunk))

    def end(self, completion: dict[str, Any], money: dict[str, str]) -> bytes:
        """Return the usage, for a client that asked for it, and the end mark."""
        usage = event(msgspec.json.encode(usage_chunk(completion, money))) if self._usage else b""
        return usage + event(DONE)

    def whole(self, completion: dict[str, Any]) -> dict[str, Any]:
        """Return the completion."""
        return completion

    def broken(self, error: dict[str, Any]) -> bytes:
        """Return the error as an event, and no end mark."""
        return event(msgspec.json.encode(error))


def read_chat(raw: bytes, request_id: str, headers: Headers) -> Request:
    """Read a request.

    Raises:
        BadRequest: with the path of the first field that is wrong.
    """
    del request_id, headers
    body, fields = decode_chat(raw)
    shows_usage = fields.stream_options is not None and fields.stream_options.include_usage
    return Request("chat", body, fields, bool(fields.stream), ChatSpeech(usage=shows_usage))
