"""Shares of a count with their confidence intervals."""

from __future__ import annotations

from math import sqrt

import msgspec

_Z = 1.96


class Share(msgspec.Struct, frozen=True):
    """A share with Wilson's 95 % interval (1927).

    Attributes:
        value: The share; 0 of nothing is 0.
        low: The lower end.
        high: The upper end.
    """

    value: float
    low: float
    high: float


def share(events: int, trials: int) -> Share:
    """Return how many of `trials` were `events`; of none at all, anything between 0 and 1."""
    if not trials:
        return Share(0.0, 0.0, 1.0)
    part, square = events / trials, _Z * _Z / trials
    middle = (part + square / 2) / (1 + square)
    half = sqrt(part * (1 - part) * square + square * square / 4) / (1 + square)
    return Share(part, max(0.0, min(part, middle - half)), min(1.0, max(part, middle + half)))


class Tally(msgspec.Struct):
    """What one cache did over some lookups.

    Attributes:
        lookups: Lookups.
        hits: Answers served.
        wrong: Served answers of another class than the question's.
    """

    lookups: int = 0
    hits: int = 0
    wrong: int = 0

    def count(self, *, hit: bool, wrong: bool) -> None:
        """Count one lookup."""
        self.lookups += 1
        self.hits += hit
        self.wrong += wrong


class Rates(msgspec.Struct, frozen=True):
    """The three figures of a cache.

    Attributes:
        lookups: Lookups.
        hit_rate: Hits per lookup.
        error_rate: Wrong hits per lookup: what `max_error` bounds.
        precision: Right hits per hit.
    """

    lookups: int
    hit_rate: Share
    error_rate: Share
    precision: Share


def rates(tally: Tally) -> Rates:
    """Turn counts into shares."""
    return Rates(
        tally.lookups,
        share(tally.hits, tally.lookups),
        share(tally.wrong, tally.lookups),
        share(tally.hits - tally.wrong, tally.hits),
    )
