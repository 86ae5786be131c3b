"""Plans: which counters requests under the same limits draw on, found once and good until one of the windows ends.

Requests under the same limits differ in their amounts alone. So their counters are found, and named, for the first of
them, and looked up by the limits for all others.
"""

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, NamedTuple, TypeVar
from zoneinfo import ZoneInfo

from governance.counters import CounterKey
from governance.limits import Budget, Rate
from governance.limits.draws import Line, budget_lines, rate_lines, repeat_lines, spend_counters
from governance.limits.loops import Repeats
from governance.limits.steps import stepped
from governance.windows import Calendar

MOST: Final = 4_096
"""Plans of a kind that are remembered; where there are more, as for many sessions, all are found anew."""


class Shown(NamedTuple):
    """A counter that shows where a budget stands, at its place among the lines; `overrun` where nothing blocks it."""

    place: int
    counter: CounterKey
    limit: int
    overrun: bool
    budget: Budget


@dataclass(frozen=True, slots=True)
class Plan:
    """What requests draw on from one instant until another.

    Attributes:
        lines: Every limit.
        shown: Where the budgets among them stand, for each counter the one that blocks first.
        felt: The budgets with steps that matter before a hold, and `watched` the counters that show them.
        since: From when it holds.
        until: When it holds no more.
    """

    lines: tuple[Line, ...]
    shown: tuple[Shown, ...]
    felt: tuple[Budget, ...]
    watched: tuple[CounterKey, ...]
    since: datetime
    until: datetime


KeyT = TypeVar("KeyT", bound=Hashable)


class Plans:
    """Makes plans and remembers them."""

    def __init__(self, calendar: Calendar) -> None:
        self._calendar = calendar
        self._of_budgets: dict[tuple[tuple[Budget, ...], ZoneInfo], Plan] = {}
        self._of_rates: dict[tuple[tuple[Rate, ...], ZoneInfo], Plan] = {}
        self._of_repeats: dict[tuple[Repeats, ZoneInfo], Plan] = {}

    def of_budgets(self, budgets: tuple[Budget, ...], at: datetime, tz: ZoneInfo) -> Plan:
        """Return what requests under these budgets draw on at an instant."""
        return _found(self._of_budgets, (budgets, tz), at, lambda: self._plan_budgets(budgets, at, tz))

    def of_rates(self, rates: tuple[Rate, ...], at: datetime, tz: ZoneInfo) -> Plan:
        """Return what requests under these rates draw on at an instant."""
        return _found(self._of_rates, (rates, tz), at, lambda: _plan(rate_lines(rates, at, tz, self._calendar)))

    def of_repeats(self, repeats: Repeats, at: datetime, tz: ZoneInfo) -> Plan:
        """Return what a repetition draws on at an instant."""
        return _found(self._of_repeats, (repeats, tz), at, lambda: _plan(repeat_lines(repeats, at, tz, self._calendar)))

    def _plan_budgets(self, budgets: tuple[Budget, ...], at: datetime, tz: ZoneInfo) -> Plan:
        lines = budget_lines(budgets, at, tz, self._calendar)
        places = {line.counter: place for place, line in enumerate(lines)}
        shown: dict[CounterKey, Shown] = {}
        for budget in budgets:
            counter = spend_counters(budget, at, tz, self._calendar)[0]
            found = Shown(places[counter], counter, budget.usable.nanos, budget.blocks_at is None, budget)
            other = shown.setdefault(counter, found)
            if (found.overrun, found.limit) < (other.overrun, other.limit):
                shown[counter] = found
        felt = stepped(budgets)
        watched = tuple([spend_counters(budget, at, tz, self._calendar)[0] for budget in felt])
        return _plan(lines, tuple(shown.values()), felt, watched)


def _found(known: dict[KeyT, Plan], key: KeyT, at: datetime, make: Callable[[], Plan]) -> Plan:
    plan = known.get(key)
    if plan is None or not plan.since <= at < plan.until:
        if len(known) >= MOST:
            known.clear()
        plan = known[key] = make()
    return plan


def _plan(
    lines: tuple[Line, ...],
    shown: tuple[Shown, ...] = (),
    felt: tuple[Budget, ...] = (),
    watched: tuple[CounterKey, ...] = (),
) -> Plan:
    windows = [line.counter.window for line in lines if line.counter.window is not None]
    since = max((window.start for window in windows), default=_ALWAYS)
    until = min((window.end for window in windows), default=_FOREVER)
    return Plan(lines, shown, felt, watched, since, until)


_ALWAYS: Final = datetime.min.replace(tzinfo=UTC)
_FOREVER: Final = datetime.max.replace(tzinfo=UTC)
