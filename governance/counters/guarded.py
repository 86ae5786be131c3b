"""Counters over a home that may go away: what is done meanwhile, and how the account is made whole afterwards.

One failure is enough to call the home away. From then on no request waits for it: the policy's rule decides, and a task
of our own knocks until it answers. Before it is believed again it is told all that happened in its absence:

1. If it has forgotten everything, one process refills it from the ledger and every process restores its open holds.
2. What ended in its absence is settled, or booked where the home never heard of it, once.
3. Holds that were taken in its absence and are still open become its own.

Where it is uncertain whether an amount has been counted, it is counted: a budget may look fuller than it is, until its
window ends, but never emptier.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from typing import Final

import anyio

from governance.counters import CounterKey, Draw, Exhausted, Home, Level, Memory
from governance.counters.alone import Alone, OnAway, OpenHold, unknown
from governance.counters.untold import End, Untold, together
from governance.errors import StoreUnavailable, StoreUnfit

FIRST_KNOCK_S: Final = 0.05
LAST_KNOCK_S: Final = 0.5
_log = logging.getLogger(__name__)


class GuardedCounters:
    """`Counters` that never wait for a home that is away. Only a hold may fail, and then as the rule has it."""

    def __init__(self, home: Home, rule: OnAway) -> None:
        self._home = home
        self._rule: OnAway = rule
        self._away: str | None = "it has not been reached yet"
        self._alone = Alone(rule)
        self._mine: dict[str, OpenHold] = {}
        self._untold = Untold(home)
        self._forgotten = self._unseeded = self._refilling = False
        self._trouble, self._door, self._exit = asyncio.Event(), asyncio.Event(), asyncio.Event()
        self._door.set()
        self._exit.set()

    @property
    def away(self) -> str | None:
        """Why the home cannot be used; None when it can."""
        return self._away

    @property
    def refuses(self) -> bool:
        """Whether requests are refused because the home is away."""
        return self._away is not None and self._rule == "closed"

    def obey(self, rule: OnAway) -> None:
        """Follow another rule from now on while the home is away."""
        self._rule = rule
        self._alone.obey(rule)

    @asynccontextmanager
    async def watch(self, refill: Callable[[], Awaitable[None]]) -> AsyncGenerator[None]:
        """Look after the home for the length of the block, and close it afterwards.

        Args:
            refill: Writes what is queued for the ledger, then seeds these counters from it.

        Raises:
            StoreUnfit: The home answers, but cannot do this work.
        """
        try:
            await self._return(refill)
        except StoreUnfit:
            await self._home.close()
            raise
        except StoreUnavailable as error:
            self._lose(error)
        task = asyncio.create_task(self._knock(refill), name="counters")
        try:
            yield
        finally:
            task.cancel()
            await asyncio.wait({task})
            await self._home.close()

    async def hold(self, hold_id: str, draws: Sequence[Draw], expires_at: float) -> tuple[Level, ...] | Exhausted:
        """Draw on every counter, or on none; see `Counters.hold`. Levels are not firm while the home is away."""
        await self._door.wait()
        if self._away is None:
            try:
                taken = await self._home.hold(hold_id, draws, expires_at)
            except BaseException as error:
                self._untold.ends[hold_id] = End(tuple(draws), None, known=True)  # it may have been taken
                if not isinstance(error, StoreUnavailable):
                    raise
                self._lose(error)
            else:
                if not isinstance(taken, Exhausted):
                    self._mine[hold_id] = OpenHold(tuple(draws), expires_at)
                return taken
        taken = await self._alone.hold(hold_id, draws, expires_at, f"the counters are away: {self._away}")
        if not isinstance(taken, Exhausted):
            self._untold.ends.pop(hold_id, None)
        return taken

    async def redraw(self, hold_id: str, draws: Sequence[Draw]) -> tuple[Level, ...] | Exhausted | None:
        """Let an open hold draw this in place of what it draws; see `Counters.redraw`."""
        with anyio.CancelScope(shield=True):
            await self._door.wait()
            mine = self._mine.get(hold_id)
            if mine is not None and self._away is None:
                try:
                    return await self._redraw_at_home(hold_id, mine, draws)
                except StoreUnavailable as error:
                    self._lose(error)
            hold = mine or self._alone.open.get(hold_id)
            if hold is None:
                return None
            if self._away is None:
                raise StoreUnavailable("the home may or may not have redrawn it")
            taken = await self._alone.redraw(hold_id, hold, draws, f"the counters are away: {self._away}")
            if not isinstance(taken, Exhausted):
                self._mine.pop(hold_id, None)
            return taken

    async def _redraw_at_home(
        self, hold_id: str, mine: OpenHold, draws: Sequence[Draw]
    ) -> tuple[Level, ...] | Exhausted | None:
        try:
            taken = await self._home.redraw(hold_id, draws)
        except BaseException:
            self._alone.open[hold_id] = self._mine.pop(hold_id, mine)  # to be booked: what it draws there is in doubt
            raise
        if taken is not None and not isinstance(taken, Exhausted):
            self._mine[hold_id] = replace(mine, draws=tuple(draws))
        return taken

    async def settle(self, hold_id: str, actuals: Sequence[int]) -> tuple[Level, ...] | None:
        """End a hold at what was really used; see `Counters.settle`."""
        with anyio.CancelScope(shield=True):
            return await self._settle(hold_id, actuals)

    async def _settle(self, hold_id: str, actuals: Sequence[int]) -> tuple[Level, ...] | None:
        await self._exit.wait()
        if hold_id in self._alone.open:
            hold = await self._alone.end(hold_id, actuals)
            self._untold.ends[hold_id] = End(hold.draws, tuple(actuals), known=False)
            return unknown(hold.draws)
        hold = self._mine.get(hold_id)
        if self._away is None:
            try:
                levels = await self._home.settle(hold_id, actuals)
            except StoreUnavailable as error:
                self._lose(error)
            else:
                self._mine.pop(hold_id, None)
                return levels
        if hold is None:
            return None
        self._mine.pop(hold_id, None)
        self._untold.ends[hold_id] = End(hold.draws, tuple(actuals), known=True)
        return unknown(hold.draws)

    async def cancel(self, hold_id: str) -> bool:
        """End a hold as if it had never been; see `Counters.cancel`."""
        hold = self._alone.open.get(hold_id) or self._mine.get(hold_id)
        return hold is not None and await self.settle(hold_id, [0] * len(hold.draws)) is not None

    async def expire(self, now: float) -> tuple[str, ...]:
        """End every hold past its lease; see `Counters.expire`."""
        late = self._alone.late(now)
        for hold_id in late:
            await self.settle(hold_id, [draw.kept for draw in self._alone.open[hold_id].draws])
        if self._away is not None:
            return late
        try:
            expired = await self._home.expire(now)
            await self._untold.tell()
        except StoreUnavailable as error:
            self._lose(error)
            return late
        for hold_id in expired:
            self._mine.pop(hold_id, None)
        return (*late, *expired)

    async def seed(self, counter: CounterKey, settled: int) -> None:
        """Raise a counter's settled amount to at least this much; while the home is away, once it is back."""
        if self._away is None or self._refilling:
            await self._home.seed(counter, settled)
        else:
            self._unseeded = True

    async def read(self, counters: Sequence[CounterKey]) -> tuple[Level, ...]:
        """Read the levels of counters; see `Counters.read`. They are not firm while the home is away."""
        if self._away is None:
            try:
                return await self._home.read(counters)
            except StoreUnavailable as error:
                self._lose(error)
        return tuple(Level(firm=False) for _ in counters)

    def _lose(self, error: StoreUnavailable) -> None:
        if self._away is None:
            _log.warning("the counters are away: %s", error.reason)
        self._away = error.reason
        self._trouble.set()

    async def _knock(self, refill: Callable[[], Awaitable[None]]) -> None:
        wait_s = FIRST_KNOCK_S
        while True:
            await self._trouble.wait()
            await asyncio.sleep(wait_s)
            try:
                await self._return(refill)
            except Exception as error:  # noqa: BLE001  whatever it is, giving up would leave the home away for ever
                self._away = error.reason if isinstance(error, StoreUnavailable) else f"{type(error).__name__}: {error}"
                wait_s = min(2 * wait_s, LAST_KNOCK_S)
            else:
                wait_s = FIRST_KNOCK_S
                self._trouble.clear()
                _log.warning("the counters are back")

    async def _return(self, refill: Callable[[], Awaitable[None]]) -> None:
        """Bring the home up to date and believe it again, or raise `StoreUnavailable`; then nothing is lost."""
        memory = await self._home.reach()
        if memory is not Memory.SAME:
            self._forgotten = True
            self._untold.doubt()
        if memory is Memory.EMPTY:
            await self._begin_anew(refill)
        if self._forgotten:
            await self._restore(self._mine.items())
            self._forgotten = False
        await self._untold.tell()
        if self._unseeded:
            await self._refill(refill)
        if not await self._home.ready():
            raise StoreUnavailable("it was refilled, and every process is restoring its holds")
        await self._adopt()
        await self._untold.tell()
        await self._hand_over()

    async def _begin_anew(self, refill: Callable[[], Awaitable[None]]) -> None:
        """Refill a home that is empty. No hold ends meanwhile: what has ended is in the ledger, and only there."""
        self._exit.clear()
        try:
            in_ledger = tuple(self._untold.ends)
            await self._refill(refill)
            await self._home.remember()
            for hold_id in in_ledger:
                self._untold.ends.pop(hold_id, None)
        finally:
            self._exit.set()

    async def _hand_over(self) -> None:
        """Hand the rest over while new holds wait at the door, so that none is taken beside the account."""
        self._door.clear()
        try:
            while self._alone.open or self._untold.ends:
                await self._adopt()
                await self._untold.tell()
            self._alone, self._away = Alone(self._rule), None
        finally:
            self._door.set()

    async def _refill(self, refill: Callable[[], Awaitable[None]]) -> None:
        self._refilling = True
        try:
            await refill()
        finally:
            self._refilling = False
        self._unseeded = False

    async def _restore(self, holds: Iterable[tuple[str, OpenHold]]) -> None:
        await together(
            [partial(self._home.restore, hold_id, hold.draws, hold.expires_at) for hold_id, hold in tuple(holds)]
        )

    async def _adopt(self) -> None:
        """Make holds the home's own that were taken in its absence."""
        await together([partial(self._adopt_one, hold_id, hold) for hold_id, hold in tuple(self._alone.open.items())])

    async def _adopt_one(self, hold_id: str, hold: OpenHold) -> None:
        await self._home.restore(hold_id, hold.draws, hold.expires_at)
        if self._alone.open.get(hold_id) is hold:
            self._mine[hold_id] = self._alone.open.pop(hold_id)
        # else it has ended meanwhile, and booking it ends it at home as well; or it was redrawn, and comes again
