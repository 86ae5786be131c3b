"""How often a would-be hit is given up to learn from: always at first, ever less as outcomes confirm, never never."""

from __future__ import annotations

from math import sqrt

from cache.learning.bounds import LEAST_EXPLORED

FIRST = 25
"""Would-be hits that are all explored before the first is served, and again after answers changed."""

_HALF = 20.0


def explore_rate(audited: int, would_be: int, risk: float, threshold: float, judged: float) -> float:
    """Return the probability with which to explore a would-be hit.

    Risky hits are explored more often than safe ones, in proportion to the standard deviation of their outcome, which
    is how a fixed number of audits tells most (Neyman 1934).

    Args:
        audited: Would-be hits audited since learning began, or began anew.
        would_be: Would-be hits since then.
        risk: How risky this one is.
        threshold: The highest risk that is acceptable.
        judged: How often its group was judged as an answer before.
    """
    if audited < FIRST:
        return 1.0
    level = _HALF / (_HALF + would_be) + LEAST_EXPLORED
    spread = min(1.5, 0.3 + sqrt(risk / max(threshold, 1e-9)))
    return min(1.0, max(LEAST_EXPLORED, level * spread * (0.5 + 2.0 / (1.0 + judged))))
