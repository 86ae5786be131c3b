"""The counters that one kind of request draws on, found again only when a window ends."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from governance.counters import CounterKey, Draw, Unit
from governance.ledger.tables import instant, micros
from governance.limits import WorstCase, draws_of
from governance.money import ZERO
from governance.windows import Calendar

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

    from governance.policy.rules import Grant

_NEVER: Final = 1 << 62
NO_LIMIT: Final = 1 << 62
_PLACES: Final = {Unit.SPEND: 0, Unit.REQUESTS: 1, Unit.TOKENS: 2, Unit.CONCURRENT: 3}
Amounts = tuple[int, int, int, int]
"""What a request adds to counters of money (nano-dollars), requests, tokens and requests in flight."""


@dataclass(slots=True)
class Lane:
    """One counter.

    Attributes:
        diverged: It no longer stands as it stood in the past.
    """

    counter: CounterKey
    diverged: bool = False


class Lanes:
    """Every counter of one grant."""

    def __init__(self, grant: Grant, tz: ZoneInfo, board: Board) -> None:
        self.each = tuple(budget for budget in grant.budgets if budget.per_request is not None)
        self._grant = grant
        self._tz = tz
        self._board = board
        self._until = -_NEVER
        self._lanes: tuple[tuple[Lane, int, int], ...] = ()

    def turn(self, at: int) -> None:
        """Find the counters of an instant (microseconds), which never goes back."""
        if at < self._until:
            return
        grant, when = self._grant, instant(at)
        draws = draws_of(grant.budgets, grant.rates, WorstCase(ZERO, 0), when, self._tz, self._board.calendar)
        self._lanes = tuple((self._board.lane(draw.counter), _PLACES[draw.counter.unit], draw.limit) for draw in draws)
        ends = (micros(draw.counter.window.end) for draw in draws if draw.counter.window is not None)
        self._until = min(ends, default=_NEVER)

    @property
    def diverged(self) -> bool:
        """Whether any of the counters stands otherwise than it stood."""
        return any(lane.diverged for lane, _, _ in self._lanes)

    def diverge(self) -> None:
        """Say that what was drawn is not what was drawn in the past."""
        for lane, _, _ in self._lanes:
            lane.diverged = True

    def draws(self, amounts: Amounts, *, forced: bool) -> list[Draw]:
        """Return what a hold draws; `forced` draws without a limit."""
        return [Draw(lane.counter, amounts[place], NO_LIMIT if forced else limit) for lane, place, limit in self._lanes]

    def actuals(self, amounts: Amounts) -> list[int]:
        """Return the same counters' amounts at the end of a request."""
        return [amounts[place] for _, place, _ in self._lanes]


class Board:
    """Every counter in use, each once, so that all who draw on it see that it diverged."""

    def __init__(self) -> None:
        self.calendar = Calendar()
        self._lanes: dict[CounterKey, Lane] = {}

    def lane(self, counter: CounterKey) -> Lane:
        """Return the lane of a counter."""
        return self._lanes.setdefault(counter, Lane(counter))

    def forget(self, at: int) -> None:
        """Drop the lanes of windows that are over."""
        now = instant(at)
        over = [key for key in self._lanes if key.window is not None and key.window.end <= now]
        for key in over:
            del self._lanes[key]
