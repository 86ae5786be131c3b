"""What a cache did over some look-ups, as counts and as shares."""

from __future__ import annotations

import msgspec

from cache.intervals import Share, share


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
