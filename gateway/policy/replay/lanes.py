"""The counters that requests draw on: found once for each grant, and anew only when a window ends."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from governance.counters import CounterKey, Draw, Unit
from governance.ledger.tables import instant, micros
from governance.limits import WorstCase
from governance.limits.draws import draws_of
from governance.money import ZERO
from governance.windows import Calendar, WindowKind

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

    from governance.limits import Budget
    from governance.policy.rules import Grant
    from governance.windows import Span, Window

_NEVER: Final = 1 << 62
_NO_LIMIT: Final = 1 << 62
_PLACES: Final = {Unit.SPEND: 0, Unit.REQUESTS: 1, Unit.TOKENS: 2, Unit.CONCURRENT: 3}
Amounts = tuple[int, int, int, int]
"""What a request adds to counters of money (nano-dollars), requests, tokens and requests in flight."""


def replayed(budget: Budget) -> bool:
    """Say whether a budget takes part: rolling ones and those for each value of a dimension are left out."""
    return isinstance(budget.window, WindowKind) and budget.each is None


class Lane:
    """One scope's counter of a kind: another one in each window, of which only the running one matters.

    Attributes:
        counter: That of the window that is running.
        until: When it ends, in microseconds since the epoch.
        diverged: It does not stand as it stood in the past.
    """

    __slots__ = ("_board", "counter", "diverged", "until")

    def __init__(self, board: Board, counter: CounterKey) -> None:
        self._board = board
        self.diverged = False
        self._set(counter)

    def turn(self, at: int) -> None:
        """Go on to the window of an instant, if the last one is over; a new one has not diverged."""
        if at >= self.until and self.counter.window is not None:
            self.diverged = False
            window = self._board.window(self.counter.window.kind, at)
            self._set(CounterKey(self.counter.scope, self.counter.unit, window))

    def _set(self, counter: CounterKey) -> None:
        self.counter = counter
        self.until = _NEVER if counter.window is None else micros(counter.window.end)


class Board:
    """Every lane once, so that all who draw on it see that it diverged."""

    def __init__(self, tz: ZoneInfo) -> None:
        self.calendar = Calendar()
        self.tz = tz
        self._lanes: dict[tuple[str, Unit, Span | None], Lane] = {}
        self._grants: dict[Grant, Lanes] = {}

    def window(self, kind: Span, at: int) -> Window:
        """Return the window of an instant."""
        return self.calendar.window(kind, instant(at), self.tz)

    def lanes(self, grant: Grant) -> Lanes:
        """Return what requests under a grant draw on."""
        return self._grants.setdefault(grant, Lanes(grant, self))

    def lane(self, counter: CounterKey) -> Lane:
        """Return the lane that a counter is on."""
        name = (counter.scope, counter.unit, None if counter.window is None else counter.window.kind)
        return self._lanes.setdefault(name, Lane(self, counter))


class Lanes:
    """Every counter of one grant."""

    def __init__(self, grant: Grant, board: Board) -> None:
        self.each = tuple(budget for budget in grant.budgets if budget.per_request is not None)
        self._grant = grant
        self._board = board
        self._until = -_NEVER
        self._lanes: tuple[tuple[Lane, int, int], ...] | None = None

    def turn(self, at: int) -> None:
        """Find the counters of an instant (microseconds), which never goes back."""
        if at >= self._until:
            lanes = self._lanes = self._found(at) if self._lanes is None else self._lanes
            for lane, _, _ in lanes:
                lane.turn(at)
            self._until = min([lane.until for lane, _, _ in lanes], default=_NEVER)

    def _found(self, at: int) -> tuple[tuple[Lane, int, int], ...]:
        """Find the lanes: which they are and how much they let through is the same at all times."""
        grant, board = self._grant, self._board
        budgets = tuple(budget for budget in grant.budgets if replayed(budget))
        draws = draws_of(budgets, grant.rates, WorstCase(ZERO, 0), instant(at), board.tz, board.calendar)
        return tuple((board.lane(draw.counter), _PLACES[draw.counter.unit], draw.limit) for draw in draws)

    @property
    def diverged(self) -> bool:
        """Whether any of the counters stands otherwise than it stood."""
        for lane, _, _ in self._lanes or ():  # noqa: SIM110  every request asks, and a generator takes twice as long
            if lane.diverged:
                return True
        return False

    def diverge(self) -> None:
        """Say that what was drawn is not what was drawn in the past."""
        for lane, _, _ in self._lanes or ():
            lane.diverged = True

    def draws(self, amounts: Amounts, *, forced: bool) -> list[Draw]:
        """Return what a hold draws; `forced` draws without a limit."""
        lanes = self._lanes or ()
        if forced:
            return [Draw(lane.counter, amounts[place], _NO_LIMIT) for lane, place, _ in lanes]
        return [Draw(lane.counter, amounts[place], limit) for lane, place, limit in lanes]

    def actuals(self, amounts: Amounts) -> list[int]:
        """Return the same counters' amounts at the end of a request."""
        return [amounts[place] for _, place, _ in self._lanes or ()]
