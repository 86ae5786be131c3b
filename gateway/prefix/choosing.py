"""Which marks a request should have at a provider that wants marks: its candidates, at the prices of its model."""

from collections.abc import Mapping
from typing import Any

from cache.prefix.memory import PrefixMemory
from cache.prefix.placing import MOST_MARKS, Rates, Spot, placed
from cache.prefix.reuse import HOUR_S, MINUTES_S, Kind, Stream
from gateway.prefix.families import Family
from gateway.prefix.marks import markable
from gateway.prefix.outlines import End, Outline
from governance.prices import Price


def chosen(
    body: Mapping[str, Any],
    outline: Outline,
    family: Family,
    *,
    memory: PrefixMemory,
    place: str,
    whose: tuple[str, str],
    price: Price,
    tokens: int,
    hour: bool,
    now: float,
) -> dict[End, int]:
    """Return where to put marks, and for how many seconds to ask at each.

    Where the client has a mark for an hour none is put: one for minutes may not stand before it.

    Args:
        body: the chat.
        outline: its prefixes.
        family: what the provider keeps.
        memory: knows what it keeps now, and what comes again.
        place: the deployment.
        whose: tenant and feature.
        price: what the model costs.
        tokens: of the whole prompt, probably.
        hour: an hour may be asked for.
        now: seconds.
    """
    if outline.hours:
        return {}
    before = [end for end in outline.turns[:-1] if memory.kept(place, end.digest, now) is not None]
    # First the turn to be answered, then what every conversation shares, then what this one has kept so far.
    wanted: list[tuple[End | None, Kind, int]] = [
        (outline.tools if family.tools else None, "tools", 3),
        (outline.system, "system", 1),
        (before[-1] if before else None, "conversation", 2),
        (None if outline.automatic else outline.latest, outline.kind, 0),
    ]
    candidates: list[tuple[End, Kind, int]] = [
        (end, kind, rank) for end, kind, rank in wanted if end is not None and markable(body, end)
    ]

    def spot(end: End, kind: Kind, rank: int) -> Spot:
        kept, stream = memory.kept(place, end.digest, now), Stream(*whose, kind)
        return Spot(
            tokens=end.size * tokens // outline.size,
            kept_s=0 if kept is None else kept.seconds,
            chance=memory.reuse.chance(stream, MINUTES_S),
            chance_hour=memory.reuse.chance(stream, HOUR_S),
            rank=rank,
        )

    rates = _rates(price.for_prompt(tokens), hour=hour and family.hour and not outline.marks)
    slots = MOST_MARKS - outline.marks
    marks = placed([spot(*one) for one in candidates], rates, slots=slots, least_tokens=family.least_tokens)
    return {candidates[at][0]: seconds for at, seconds in marks.items()}


def _rates(price: Price, *, hour: bool) -> Rates:
    """Return what a price says of a cache; a write without a rate is taken to cost 5/4 of fresh input, as most do.

    It is booked as fresh input, but nobody gives writes away, and a mark should not be put as if somebody did.
    """
    fresh = price.rate("fresh_input").nanos
    return Rates(
        fresh=fresh,
        read=price.rate("cache_read").nanos,
        write=fresh * 5 // 4 if price.cache_write is None else price.cache_write.nanos,
        write_hour=price.rate("cache_write_1h").nanos if hour else None,
    )
