"""What another bound would have done to look-ups that are on record: hits and wrong hits by the risk accepted.

Each look-up left the risk of its best candidate and the probability with which a fresh answer was compared. A
comparison stands for all that could have been made, by the inverse of that probability, and for those that failed as
well (Hájek 1971), so the estimate needs no text and no second call. Its interval is the gamma interval of a weighted
count (Fay and Feuer 1997), which is honest where few were wrong: where none was, it leaves room for nearly four.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from math import sqrt
from typing import TYPE_CHECKING, Final

from cache.intervals import Share, Z, share

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

BOUNDS: Final = (0.0025, 0.005, 0.01, 0.02, 0.05, 0.1)
"""The bounds a curve is drawn for."""

_TINY: Final = 1e-12
_NOTHING: Final = Share(0.0, 0.0, 0.0)


@dataclass(frozen=True, slots=True)
class Seen:
    """One look-up on record.

    Attributes:
        risk: How probably its best candidate was wrong; 1 when there was none.
        checked: With what probability a fresh answer was to be compared; 1 when the model was asked anyway.
        wrong: How probably the candidate was wrong, by that comparison; None when nothing was compared, as for a hit.
    """

    risk: float
    checked: float
    wrong: float | None


@dataclass(frozen=True, slots=True)
class Point:
    """What a bound would have done.

    Attributes:
        max_error: The bound.
        risk: The highest risk that keeps it, at the upper end of the interval; 0 where none does.
        hit_rate: Share of look-ups that would have been served.
        error_rate: Share of look-ups that would have been served a wrong answer.
    """

    max_error: float
    risk: float
    hit_rate: Share
    error_rate: Share


def curve(seen: Sequence[Seen], bounds: Sequence[float] = BOUNDS) -> tuple[Point, ...]:
    """Draw hits against errors for each of several bounds.

    Risks are tried from the lowest on, up to the first that may break the bound. Errors only grow with the risk, so all
    of these looks together err as rarely as one does (a fixed sequence of tests: Maurer, Hothorn and Lehmacher 1995).

    Args:
        seen: Look-ups of one feature.
        bounds: Shares of look-ups that may be served a wrong answer.
    """
    steps = list(_steps(seen))
    return tuple(_point(bound, steps) for bound in sorted(bounds)) if seen else ()


def _point(bound: float, steps: Sequence[Point]) -> Point:
    kept = Point(bound, 0.0, _NOTHING, _NOTHING)
    for step in steps:
        if step.error_rate.high > bound:
            break
        kept = Point(bound, step.risk, step.hit_rate, step.error_rate)
    return kept


def _steps(seen: Sequence[Seen]) -> Iterator[Point]:
    """Say what each risk would have done, from the lowest on; each is a bound of its own."""
    of, count = len(seen), _Count()
    ordered = sorted((one for one in seen if one.risk < 1.0), key=lambda one: one.risk)
    for risk, alike in groupby(ordered, key=lambda one: one.risk):
        for one in alike:
            count.add(one)
        errors = count.error(of)
        yield Point(errors.high, risk, share(count.hits, of), errors)


class _Count:
    """Look-ups up to a risk, and what the comparisons among them stand for."""

    def __init__(self) -> None:
        self.hits = 0
        self._compared = self._wrong = self._squares = self._heaviest = 0.0

    def add(self, one: Seen) -> None:
        """Count one that would have been served."""
        weight = 1.0 / one.checked
        self.hits += 1
        self._heaviest = max(self._heaviest, weight)
        if one.wrong is not None:
            self._compared += weight
            self._wrong += weight * one.wrong
            self._squares += weight * weight * one.wrong

    def error(self, of: int) -> Share:
        """Return the share of `of` look-ups that would have been served a wrong answer."""
        most = self.hits / of
        if not self._compared:
            return Share(0.0, 0.0, most)
        scale = most / self._compared
        wrong, variance, heaviest = self._wrong * scale, self._squares * scale * scale, self._heaviest * scale
        low = _gamma(wrong, variance, -Z) if wrong > _TINY else 0.0
        high = _gamma(wrong + heaviest, variance + heaviest * heaviest, Z)
        return Share(wrong, min(low, wrong), min(most, max(high, wrong)))


def _gamma(mean: float, variance: float, z: float) -> float:
    """Return a quantile of a gamma distribution, `z` standard deviations off its middle (Wilson and Hilferty 1931)."""
    ninth = variance / (9.0 * mean * mean)
    return mean * max(0.0, 1.0 - ninth + z * sqrt(ninth)) ** 3
