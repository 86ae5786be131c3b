"""An answer as bytes, for homes outside this process: what is not exactly what was written is no answer.

A record begins with a digest of its key and of all that follows, so that a flipped bit, a torn write, or the record of
another key is never taken for an answer.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import Final

import msgspec

from cache.stores import Stored

_FORMAT: Final = 2
_DIGEST_BYTES: Final = 16
_Fields = tuple[int, float, bytes, str, int, dict[str, int], float, str | None, bytes, tuple[str, ...]]


def pack(key: bytes, stored: Stored, expires_at: float) -> bytes:
    """Write an answer that lasts until an instant; keys have at most 64 bytes."""
    fields: _Fields = (
        _FORMAT,
        expires_at,
        stored.body,
        stored.model,
        stored.cost_nanos,
        dict(stored.usage),
        stored.created,
        stored.question,
        stored.marks,
        stored.tags,
    )
    text = _encode(fields)
    return _digest(key, text) + text


def unpack(key: bytes, record: bytes) -> tuple[Stored, float] | None:
    """Read an answer and until when it lasts; None for what was not written under this key, by this version."""
    text = memoryview(record)[_DIGEST_BYTES:]
    if _digest(key, text) != record[:_DIGEST_BYTES]:
        return None
    try:
        written, expires_at, body, model, cost_nanos, usage, created, question, marks, tags = _decode(text)
    except msgspec.DecodeError:  # intact, of another version
        return None
    if written != _FORMAT:
        return None
    return Stored(body, model, cost_nanos, usage, created, question, marks, tags), expires_at


def _digest(key: bytes, text: bytes | memoryview) -> bytes:
    return blake2b(text, key=key, digest_size=_DIGEST_BYTES).digest()


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(_Fields).decode
