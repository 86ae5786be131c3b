"""A hold: money kept for one request while it runs, and the one ending that it has.

`Till` is what the purse and its holds share. Only `governance.purse.Purse` makes holds.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol, Self
from zoneinfo import ZoneInfo

from msgspec.structs import replace

from governance.counters import CounterKey, Counters, Exhausted, Level, Unit
from governance.errors import LedgerBehind, StoreUnavailable
from governance.ledger.events import Attempt, EventKind, LedgerAttempt, LedgerEvent, Opening, Settlement, tokens_of
from governance.limits import Budget, RateStanding, Standing, WorstCase, dimensions_of, resolve
from governance.limits.draws import Amounts, Line, check_each, drawn, refusal_of, spend_counters
from governance.limits.levels import SeenLevels
from governance.limits.plans import Plan, Shown
from governance.limits.standings import rate_standing_of, standing_of
from governance.money import ZERO, Nanodollars
from governance.windows import Calendar

_REFUSING: Final = 10_000

UNHELD: Final = "unheld"
"""What is added to the route of a request that was served while the counters were away."""


class Ledger(Protocol):
    """Where the purse writes. Writing never waits; `governance.ledger.writer.LedgerWriter` is the real one."""

    def admit(self) -> None:
        """Let a new request in, or raise `LedgerBehind`."""
        ...

    def append(self, *entries: LedgerEvent | LedgerAttempt) -> None:
        """Record entries that belong together, or raise `LedgerBehind` for a new hold.

        What has been admitted is always taken.
        """
        ...


@dataclass(slots=True)
class Till:
    """What the purse and its holds share: the counters, the ledger, and which requests hold money now.

    `foreign` are holds whose lease has ended and that no one here had open, and `refusing` the counters of budgets that
    have refused since somebody last asked.
    """

    counters: Counters
    ledger: Ledger
    clock: Callable[[], float]
    seen: SeenLevels
    open: "dict[str, Hold]" = field(default_factory=dict)
    foreign: set[str] = field(default_factory=set)
    refusing: dict[CounterKey, None] = field(default_factory=dict)

    def refuse(self, counter: CounterKey) -> None:
        """Remember that a budget has refused, if that is what the counter is for."""
        if counter.unit is Unit.SPEND and len(self.refusing) < _REFUSING:
            self.refusing[counter] = None

    def elapsed_ms(self, opening: Opening) -> float:
        """Tell how long a request has run."""
        return max(0.0, (self.clock() - opening.at.timestamp()) * 1000)

    def settle(self, opening: Opening, held: Nanodollars, settlement: Settlement, *, told: int = 0) -> None:
        """Write the end of a request that was answered or failed, with its calls that are not `told` yet."""
        self.end(
            EventKind.SETTLED,
            opening,
            held=held,
            cost=settlement.cost,
            code=settlement.code,
            status=settlement.status,
            settlement=settlement,
            told=told,
        )

    def end(
        self,
        kind: EventKind,
        opening: Opening,
        *,
        held: Nanodollars = ZERO,
        cost: Nanodollars = ZERO,
        code: str = "",
        status: int | None = None,
        settlement: Settlement | None = None,
        told: int = 0,
    ) -> None:
        """Write the one terminal event of a request."""
        event = LedgerEvent(
            kind=kind,
            opening=opening,
            held=held,
            cost=cost,
            code=code,
            status=status,
            settlement=settlement,
            duration_ms=self.elapsed_ms(opening),
        )
        self.ledger.append(*_attempts(opening, settlement.attempts if settlement else (), told), event)

    def expire(self, hold_id: str) -> bool:
        """Write the end of a hold that its lease has ended; False when it is written, or another process's to write."""
        hold = self.open.pop(hold_id, None)
        if hold is not None:
            self.end(EventKind.EXPIRED, hold.opening, held=hold.worst.cost, cost=hold.worst.cost)
        return hold is not None


