"""Which marks pay: where a provider is asked to keep the start of a prompt, for how long, and where it is not.

What is written costs more than fresh input once, and every read of it costs less. Each read renews what is kept, so
with a chance of coming again in time each time, a write is read chance / (1 - chance) times. A mark is placed if and
only if

    expected reads x (fresh - read)  >  write - fresh

at the model's own rates. What a provider keeps already is always marked: it is read, and nothing is written. A mark
before one that pays costs nothing either, as the same tokens are written once, and it is what the next conversation
reads.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from cache.prefix.reuse import HOUR_S, MINUTES_S

MOST_MARKS: Final = 4
"""The most of a request, the client's own included: a provider refuses more."""


@dataclass(frozen=True, slots=True)
class Rates:
    """What a model's tokens cost in one unit, whatever it is; `write_hour` is None where nothing is kept so long."""

    fresh: int
    read: int
    write: int
    write_hour: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Spot:
    """A place where a mark may stand.

    Attributes:
        tokens: those of the prefix that ends there.
        kept_s: for how long the provider was asked to keep it, if it still does; else 0.
        chance: how likely it comes again within 5 minutes.
        chance_hour: how likely within an hour.
        rank: who goes first where there are not marks for all; the lowest does.
    """

    tokens: int
    kept_s: int
    chance: float
    chance_hour: float
    rank: int = 0


def lifetime(spot: Spot, rates: Rates) -> int:
    """Return for how many seconds it pays to have a prefix kept; 0 where it does not.

    In a steady stream a request reads the prefix with the chance that it came in time, and writes it otherwise. The
    cheaper of the two lifetimes is chosen, the shorter one of equals.
    """
    best, cheapest = 0, float(rates.fresh)
    offers = [(MINUTES_S, spot.chance, rates.write)]
    if rates.write_hour is not None:
        offers.append((HOUR_S, spot.chance_hour, rates.write_hour))
    for seconds, chance, write in offers:
        expected = chance * rates.read + (1 - chance) * write
        if expected < cheapest:
            best, cheapest = seconds, expected
    return best


def placed(spots: Sequence[Spot], rates: Rates, *, slots: int, least_tokens: int) -> dict[int, int]:
    """Choose the spots to mark.

    Args:
        spots: The places from the start of the prompt on.
        rates: The model's.
        slots: How many marks there is room for.
        least_tokens: Shorter prefixes are not kept.

    Returns:
        The seconds to keep each chosen spot for, by its place in `spots`: at most `slots` of them, and none longer than
        one before it, as providers demand.
    """
    wanted = [spot.kept_s or lifetime(spot, rates) if spot.tokens >= least_tokens else 0 for spot in spots]
    deepest = 0
    for place in reversed(range(len(spots))):
        deepest = max(deepest, wanted[place])
        if deepest and not wanted[place] and spots[place].tokens >= least_tokens:
            wanted[place] = deepest
    chosen = sorted((place for place, seconds in enumerate(wanted) if seconds), key=lambda place: spots[place].rank)
    marks: dict[int, int] = {}
    most = HOUR_S
    for place in sorted(chosen[: max(0, slots)]):
        most = marks[place] = min(most, wanted[place])
    return marks
