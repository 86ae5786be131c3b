"""Count the trips to a store: every operation of a home that several processes share is one."""

from collections.abc import Sequence

from governance.counters import CounterKey, Counters, Draw, Exhausted, Level


class Trips:
    """The `Counters` it is given, and how often they were asked."""

    def __init__(self, counters: Counters) -> None:
        self._counters = counters
        self.count = 0

    async def hold(self, hold_id: str, draws: Sequence[Draw], expires_at: float) -> tuple[Level, ...] | Exhausted:
        """Draw on every counter, or on none; see `Counters.hold`."""
        self.count += 1
        return await self._counters.hold(hold_id, draws, expires_at)

    async def redraw(self, hold_id: str, draws: Sequence[Draw]) -> tuple[Level, ...] | Exhausted | None:
        """Let an open hold draw something else; see `Counters.redraw`."""
        self.count += 1
        return await self._counters.redraw(hold_id, draws)

    async def settle(self, hold_id: str, actuals: Sequence[int]) -> tuple[Level, ...] | None:
        """End a hold at what was really used; see `Counters.settle`."""
        self.count += 1
        return await self._counters.settle(hold_id, actuals)

    async def cancel(self, hold_id: str) -> bool:
        """End a hold as if it had never been; see `Counters.cancel`."""
        self.count += 1
        return await self._counters.cancel(hold_id)

    async def expire(self, now: float) -> tuple[str, ...]:
        """End every hold past its lease; see `Counters.expire`."""
        self.count += 1
        return await self._counters.expire(now)

    async def seed(self, counter: CounterKey, settled: int) -> None:
        """Raise a counter's settled amount; see `Counters.seed`."""
        self.count += 1
        await self._counters.seed(counter, settled)

    async def read(self, counters: Sequence[CounterKey]) -> tuple[Level, ...]:
        """Read the levels of counters; see `Counters.read`."""
        self.count += 1
        return await self._counters.read(counters)
