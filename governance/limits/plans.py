"""Plans: which counters requests under the same limits draw on, found once and good until one of the windows ends.

Requests under the same limits differ in their amounts alone. So their counters are found, and named, for the first of
them, and looked up by the limits for all others.
"""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, NamedTuple, TypeVar
from zoneinfo import ZoneInfo

from governance.counters import CounterKey
from governance.limits import Budget, Rate
from governance.limits.draws import Line, budget_lines, lowest, rate_lines, repeat_lines
from governance.limits.loops import Repeats
from governance.limits.steps import begins_at
from governance.windows import Calendar

MOST: Final = 4_096
"""Plans of a kind that are remembered; where there are more, as for many sessions, all are found anew."""


class Shown(NamedTuple):
    """A counter that shows where a budget stands.

    Attributes:
        place: Where it is among the lines of its plan.
        counter: Its name.
        limit: What of the budget is meant to be used.
        overrun: Nothing blocks the budget.
        budget: The budget.
    """

    place: int
    counter: CounterKey
    limit: int
    overrun: bool
    budget: Budget


class Felt(NamedTuple):
    """A budget with steps that are felt before a hold, once its counter shows `least` hundredths of a nano-dollar."""

    counter: CounterKey
    least: int
    budget: Budget


@dataclass(frozen=True, slots=True)
class Plan:
    """What requests draw on from one instant until another.

    Attributes:
        lines: Every limit, one for each counter.
        shown: Where the budgets among them stand.
        felt: Which budgets matter before a hold.
        since: From when it holds.
        until: When it holds no more.
    """

    lines: tuple[Line, ...]
    shown: tuple[Shown, ...]
    felt: tuple[Felt, ...]
    since: datetime
    until: datetime


KeyT = TypeVar("KeyT", bound=Hashable)


class Plans:
    """Makes plans and remembers them."""

    def __init__(self, calendar: Calendar) -> None:
        self._calendar = calendar
        self._of_each: dict[tuple[Budget, ZoneInfo], Plan] = {}
        self._of_budgets: dict[tuple[tuple[Budget, ...], ZoneInfo], Plan] = {}
        self._of_rates: dict[tuple[tuple[Rate, ...], ZoneInfo], Plan] = {}
        self._of_repeats: dict[tuple[Repeats, ZoneInfo], Plan] = {}

    def of_budgets(self, budgets: tuple[Budget, ...], at: datetime, tz: ZoneInfo) -> Plan:
        """Return what requests under these budgets draw on at an instant."""
        return _found(
            self._of_budgets,
            (budgets, tz),
            at,
            lambda: _together([self._of_budget(budget, at, tz) for budget in budgets]),
        )

    def of_rates(self, rates: tuple[Rate, ...], at: datetime, tz: ZoneInfo) -> Plan:
        """Return what requests under these rates draw on at an instant."""
        return _found(self._of_rates, (rates, tz), at, lambda: _plan(rate_lines(rates, at, tz, self._calendar)))

    def of_repeats(self, repeats: Repeats, at: datetime, tz: ZoneInfo) -> Plan:
        """Return what a repetition draws on at an instant."""
        return _found(self._of_repeats, (repeats, tz), at, lambda: _plan(repeat_lines(repeats, at, tz, self._calendar)))

    def _of_budget(self, budget: Budget, at: datetime, tz: ZoneInfo) -> Plan:
        return _found(self._of_each, (budget, tz), at, lambda: self._plan_budget(budget, at, tz))

    def _plan_budget(self, budget: Budget, at: datetime, tz: ZoneInfo) -> Plan:
        lines = budget_lines(budget, at, tz, self._calendar)
        least, counter, blocks_at = begins_at(budget), lines[0].counter, budget.blocks_at
        shown = Shown(0, counter, (blocks_at or budget.limit).nanos, blocks_at is None, budget)
        return _plan(lines, (shown,), () if least is None else (Felt(counter, least, budget),))


def _found(known: dict[KeyT, Plan], key: KeyT, at: datetime, make: Callable[[], Plan]) -> Plan:
    plan = known.get(key)
    if plan is None or not plan.since <= at < plan.until:
        if len(known) >= MOST:
            known.clear()
        plan = known[key] = make()
    return plan


def _plan(lines: tuple[Line, ...], shown: tuple[Shown, ...] = (), felt: tuple[Felt, ...] = ()) -> Plan:
    windows = [line.counter.window for line in lines if line.counter.window is not None]
    since = max([window.start for window in windows], default=_ALWAYS)
    until = min([window.end for window in windows], default=_FOREVER)
    return Plan(lines, shown, felt, since, until)


def _together(plans: Sequence[Plan]) -> Plan:
    lines = lowest([line for plan in plans for line in plan.lines])
    places = {line.counter: place for place, line in enumerate(lines)}
    shown = tuple([Shown(places[each.counter], *each[1:]) for plan in plans for each in plan.shown])
    felt = tuple([felt for plan in plans for felt in plan.felt])
    since = max([plan.since for plan in plans], default=_ALWAYS)
    until = min([plan.until for plan in plans], default=_FOREVER)
    return Plan(lines, shown, felt, since, until)


_ALWAYS: Final = datetime.min.replace(tzinfo=UTC)
_FOREVER: Final = datetime.max.replace(tzinfo=UTC)
