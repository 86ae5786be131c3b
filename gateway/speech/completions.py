"""Legacy Completions. Spec: the OpenAI API reference, "Completions"."""

from collections.abc import Iterator
from typing import Any

import msgspec

from gateway.dialects.completions.answering import Answer, reply
from gateway.dialects.completions.asking import echoed, to_chat
from gateway.providers.upstream import Chunk
from gateway.speech import Request
from gateway.wire.body import decode
from gateway.wire.request.chat_body import checked
from gateway.wire.request.controls import Headers
from gateway.wire.sse import DONE, event
from gateway.wire.unfold import unfold, usage_chunk


class CompletionsSpeech:
    """An answer in pieces of text, each of whose choices begins with `prefix`. With `usage` it ends with the usage."""

    def __init__(self, prefix: str, *, usage: bool) -> None:
        self._prefix = prefix
        self._answer = Answer(prefix)
        self._usage = usage

    def piece(self, chunk: Chunk) -> bytes:
        """Return the piece of text that a chunk holds."""
        value = {name: part for name, part in chunk.value.items() if name != "usage"}
        return self._said(value) if value.get("choices") else b""

    def told(self, completion: dict[str, Any]) -> Iterator[bytes]:
        """Yield the pieces of a whole completion."""
        yield from map(self._said, unfold(completion))

    def end(self, completion: dict[str, Any], money: dict[str, str]) -> bytes:
        """Return the usage, for a client that asked for it, and the end mark."""
        usage = self._said(usage_chunk(completion, money)) if self._usage else b""
        return usage + event(DONE)

    def whole(self, completion: dict[str, Any]) -> dict[str, Any]:
        """Return the completion as this API has it."""
        return reply(completion, self._prefix)

    def broken(self, error: dict[str, Any]) -> bytes:
        """Return the error as an event, and no end mark."""
        return event(msgspec.json.encode(error))

    def _said(self, chunk: dict[str, Any]) -> bytes:
        return b"".join(event(msgspec.json.encode(data)) for _, data in self._answer.feed(chunk))


def read_completions(raw: bytes, request_id: str, headers: Headers) -> Request:
    """Read a request.

    Raises:
        BadRequest: with the path of the first field that is wrong or cannot be carried.
    """
    del request_id, headers
    asked = decode(raw)
    body = to_chat(asked)
    fields = checked(body)
    shows_usage = fields.stream_options is not None and fields.stream_options.include_usage
    speech = CompletionsSpeech(echoed(asked), usage=shows_usage)
    return Request("completions", body, fields, bool(fields.stream), speech)
