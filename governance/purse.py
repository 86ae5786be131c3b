"""The purse: the only way money is spent.

A request holds its worst case before the first byte goes upstream, and before each further attempt what those before
it came to and the worst case of that one. The hold ends exactly once: settled at the real
cost, cancelled when nothing was spent, or expired with its lease at what it held. Whichever comes first writes the one
terminal event of the request; all later endings find the hold closed and change nothing. `holds.py` is what happens
between.
"""

from collections.abc import Callable, Collection, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from governance.counters import CounterKey, Counters, Exhausted
from governance.database import Database
from governance.holds import Hold, Ledger, Till
from governance.ledger.events import Attempt, EventKind, Opening, Settlement
from governance.ledger.reading.spending import spent_by_counter
from governance.ledger.recovery import expire_orphans
from governance.limits import Budget, Rate, Standing, WorstCase
from governance.limits.draws import Amounts, Line, check_each, drawn, refusal_of, spend_counters
from governance.limits.levels import SeenLevels
from governance.limits.loops import Repeats
from governance.limits.plans import Plans
from governance.limits.standings import standing_of
from governance.limits.steps import RELAXED, Pressure, pressure
from governance.money import ZERO, Nanodollars
from governance.windows import Calendar

GRACE: Final = timedelta(seconds=30)
"""How long after a lease its process may take to write the end; a hold without one then has no living process."""

_COUNTING_S = 5.0
"""How long a repetition may be on its way to being counted."""

_A_REPETITION = Amounts.held(WorstCase(ZERO, 0))


