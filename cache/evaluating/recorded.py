"""What another bound would have done to look-ups that are on record: hits and wrong hits by the risk accepted.

Each look-up left the risk of its best candidate and the probability with which the answer was checked. An outcome that
was checked stands for all that could have been, by the inverse of that probability (Horvitz and Thompson 1952), so the
estimate needs no text and no second call; its 95 % interval is that of a bootstrap over look-ups (Efron 1979).
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from math import ceil, floor
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence
    from random import Random

BOUNDS: Final = (0.0025, 0.005, 0.01, 0.02, 0.05, 0.1)
"""The bounds a curve is drawn for."""

_RESAMPLES: Final = 200
_MOST: Final = 4_000
"""Look-ups that a bootstrap draws from; of more, the newest."""


@dataclass(frozen=True, slots=True)
class Seen:
    """One look-up on record.

    Attributes:
        risk: How probably its best candidate was wrong; 1 when there was none.
        checked: With what probability a fresh answer was compared; 1 when the model was asked anyway.
        wrong: How probably the candidate was wrong, by that comparison; None when there was none.
    """

    risk: float
    checked: float
    wrong: float | None


@dataclass(frozen=True, slots=True)
class Share:
    """A share with its 95 % interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Point:
    """What a bound would have done.

    Attributes:
        max_error: The bound.
        risk: The highest risk that keeps it, at the upper end of the interval.
        hit_rate: Share of look-ups that would have been served.
        error_rate: Share of look-ups that would have been served a wrong answer.
    """

    max_error: float
    risk: float
    hit_rate: Share
    error_rate: Share


def curve(seen: Sequence[Seen], chance: Random, bounds: Sequence[float] = BOUNDS) -> tuple[Point, ...]:
    """Draw hits against errors for each of several bounds.

    Args:
        seen: Look-ups of one feature, in order.
        chance: For the bootstrap.
        bounds: Shares of look-ups that may be served a wrong answer.
    """
    newest = list(seen[-_MOST:])
    if not newest:
        return ()
    resampled = [_Table(chance.choices(newest, k=len(newest))) for _ in range(_RESAMPLES)]
    here = _Table(newest)
    risks = sorted({one.risk for one in newest if one.risk < 1.0})
    return tuple(_point(bound, risks, here, resampled) for bound in sorted(bounds))


class _Table:
    """Hits and wrong hits of a list of look-ups, as shares of them, up to each risk."""

    def __init__(self, seen: Sequence[Seen]) -> None:
        ordered = sorted(seen, key=lambda one: one.risk)
        self.risks, self.hits, self.wrong, self.checks = [0.0], [0.0], [0.0], [0]
        hits = wrong = 0.0
        for one in ordered:
            if one.risk < 1.0:
                hits += 1
                wrong += 0.0 if one.wrong is None else one.wrong / one.checked
            self.checks.append(self.checks[-1] + (one.wrong is not None))
            self.risks.append(one.risk)
            self.hits.append(hits / len(seen))
            self.wrong.append(wrong / len(seen))

    def checked(self, risk: float) -> int:
        """Count the look-ups up to a risk whose outcome was checked."""
        return self.checks[bisect_right(self.risks, risk) - 1]


def _at(table: _Table, risk: float) -> tuple[float, float]:
    place = bisect_right(table.risks, risk) - 1
    return table.hits[place], table.wrong[place]


def _share(value: float, others: list[float]) -> Share:
    others.sort()
    low, high = others[floor(0.025 * len(others))], others[min(len(others) - 1, ceil(0.975 * len(others)))]
    return Share(value, min(low, value), max(high, value))


def _point(bound: float, risks: Sequence[float], here: _Table, resampled: Sequence[_Table]) -> Point:
    """Find the highest risk whose error keeps the bound at the upper end of its interval; errors only grow with it."""
    low, high = 0, len(risks)
    while low < high:
        middle = (low + high + 1) // 2
        if _errors(risks[middle - 1], here, resampled).high <= bound:
            low = middle
        else:
            high = middle - 1
    risk = risks[low - 1] if low else 0.0
    hits = [_at(table, risk)[0] for table in resampled]
    return Point(bound, risk, _share(_at(here, risk)[0], hits), _errors(risk, here, resampled))


def _errors(risk: float, here: _Table, resampled: Sequence[_Table]) -> Share:
    """Estimate the wrong hits up to a risk; where none was seen, three are possible (Hanley and Lippman-Hand 1983)."""
    if not _at(here, risk)[1]:
        return Share(0.0, 0.0, min(1.0, 3.0 * _at(here, risk)[0] / max(1.0, here.checked(risk))))
    return _share(_at(here, risk)[1], [_at(table, risk)[1] for table in resampled])