class Hold:
    """Money kept for one request while it runs. Made by `Purse.hold`.

    Attributes:
        opening: What the ledger is told of the request; its plan is that of the latest attempt.
        worst: The most that it can come to, earlier attempts included.
        spent: What earlier attempts came to.
    """

    __slots__ = (
        "_ended", "_expires_at", "_levels", "_lines", "_shown", "_till", "_told", "_traffic",
        "opening", "spent", "worst",
    )  # fmt: skip

    def __init__(
        self,
        till: Till,
        opening: Opening,
        worst: WorstCase,
        plan: Plan,
        traffic: tuple[Line, ...],
        lease_s: float,
    ) -> None:
        self.opening = opening
        self.worst = worst
        self.spent = ZERO
        self._till = till
        self._traffic = traffic
        self._lines = plan.lines + traffic
        self._shown = plan.shown
        self._levels: tuple[Level, ...] = ()
        self._told = 0
        self._expires_at = opening.at.timestamp() + lease_s
        self._ended = False

    async def __aenter__(self) -> Self:
        self._till.ledger.admit()
        draws = drawn(self._lines, Amounts.held(self.worst))
        levels = await self._till.counters.hold(self.opening.request_id, draws, self._expires_at)
        if isinstance(levels, Exhausted):
            self._till.refuse(levels.draw.counter)
            raise refusal_of(levels, self.opening.at, [shown.budget for shown in self._shown])
        self._drew(levels)
        self._till.open[self.opening.request_id] = self
        try:
            self._till.ledger.append(self._held())
        except LedgerBehind:
            del self._till.open[self.opening.request_id]
            await self._till.counters.cancel(self.opening.request_id)
            raise
        return self

    def _held(self) -> LedgerEvent:
        return LedgerEvent(
            kind=EventKind.HELD, opening=self.opening, held=self.worst.cost, lease_until=self._expires_at
        )

    async def again(self, opening: Opening, worst: WorstCase, plan: Plan, attempts: Sequence[Attempt]) -> None:
        """Hold the worst case of another attempt beside what those before it came to; see `Purse.hold_again`."""
        self._till.ledger.admit()
        total, budgets, lines = _beside(attempts, worst), [s.budget for s in plan.shown], plan.lines + self._traffic
        check_each(budgets, total)
        levels = await self._till.counters.redraw(opening.request_id, drawn(lines, Amounts.held(total)))
        if isinstance(levels, Exhausted):
            self._till.refuse(levels.draw.counter)
            raise refusal_of(levels, opening.at, budgets)
        if levels is None:
            raise StoreUnavailable("the request's hold has ended with its lease")
        self.opening, self.worst, self.spent = opening, total, total.cost - worst.cost
        self._lines, self._shown = lines, plan.shown
        self._drew(levels)
        self._till.ledger.append(*_attempts(opening, attempts, self._told), self._held())
        self._told = len(attempts)

    async def __aexit__(self, *_: object) -> None:
        if self._ended:
            return
        self._ended = True
        if await self._till.counters.cancel(self.opening.request_id):
            del self._till.open[self.opening.request_id]
            self._till.end(EventKind.CANCELLED, self.opening, held=self.worst.cost)
        else:
            self._till.expire(self.opening.request_id)

    def leave(self) -> None:
        """Leave it open, because what it is for outlives this process; it is entered again, or ends with its lease."""
        self._ended = True
        del self._till.open[self.opening.request_id]

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
        amounts = Amounts.used(settlement.cost, settlement.tokens)
        actuals = [amounts[line.place] for line in self._lines]
        try:
            levels = await self._till.counters.settle(self.opening.request_id, actuals)
        except BaseException:
            self._tell(settlement)  # they were made, however the hold will end
            raise
        if levels is None:
            self._tell(settlement)
            self._till.expire(self.opening.request_id)
            return
        self._took(levels)
        del self._till.open[self.opening.request_id]
        self._till.settle(self.opening, self.worst.cost, settlement, told=self._told)

    def _tell(self, settlement: Settlement) -> None:
        self._till.ledger.append(*_attempts(self.opening, settlement.attempts, self._told))

    def _drew(self, levels: tuple[Level, ...]) -> None:
        self._took(levels)
        if False in [level.firm for level in levels]:
            self.opening = replace(self.opening, route=f"{self.opening.route};{UNHELD}")

    def _took(self, levels: tuple[Level, ...]) -> None:
        self._levels = levels
        self._till.seen.note(self._shown, levels, self._till.clock())

    @property
    def tightest(self) -> Standing | None:
        """The budget with the least left, as of the last change of this hold; None when no budget applies.

        A budget that may be overrun counts only where none blocks.
        """
        return _tightest([(shown, self._levels[shown.place]) for shown in self._shown])

    async def left(self) -> Standing | None:
        """Ask now for the budget that blocks and has the least left beside what this hold keeps; None without one.

        Raises:
            StoreUnavailable: The counters do not answer.
        """
        blocking = [shown for shown in self._shown if not shown.overrun]
        levels = await self._till.counters.read([shown.counter for shown in blocking])
        return _tightest(list(zip(blocking, levels, strict=True)))

    def undrawn(self, budgets: Sequence[Budget], tz: ZoneInfo, calendar: Calendar) -> set[CounterKey]:
        """Name the counters of budgets that this request is under and does not draw on."""
        values, known = self.opening.values, {line.counter for line in self._lines}
        mine = [b for b in resolve(budgets, values) if dimensions_of(b.scope).items() <= values.items()]
        return {c for b in mine for c in spend_counters(b, self.opening.at, tz, calendar)} - known

    @property
    def rates(self) -> tuple[RateStanding, ...]:
        """The tightest per-minute limit of each unit, requests before tokens."""
        tightest: dict[str, RateStanding] = {}
        for line, level in zip(self._lines, self._levels, strict=True):
            rate = rate_standing_of(line.counter, line.limit, level)
            if rate is not None and (rate.unit not in tightest or rate.remaining < tightest[rate.unit].remaining):
                tightest[rate.unit] = rate
        return tuple(tightest[unit] for unit in ("requests", "tokens") if unit in tightest)


def _attempts(opening: Opening, attempts: Sequence[Attempt], told: int) -> list[LedgerAttempt]:
    return [LedgerAttempt(opening.request_id, n, attempt) for n, attempt in enumerate(attempts[told:], told + 1)]


def _beside(attempts: Sequence[Attempt], worst: WorstCase) -> WorstCase:
    """Return the most that a request comes to whose attempts have cost something, and that makes another."""
    cost = sum([attempt.cost.nanos for attempt in attempts], worst.cost.nanos)
    return WorstCase(Nanodollars(cost), tokens_of(attempts) + worst.tokens)


def _tightest(rows: Sequence[tuple[Shown, Level]]) -> Standing | None:
    known = [(shown, level) for shown, level in rows if level.firm]
    if not known:
        return None
    shown, level = min(known, key=_room)
    return standing_of(shown.counter, shown.limit, level)


def _room(row: tuple[Shown, Level]) -> tuple[bool, int]:
    shown, level = row
    return shown.overrun, max(0, shown.limit - level.settled - level.held)
