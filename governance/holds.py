"""A hold: money kept for one request while it runs, and the one ending that it has.

`Till` is what the purse and its holds share. Only `governance.purse.Purse` makes holds.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol, Self
from zoneinfo import ZoneInfo

from msgspec.structs import replace

from governance.counters import CounterKey, Counters, Exhausted, Level, Unit
from governance.errors import LedgerBehind
from governance.ledger.events import EventKind, LedgerAttempt, LedgerEvent, Opening, Settlement
from governance.limits import Budget, RateStanding, Standing, WorstCase, dimensions_of, resolve
from governance.limits.draws import Amounts, Line, drawn, refusal_of, spend_counters
from governance.limits.levels import SeenLevels
from governance.limits.plans import Shown
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

    def attempts(self, opening: Opening, settlement: Settlement) -> None:
        """Write the calls that were made for a request whose end is another's to write."""
        self.ledger.append(*_attempts(opening, settlement))

    def settle(self, opening: Opening, held: Nanodollars, settlement: Settlement) -> None:
        """Write the end of a request that was answered or failed, with the calls that were made for it."""
        self.end(
            EventKind.SETTLED,
            opening,
            held=held,
            cost=settlement.cost,
            code=settlement.code,
            status=settlement.status,
            settlement=settlement,
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
        self.ledger.append(*_attempts(opening, settlement), event)

    def expire(self, hold_id: str) -> bool:
        """Write the end of a hold that its lease has ended; False when it is written, or another process's to write."""
        hold = self.open.pop(hold_id, None)
        if hold is not None:
            self.end(EventKind.EXPIRED, hold.opening, held=hold.worst.cost, cost=hold.worst.cost)
        return hold is not None


class Hold:
    """Money kept for one request while it runs. Made by `Purse.hold`."""

    __slots__ = ("_ended", "_expires_at", "_levels", "_lines", "_shown", "_till", "opening", "worst")

    def __init__(
        self,
        till: Till,
        opening: Opening,
        worst: WorstCase,
        lines: tuple[Line, ...],
        shown: tuple[Shown, ...],
        lease_s: float,
    ) -> None:
        self.opening = opening
        self.worst = worst
        self._till = till
        self._lines = lines
        self._shown = shown
        self._levels: tuple[Level, ...] = ()
        self._expires_at = opening.at.timestamp() + lease_s
        self._ended = False

    async def __aenter__(self) -> Self:
        self._till.ledger.admit()
        draws = drawn(self._lines, Amounts.held(self.worst))
        levels = await self._till.counters.hold(self.opening.request_id, draws, self._expires_at)
        if isinstance(levels, Exhausted):
            self._till.refuse(levels.draw.counter)
            raise refusal_of(levels, self.opening.at, [shown.budget for shown in self._shown])
        self._took(levels)
        if False in [level.firm for level in levels]:
            self.opening = replace(self.opening, route=f"{self.opening.route};{UNHELD}")
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
        cost = settlement.cost
        amounts = Amounts.used(cost, 0 if settlement.usage is None else settlement.usage.total)
        actuals = [amounts[line.place] for line in self._lines]
        try:
            levels = await self._till.counters.settle(self.opening.request_id, actuals)
        except BaseException:
            self._till.attempts(self.opening, settlement)  # they were made, however the hold will end
            raise
        if levels is None:
            self._till.attempts(self.opening, settlement)
            self._till.expire(self.opening.request_id)
            return
        self._took(levels)
        del self._till.open[self.opening.request_id]
        self._till.settle(self.opening, self.worst.cost, settlement)

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


def _attempts(opening: Opening, settlement: Settlement | None) -> list[LedgerAttempt]:
    attempts = enumerate(() if settlement is None else settlement.attempts, 1)
    return [LedgerAttempt(opening.request_id, n, attempt) for n, attempt in attempts]


def _tightest(rows: Sequence[tuple[Shown, Level]]) -> Standing | None:
    known = [(shown, level) for shown, level in rows if level.firm]
    if not known:
        return None
    shown, level = min(known, key=_room)
    return standing_of(shown.counter, shown.limit, level)


def _room(row: tuple[Shown, Level]) -> tuple[bool, int]:
    shown, level = row
    return shown.overrun, max(0, shown.limit - level.settled - level.held)
