"""What a call leaves for the ledger: which prefixes were written because we marked them, and which one was read."""

from collections.abc import Iterable
from typing import Final, NamedTuple

_NAME: Final = 16
"""Digits that name a prefix: 64 bits, which no tenant's prefixes of a month collide in."""


class Trace(NamedTuple):
    """One call.

    Attributes:
        wrote: each prefix written for our mark, as `<prefix>:<tokens>` from the shortest on, parted by commas.
        read: the prefix that was read, or empty.
    """

    wrote: str = ""
    read: str = ""


NO_TRACE: Final = Trace()


def named(digest: bytes) -> str:
    """Return the name of a prefix."""
    return digest.hex()[:_NAME]


def written(prefixes: Iterable[tuple[bytes, int]]) -> str:
    """Return what `Trace.wrote` says of prefixes, each with its tokens."""
    return ",".join(f"{named(digest)}:{tokens}" for digest, tokens in prefixes)
