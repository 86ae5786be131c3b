"""How sure a share is that was counted."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

Z = 1.959963984540054
"""Standard deviations on each side of a 95 % interval."""


@dataclass(frozen=True, slots=True)
class Share:
    """A share with its 95 % interval.

    Attributes:
        value: What was counted, 0 where there was nothing to count.
        low: The lower end.
        high: The upper end.
    """

    value: float
    low: float
    high: float


def share(count: int, of: int) -> Share:
    """Return the share of `count` in `of` with its score interval (Wilson 1927); of nothing, all is possible."""
    if of == 0:
        return Share(0.0, 0.0, 1.0)
    value = count / of
    width = 1 + Z**2 / of
    middle = (value + Z**2 / (2 * of)) / width
    spread = Z * sqrt(value * (1 - value) / of + Z**2 / (4 * of**2)) / width
    return Share(
        value, 0.0 if count == 0 else max(0.0, middle - spread), 1.0 if count == of else min(1.0, middle + spread)
    )
