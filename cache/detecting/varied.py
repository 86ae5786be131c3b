"""Requests to which the same answer twice is the wrong one: chance, jokes, ideas, one more of something."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cache.detecting.signs import first, read_signs

if TYPE_CHECKING:
    from cache.detecting.reading import Reading

_SIGNS = read_signs("varied")


def spot(reading: Reading) -> str | None:
    """Say what should differ from answer to answer, or None when the same answer is welcome twice."""
    if reading.method and not reading.polite:
        return None
    return first(_SIGNS, reading.start, reading.words)
