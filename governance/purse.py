"""The purse: the only way money is spent.

A request holds its worst case before the first byte goes upstream, and the hold ends exactly once: settled at the real
cost, cancelled when nothing was spent, or expired with its lease at what it held. Whichever comes first writes the one
terminal event of the request; all later endings find the hold closed and change nothing.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final, Self
from zoneinfo import ZoneInfo

import anyio

from governance.counters import Counters, Draw, Exhausted, Level, Unit
from governance.database import Database
from governance.ledger.events import EventKind, LedgerEvent, Opening, Settlement
from governance.ledger.recovery import expire_orphans, spent
from governance.limits import (
    Budget,
    Rate,
    RateStanding,
    Standing,
    WorstCase,
    check_each,
    draws_of,
    rate_standing_of,
    refusal_of,
    spend_counter,
    standing_of,
)
from governance.money import ZERO
from governance.till import Ledger, Till
from governance.windows import Calendar

LONGEST_LEASE: Final = timedelta(hours=25)
"""No hold is open for longer: an older one without an end has no living process."""

UNHELD: Final = "unheld"
"""What is added to the route of a request that was served while the counters were away."""


class Purse:
    """Opens, counts and ends holds, and tells where budgets stand.

    `clock` gives seconds since the epoch. It only measures how long requests took: windows and leases follow the
    instants the caller gives.
    """

    def __init__(self, counters: Counters, ledger: Ledger, clock: Callable[[], float]) -> None:
        self._till = Till(counters, ledger, clock)
        self._calendar = Calendar()

    @property
    def open_holds(self) -> int:
        """How many requests hold money now."""
        return len(self._till.open)

    def hold(
        self,
        opening: Opening,
        budgets: Sequence[Budget],
        rates: Sequence[Rate],
        worst: WorstCase,
        *,
        tz: ZoneInfo,
        lease_s: float,
    ) -> "Hold":
        """Hold the worst case of a request for the length of an `async with` block.

        What keeps the request out is raised here or on entering the block. Nothing is written then, so the caller
        records it with `refused`. Leaving the block without having settled cancels the hold.

        Args:
            opening: What is known of the request.
            budgets: Every budget that applies to it.
            rates: Every rate that applies to it.
            worst: The most it can cost and use.
            tz: The zone whose calendar the budgets follow.
            lease_s: Seconds from the opening after which the hold expires, if nothing ends it before.

        Raises:
            BudgetExhausted: A budget cannot cover the worst case, in its window or for a single request.
            RateLimited: A rate is used up, or the request alone is over it.
            LedgerBehind: The ledger takes no new requests.
            StoreUnavailable: The counters do not answer.
        """
        check_each(budgets, worst)
        draws = draws_of(budgets, rates, worst, opening.at, tz, self._calendar)
        return Hold(self._till, opening, worst, draws, lease_s)

    def free(self, opening: Opening, settlement: Settlement) -> None:
        """Record a request that was answered without a hold, such as a cache hit.

        Raises:
            LedgerBehind: The ledger takes no new requests.
        """
        self._till.ledger.admit()
        self._till.attempts(opening, settlement)
        self._till.settle(opening, ZERO, settlement)

    def refused(self, opening: Opening, code: str, status: int) -> None:
        """Record a request that was turned away; a ledger that is behind only counts it."""
        self._till.end(EventKind.REFUSED, opening, code=code, status=status)

    async def standing(self, budgets: Sequence[Budget], at: datetime, tz: ZoneInfo) -> tuple[Standing, ...]:
        """Tell where budgets stand in their windows at an instant."""
        counters = [spend_counter(budget, at, tz, self._calendar) for budget in budgets]
        levels = await self._till.counters.read(counters)
        rows = zip(budgets, counters, levels, strict=True)
        standings = (standing_of(counter, budget.limit.nanos, level) for budget, counter, level in rows)
        return tuple(standing for standing in standings if standing is not None)

    async def expire(self, now: float) -> int:
        """End every hold whose lease is over at what it held, and count them; call it about once a second."""
        expired = await self._till.counters.expire(now)
        self._till.foreign |= {hold_id for hold_id in expired if not self._till.expire(hold_id)}
        return len(expired)

    async def seed(self, database: Database, budgets: Sequence[Budget], at: datetime, tz: ZoneInfo) -> None:
        """Teach the counters what the ledger says has been spent in each budget's window; safe to repeat.

        Call it when budgets appear, at the start or with a new policy.
        """
        for counter in {spend_counter(budget, at, tz, self._calendar) for budget in budgets}:
            if counter.window is not None:
                total = await spent(database, counter.scope, counter.window)
                await self._till.counters.seed(counter, total.nanos)

    async def bury(self, database: Database) -> int:
        """Write the end of requests whose lease is over and whose process may be dead; call it after `expire`.

        A process that lives writes the same end itself, and the ledger keeps one of the two.

        Returns:
            How many had no end yet.
        """
        foreign = frozenset(self._till.foreign)
        buried = await expire_orphans(database, among=foreign) if foreign else 0
        self._till.foreign -= foreign
        return buried

    async def rebuild(
        self, database: Database, budgets: Sequence[Budget], at: datetime, tz: ZoneInfo, *, sole: bool = True
    ) -> int:
        """Start where a dead process stopped: expire its open holds at what they held, then seed the counters.

        Call it before the first hold. `sole` tells that no other process writes this ledger; where one may, only holds
        past the longest lease are taken for dead, and the counters' own leases end the others.

        Returns:
            How many holds it found open.
        """
        orphans = await expire_orphans(database, opened_before=None if sole else at - LONGEST_LEASE)
        await self.seed(database, budgets, at, tz)
        return orphans


class Hold:
    """Money kept for one request while it runs. Made by `Purse.hold`."""

    def __init__(self, till: Till, opening: Opening, worst: WorstCase, draws: tuple[Draw, ...], lease_s: float) -> None:
        self.opening = opening
        self.worst = worst
        self._till = till
        self._draws = draws
        self._levels: tuple[Level, ...] = ()
        self._expires_at = opening.at.timestamp() + lease_s
        self._ended = False

    async def __aenter__(self) -> Self:
        self._till.ledger.admit()
        levels = await self._till.counters.hold(self.opening.request_id, self._draws, self._expires_at)
        if isinstance(levels, Exhausted):
            raise refusal_of(levels, self.opening.at)
        self._levels = levels
        if not all(level.firm for level in levels):
            self.opening = replace(self.opening, route=f"{self.opening.route};{UNHELD}")
        self._till.open[self.opening.request_id] = self
        self._till.ledger.append(LedgerEvent(kind=EventKind.HELD, opening=self.opening, held=self.worst.cost))
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._ended:
            return
        self._ended = True
        with anyio.CancelScope(shield=True):
            if await self._till.counters.cancel(self.opening.request_id):
                del self._till.open[self.opening.request_id]
                self._till.end(EventKind.CANCELLED, self.opening, held=self.worst.cost)
            else:
                self._till.expire(self.opening.request_id)

    async def settle(self, settlement: Settlement) -> None:
        """End the hold at the real cost; a second call changes nothing.

        A hold that has expired stays expired, at what it held. Its attempts are recorded in any case, because they
        were made.

        Raises:
            StoreUnavailable: The counters do not answer. The hold then ends with its lease.
        """
        if self._ended:
            return
        self._ended = True
        self._till.attempts(self.opening, settlement)
        with anyio.CancelScope(shield=True):
            levels = await self._till.counters.settle(self.opening.request_id, _actuals(self._draws, settlement))
            if levels is not None:
                self._levels = levels
                del self._till.open[self.opening.request_id]
                self._till.settle(self.opening, self.worst.cost, settlement)
            else:
                self._till.expire(self.opening.request_id)

    @property
    def tightest(self) -> Standing | None:
        """The budget with the least left, as of the last change of this hold; None when no budget applies."""
        rows = zip(self._draws, self._levels, strict=True)
        standings = (standing_of(draw.counter, draw.limit, level) for draw, level in rows)
        return min((s for s in standings if s is not None), key=lambda s: s.remaining, default=None)

    @property
    def rates(self) -> tuple[RateStanding, ...]:
        """The tightest per-minute limit of each unit, requests before tokens."""
        tightest: dict[str, RateStanding] = {}
        for draw, level in zip(self._draws, self._levels, strict=True):
            rate = rate_standing_of(draw.counter, draw.limit, level)
            if rate is not None and (rate.unit not in tightest or rate.remaining < tightest[rate.unit].remaining):
                tightest[rate.unit] = rate
        return tuple(tightest[unit] for unit in ("requests", "tokens") if unit in tightest)


def _actuals(draws: Sequence[Draw], settlement: Settlement) -> list[int]:
    used = {
        Unit.SPEND: settlement.cost.nanos,
        Unit.TOKENS: 0 if settlement.usage is None else settlement.usage.total,
        Unit.REQUESTS: 1,
        Unit.CONCURRENT: 0,
    }
    return [used[draw.counter.unit] for draw in draws]
