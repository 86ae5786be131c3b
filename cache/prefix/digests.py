"""When two prefixes are the same: digests of a growing chain of bytes, salted with whose they are."""

from collections.abc import Iterable, Iterator
from hashlib import sha256
from typing import Final

_LENGTH: Final = 8


def chained(salt: bytes, parts: Iterable[bytes]) -> Iterator[bytes]:
    """Digest every prefix of a list of parts.

    Two digests are equal if and only if salt and parts are, up to there: each part goes in behind its length, so that
    none can pose as two.

    Args:
        salt: Whose prefixes these are; the same bytes of another are another prefix.
        parts: The pieces, from the start.

    Yields:
        32 bytes (SHA-256) after each part.
    """
    chain = sha256(_framed(salt))
    for part in parts:
        chain.update(_framed(part))
        yield chain.digest()


def _framed(part: bytes) -> bytes:
    return len(part).to_bytes(_LENGTH, "big") + part