class Purse:
    """Opens, counts and ends holds, and tells where budgets stand.

    `clock` gives seconds since the epoch. It only measures how long requests took: windows and leases follow the
    instants the caller gives. `levels_for_s` is how old a level may be that budget steps follow; counters in another
    process are asked less often for it.
    """

    def __init__(
        self, counters: Counters, ledger: Ledger, clock: Callable[[], float], *, levels_for_s: float = 0.0
    ) -> None:
        self._till = Till(counters, ledger, clock, SeenLevels(counters, levels_for_s))
        self._calendar = Calendar()
        self._swept = datetime.min.replace(tzinfo=UTC)
        self._plans = Plans(self._calendar)

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
        repeats: Sequence[Repeats] = (),
    ) -> Hold:
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
            repeats: What it is counted on as a repetition.

        Raises:
            BudgetExhausted: A budget cannot cover the worst case, in its window or for a single request.
            RateLimited: A rate is used up, or the request alone is over it.
            LoopDetected: It has been repeated too often.
            LedgerBehind: The ledger takes no new requests.
            StoreUnavailable: The counters do not answer.
        """
        check_each(budgets, worst)
        plan = self._plans.of_budgets(tuple(budgets), opening.at, tz)
        traffic = self._plans.of_rates(tuple(rates), opening.at, tz).lines
        if repeats:
            traffic += self._repeats(repeats, opening.at, tz)
        return Hold(self._till, opening, worst, plan, traffic, lease_s)

    async def hold_again(
        self,
        hold: Hold,
        opening: Opening,
        budgets: Sequence[Budget],
        worst: WorstCase,
        attempts: Sequence[Attempt],
        *,
        tz: ZoneInfo,
    ) -> None:
        """Let a request make another attempt: hold its worst case beside what those before it came to.

        The step is one: the request is counted once by its rates, and at no moment holds less than it may spend. It is
        then under the budgets of this attempt alone, and all that it costs counts for its model. Whatever is raised
        leaves the hold as it was, to be settled at what the attempts came to.

        Args:
            hold: The request's, which is open.
            opening: What is known of the request, with the plan of this attempt.
            budgets: Every budget that applies to it.
            worst: The most that this attempt can cost and use.
            attempts: Every attempt made so far. Those that the ledger has not been told of, it is told of now.
            tz: The zone whose calendar the budgets follow.

        Raises:
            BudgetExhausted: A budget cannot cover all attempts together, in its window or for a single request.
            RateLimited: A rate is used up.
            LedgerBehind: Nothing more may be spent until the ledger can be written.
            StoreUnavailable: The counters do not answer, or the hold has ended with its lease.
        """
        plan = self._plans.of_budgets(tuple(budgets), opening.at, tz)
        await hold.again(opening, worst, plan, attempts)

    async def pressure(self, budgets: Sequence[Budget], at: datetime, tz: ZoneInfo) -> Pressure:
        """Tell what budgets ask of a request before it holds anything.

        Raises:
            StoreUnavailable: The counters do not answer.
        """
        felt = self._plans.of_budgets(tuple(budgets), at, tz).felt
        if not felt:
            return RELAXED
        levels = await self._till.seen.levels([each.counter for each in felt], self._till.clock())
        rows = zip(felt, levels, strict=True)
        reached = [(each.budget, level) for each, level in rows if (level.settled + level.held) * 100 >= each.least]
        return pressure(reached) if reached else RELAXED

    async def repeat(self, opening: Opening, repeats: Sequence[Repeats], tz: ZoneInfo) -> None:
        """Count a request as a repetition that needs no hold, such as one that a cache answers.

        Raises:
            LoopDetected: It has been repeated too often.
            StoreUnavailable: The counters do not answer.
        """
        if repeats:
            draws = drawn(self._repeats(repeats, opening.at, tz), _A_REPETITION)
            levels = await self._till.counters.hold(opening.request_id, draws, opening.at.timestamp() + _COUNTING_S)
            if isinstance(levels, Exhausted):
                raise refusal_of(levels, opening.at)
            await self._till.counters.settle(opening.request_id, [1] * len(draws))

    def admit(self) -> None:
        """Let a request in that holds nothing.

        Raises:
            LedgerBehind: The ledger takes no new requests.
        """
        self._till.ledger.admit()

    def free(self, opening: Opening, settlement: Settlement) -> None:
        """Record a request that was answered without a hold, such as a cache hit.

        Raises:
            LedgerBehind: The ledger takes no new requests.
        """
        self._till.ledger.admit()
        self._till.settle(opening, ZERO, settlement)

    def refused(self, opening: Opening, code: str, status: int) -> None:
        """Record a request that was turned away; a ledger that is behind only counts it."""
        self._till.end(EventKind.REFUSED, opening, code=code, status=status)

    async def standing(self, budgets: Sequence[Budget], at: datetime, tz: ZoneInfo) -> tuple[Standing, ...]:
        """Tell where budgets stand in their windows at an instant; those whose value is not known are left out."""
        known = [budget for budget in budgets if budget.each is None]
        counters = [spend_counters(budget, at, tz, self._calendar)[0] for budget in known]
        levels = await self._till.counters.read(counters)
        rows = zip(known, counters, levels, strict=True)
        standings = (standing_of(counter, budget.usable.nanos, level) for budget, counter, level in rows)
        return tuple(standing for standing in standings if standing is not None)

    def refusing(self) -> tuple[CounterKey, ...]:
        """Return the counters of budgets that have refused a request since this was last asked."""
        found = tuple(self._till.refusing)
        self._till.refusing.clear()
        return found

    async def expire(self, now: float) -> int:
        """End every hold whose lease is over at what it held, and count them; call it about once a second."""
        expired = await self._till.counters.expire(now)
        self._till.foreign |= {hold_id for hold_id in expired if not self._till.expire(hold_id)}
        return len(expired)

    async def seed(self, database: Database, budgets: Sequence[Budget], at: datetime, tz: ZoneInfo) -> None:
        """Teach the counters what the ledger says has been spent in each budget's window; safe to repeat.

        Call it when budgets appear, at the start or with a new policy. What requests hold that began under
        another policy, and do not draw on a counter, is taken for spent: the limit holds while they run.
        """
        totals: dict[CounterKey, Nanodollars] = {}
        for hold in self._till.open.values():  # first: what ends while the ledger is read would be in neither
            for counter in hold.undrawn(budgets, tz, self._calendar):
                totals[counter] = totals.get(counter, ZERO) + hold.worst.cost
        async for counter, spent in spent_by_counter(database, budgets, at, tz, self._calendar):
            totals[counter] = totals.get(counter, ZERO) + spent
        for counter, total in totals.items():
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

    async def sweep(self, database: Database, at: datetime) -> int:
        """Write the end of requests whose lease is over for a while, and which their processes left open.

        A process that dies after the counters have ended its hold, and before it records how, leaves such a one. Call
        it now and then where several processes write the ledger: it looks at what ended since it last did.

        Returns:
            How many there were.
        """
        since, until = self._swept, at - GRACE
        if until <= since:
            return 0
        found = await expire_orphans(database, leases_over=(since, until))
        self._swept = until
        return found

    async def rebuild(
        self,
        database: Database,
        budgets: Sequence[Budget],
        at: datetime,
        tz: ZoneInfo,
        *,
        sole: bool = True,
        spared: Collection[str] = (),
    ) -> int:
        """Start where a dead process stopped: expire its open holds at what they held, then seed the counters.

        Call it before the first hold. `sole` tells that no other process writes this ledger; where one may, only holds
        past their lease are taken for dead. `spared` requests have outlived their process: others go on with them.

        Returns:
            How many holds it found open.
        """
        orphans = await (expire_orphans(database, spared=spared) if sole else self.sweep(database, at))
        await self.seed(database, budgets, at, tz)
        return orphans

    def _repeats(self, repeats: Sequence[Repeats], at: datetime, tz: ZoneInfo) -> tuple[Line, ...]:
        return tuple([line for repeat in repeats for line in self._plans.of_repeats(repeat, at, tz).lines])
