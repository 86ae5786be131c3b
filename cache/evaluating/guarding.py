"""Guards over a stream: each question is read once, each pair is asked about at most once for all caches replayed."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from cache.guards import read, veto

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from cache.evaluating.lines import Line

_PAIRS = 1 << 18


def guarded(lines: Sequence[Line]) -> Callable[[int, int], bool]:
    """Return whether guards keep the answer of the line at one place from the question at another."""
    readings = lru_cache(maxsize=None)(lambda place: read(lines[place].prompt))

    @lru_cache(maxsize=_PAIRS)
    def forbidden(stored: int, asked: int) -> bool:
        return veto(readings(asked), readings(stored)) is not None

    return forbidden
