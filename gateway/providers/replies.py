"""Read a provider's reply: never more of it than was agreed, and in the form that was asked for."""

from collections.abc import AsyncIterable
from typing import Any, Final

from gateway.errors import UpstreamError

MOST_REFUSAL_BYTES: Final = 64 * 1024
MOST_MODELS_BYTES: Final = 4 * 1024 * 1024
MOST_COMPLETION_BYTES: Final = 16 * 1024 * 1024
MOST_EMBEDDINGS_BYTES: Final = 128 * 1024 * 1024
"""2,048 vectors of 3,072 numbers in full precision."""


async def read_start(reads: AsyncIterable[bytes], most: int, begun: bytes = b"") -> bytes:
    """Return `begun` and what follows it, up to `most` bytes in all; the rest is never received."""
    body = bytearray(begun)
    async for read in reads:
        body += read
        if len(body) >= most:
            break
    return bytes(body[:most])


async def read_whole(reads: AsyncIterable[bytes], most: int, provider: str, begun: bytes = b"") -> bytes:
    """Return `begun` and all that follows it.

    Raises:
        UpstreamError: it is longer than `most` bytes.
    """
    body = await read_start(reads, most + 1, begun)
    if len(body) > most:
        raise UpstreamError(f"Provider {provider!r} sent more than {most // 2**20} MiB.", provider)
    return body


def as_chunk(completion: dict[str, Any]) -> dict[str, Any]:
    """Return a completion as the one chunk of a stream that says all of it, usage included."""
    choices = completion.get("choices")
    parts = [part for part in choices if isinstance(part, dict)] if isinstance(choices, list) else []
    return completion | {"object": "chat.completion.chunk", "choices": [_as_part(part) for part in parts]}


def _as_part(choice: dict[str, Any]) -> dict[str, Any]:
    said = choice.get("message")
    message: dict[str, Any] = dict(said) if isinstance(said, dict) else {}
    calls = message.get("tool_calls")
    if isinstance(calls, list):
        message["tool_calls"] = [{"index": index} | call for index, call in enumerate(calls) if isinstance(call, dict)]
    return {name: value for name, value in choice.items() if name != "message"} | {"delta": message}
