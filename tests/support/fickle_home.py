"""A home of the counters that goes away, loses answers and forgets when a test says so."""

from collections.abc import Sequence
from typing import TypeVar

from governance.counters import CounterKey, Draw, Exhausted, Level, Memory
from governance.counters.memory import MemoryCounters
from governance.errors import StoreUnavailable

AnswerT = TypeVar("AnswerT")
_NO_LIMIT = 2**63 - 1


class FickleHome:
    """The `Home` of guarded counters, in memory.

    Attributes:
        away: every call fails, and changes nothing.
        deaf: every call does its work, and then fails: its answer was lost.
        asked: how many calls have reached for it.
    """

    def __init__(self) -> None:
        self.counters = MemoryCounters()
        self.away = self.deaf = self.closed = False
        self.forming = False
        self.memory = Memory.EMPTY
        self.booked: set[str] = set()
        self.asked = 0

    def forget(self, memory: Memory = Memory.EMPTY) -> None:
        """Lose everything; `ANOTHER` means that somebody else has refilled it since."""
        self.counters, self.memory, self.booked = MemoryCounters(), memory, set()

    async def hold(self, hold_id: str, draws: Sequence[Draw], expires_at: float) -> tuple[Level, ...] | Exhausted:
        self._reached(needs_memory=True)
        return self._answered(await self.counters.hold(hold_id, draws, expires_at))

    async def redraw(self, hold_id: str, draws: Sequence[Draw]) -> tuple[Level, ...] | Exhausted | None:
        self._reached(needs_memory=True)
        return self._answered(await self.counters.redraw(hold_id, draws))

    async def settle(self, hold_id: str, actuals: Sequence[int]) -> tuple[Level, ...] | None:
        self._reached(needs_memory=True)
        return self._answered(await self.counters.settle(hold_id, actuals))

    async def cancel(self, hold_id: str) -> bool:
        self._reached(needs_memory=True)
        return self._answered(await self.counters.cancel(hold_id))

    async def expire(self, now: float) -> tuple[str, ...]:
        self._reached(needs_memory=True)
        return self._answered(await self.counters.expire(now))

    async def seed(self, counter: CounterKey, settled: int) -> None:
        self._reached()
        self._answered(await self.counters.seed(counter, settled))

    async def read(self, counters: Sequence[CounterKey]) -> tuple[Level, ...]:
        self._reached(needs_memory=True)
        return self._answered(await self.counters.read(counters))

    async def reach(self) -> Memory:
        self._reached()
        found = self.memory
        if found is Memory.ANOTHER:
            self.memory = Memory.SAME
        return found

    async def remember(self) -> None:
        self._reached()
        self.memory = Memory.SAME

    async def restore(self, hold_id: str, draws: Sequence[Draw], expires_at: float) -> None:
        self._reached()
        unlimited = [Draw(draw.counter, draw.amount, _NO_LIMIT) for draw in draws]
        await self.counters.cancel(hold_id)
        self._answered(await self.counters.hold(hold_id, unlimited, expires_at))

    async def book(self, hold_id: str, draws: Sequence[Draw], actuals: Sequence[int]) -> None:
        self._reached()
        if hold_id not in self.booked:
            self.booked.add(hold_id)
            await self.restore(hold_id, [Draw(draw.counter, 0, 0) for draw in draws], 0)
            await self.counters.settle(hold_id, actuals)
        self._answered(None)

    async def ready(self) -> bool:
        self._reached()
        return not self.forming

    async def close(self) -> None:
        self.closed = True

    def _reached(self, *, needs_memory: bool = False) -> None:
        self.asked += 1
        if self.away or (needs_memory and self.memory is not Memory.SAME):
            raise StoreUnavailable("it is away")

    def _answered(self, answer: AnswerT) -> AnswerT:
        if self.deaf:
            raise StoreUnavailable("its answer was lost")
        return answer
