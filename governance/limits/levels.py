"""Where counters stood when this process last heard of them, so that a hold is the only question a request asks."""

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from typing import Final

from governance.counters import CounterKey, Counters, Level
from governance.limits.plans import Shown

MOST: Final = 4_096


class SeenLevels:
    """Levels as of the last hold, settlement or reading, and a reading where that is too long ago.

    Budget steps follow the level before a hold. Asking for it would be a second trip to the counters of every request;
    but each hold and settlement tells it anyway. Only steps use this: no limit is ever decided by an old level.
    """

    def __init__(self, counters: Counters, fresh_s: float) -> None:
        """Remember for as long as `fresh_s` seconds; 0 asks each time, which in this process's memory is free."""
        self._counters = counters
        self._fresh_s = fresh_s
        self._seen: OrderedDict[CounterKey, tuple[float, Level]] = OrderedDict()

    def note(self, shown: Iterable[Shown], levels: Sequence[Level], now: float) -> None:
        """Remember where the budgets of a plan stand, from what its counters have just told."""
        if self._fresh_s > 0:
            self._remember(((each.counter, levels[each.place]) for each in shown), now)

    def _remember(self, told: Iterable[tuple[CounterKey, Level]], now: float) -> None:
        for counter, level in told:
            self._seen[counter] = (now, level)
            self._seen.move_to_end(counter)
        while len(self._seen) > MOST:
            self._seen.popitem(last=False)

    async def levels(self, counters: Sequence[CounterKey], now: float) -> tuple[Level, ...]:
        """Return levels that are no older than they may be.

        Raises:
            StoreUnavailable: The counters do not answer.
        """
        if self._fresh_s <= 0:
            return await self._counters.read(counters)
        known = [self._seen.get(counter) for counter in counters]
        fresh = [entry[1] for entry in known if entry is not None and 0 <= now - entry[0] <= self._fresh_s]
        if len(fresh) == len(counters):
            return tuple(fresh)
        levels = await self._counters.read(counters)
        self._remember(zip(counters, levels, strict=True), now)
        return levels
