"""Read a provider's reply: never more of it than was agreed, and in the form that was asked for."""

from collections.abc import AsyncIterable, Mapping
from typing import Any, Final

import msgspec

from gateway.errors import UpstreamError

MOST_REFUSAL_BYTES: Final = 64 * 1024
MOST_MODELS_BYTES: Final = 4 * 1024 * 1024
MOST_METRICS_BYTES: Final = 4 * 1024 * 1024
MOST_COUNT_BYTES: Final = 32 * 1024 * 1024
"""With the tokens themselves, of a prompt of millions."""

MOST_COMPLETION_BYTES: Final = 16 * 1024 * 1024
MOST_EMBEDDINGS_BYTES: Final = 128 * 1024 * 1024
"""2,048 vectors of 3,072 numbers in full precision."""


_CREDENTIALS: Final = ("authorization", "x-api-key", "x-goog-api-key", "x-amz-security-token")
_SHORTEST_SECRET: Final = 8


async def read_start(reads: AsyncIterable[bytes], most: int) -> bytes:
    """Return the first `most` bytes; the rest is never received."""
    body = bytearray()
    async for read in reads:
        body += read
        if len(body) >= most:
            break
    return bytes(body[:most])


async def read_whole(reads: AsyncIterable[bytes], most: int, provider: str) -> bytes:
    """Return all that is read.

    Raises:
        UpstreamError: it is longer than `most` bytes.
    """
    body = await read_start(reads, most + 1)
    if len(body) > most:
        raise UpstreamError(f"Provider {provider!r} sent more than {most // 2**20} MiB.", provider)
    return body


def json_of(payload: bytes) -> object:
    """Return what JSON says; None where it is none."""
    try:
        return msgspec.json.decode(payload)
    except (msgspec.DecodeError, RecursionError):
        return None


def as_object(payload: bytes, provider: str) -> dict[str, Any]:
    """Return a JSON object.

    Raises:
        UpstreamError: it is something else.
    """
    value = json_of(payload)
    if not isinstance(value, dict):
        raise UpstreamError(f"Provider {provider!r} sent something that is not a JSON object.", provider)
    return value


def without_secrets(body: bytes, asked: Mapping[str, str]) -> bytes:
    """Return what a provider says of a request less the credentials in its headers: some repeat what they refuse."""
    words = {word for name in _CREDENTIALS for word in asked.get(name, "").split() if len(word) >= _SHORTEST_SECRET}
    for secret in sorted(words, key=len, reverse=True):
        body = body.replace(secret.encode(), "…".encode())
    return body
