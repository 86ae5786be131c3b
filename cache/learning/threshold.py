"""The loosest risk that may be served: what the error bound has left, spread over the lookups to come."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cache.learning.bounds import Ledger

WINDOW = 1_000
"""How many of the last lookups stand for those to come."""

LEAST = 100
"""Lookups that must have been seen before any is served."""

HIGHEST = 0.1
HIGHEST_ERRORS = 5.0
"""The risk of one hit is never accepted above `HIGHEST`, or above so many times the error bound if that is more."""

_HORIZON = 150
_MARGIN = 0.98
_HASTE = 1.3


def plan(ledger: Ledger, recent: Sequence[float], max_error: float, inflation: float) -> float:
    """Return the highest risk with which lookups may be served.

    Args:
        ledger: What was served so far.
        recent: The risks of the last lookups, served or not.
        max_error: The largest share of lookups that may be served a wrong answer.
        inflation: How many wrong answers there may be for each that the judge finds.
    """
    if len(recent) < LEAST:
        return 0.0
    ahead = max(_HORIZON, ledger.lookups // 8)
    allowed = _MARGIN * max_error * (ledger.lookups + ahead)
    low, high = 0.0, _HASTE * max_error * ahead / (ledger.excess() * inflation)
    if ledger.upper(high, inflation) > allowed:
        for _ in range(20):
            middle = (low + high) / 2
            low, high = (low, middle) if ledger.upper(middle, inflation) > allowed else (middle, high)
    else:
        low = high
    share, ordered = low / ahead * len(recent), sorted(recent)
    served = sum(1 for spent in accumulate(ordered) if spent <= share)
    return min(max(HIGHEST, HIGHEST_ERRORS * max_error), ordered[served - 1]) if served else 0.0
