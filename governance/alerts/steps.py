"""Which steps of a budget are due: from what its window has settled, and nothing else.

A step is named by its budget, its window and its percentage. It is due when that share of the limit is settled, and it
has fired when its name is known; so it fires once, whoever looks and however often. Money that open holds keep does not
count: it may come back.

A rolling window is never over: it is shown by one cover after another (see `governance.windows`), each for a part of
its length. Its step fires in the first cover that reaches it, and not again before a cover that does not.
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final, Self

from governance.limits import Budget, StepAction
from governance.limits.scopes import parted
from governance.money import Nanodollars
from governance.policy.sections import AppSection, BudgetSection, ScopedBudget, TeamSection
from governance.windows import Rolling, Window, WindowKind

FULL: Final = 100
"""Every budget alerts when it is used up, whatever its steps say: at its limit, or where it blocks before."""

_NEARLY: Final = 90
"""How much of what it lets through must be settled, in percent, for a budget that refuses to count as used up."""

_CALENDAR: Final = frozenset(kind.value for kind in WindowKind)


@dataclass(frozen=True, slots=True)
class Watch:
    """A budget whose use is watched.

    Attributes:
        budget: the budget.
        percents: the shares of its limit that alert, rising; where it is used up is always among them.
        team: the team that is told, or empty for those who run the installation.
    """

    budget: Budget
    percents: tuple[int, ...]
    team: str

    def of(self, value: str) -> Self:
        """Watch the budget of one value of its dimension."""
        return replace(self, budget=self.budget.of(value))

    def watches(self, scope: str) -> bool:
        """Say whether a scope is its budget's, or that of one value of its budget's dimension."""
        if self.budget.each is None:
            return scope == self.budget.scope
        whose, dimension, _ = parted(scope)
        return (whose, dimension) == (self.budget.scope, self.budget.each)

    @property
    def lowest(self) -> Nanodollars:
        """What is spent when the first step is reached."""
        return Nanodollars(-(-self.budget.limit.nanos * self.percents[0] // FULL))


@dataclass(frozen=True, slots=True)
class Alert:
    """A step that is due or has fired; `id` is the same whoever finds it, and names its delivery to receivers.

    Attributes:
        window: What the budget runs over, such as `day` or `7d`.
        window_end: When the window is over; of a rolling one, until when the step is surely reached.
        unbroken_since: Of a rolling window, since when the step has been reached without a break: what fired for it and
            stood then goes on. None where each window fires anew.
    """

    id: str
    scope: str
    team: str
    window: str
    window_start: datetime
    window_end: datetime
    percent: int
    limit: Nanodollars
    settled: Nanodollars
    fired_at: datetime
    unbroken_since: datetime | None = field(default=None, compare=False)

    @property
    def dimension(self) -> str:
        """The dimension that the budget is for each value of, or empty."""
        return parted(self.scope)[1]

    @property
    def value(self) -> str:
        """The value of that dimension, or empty."""
        return parted(self.scope)[2]

    @property
    def is_rolling(self) -> bool:
        """Whether its window is none of the calendar, so that it is never over."""
        return self.window not in _CALENDAR

    def is_reached(self, settled: Nanodollars) -> bool:
        """Say whether so much spending reaches the step."""
        return _is_reached(self.limit, self.percent, settled)


def due(watch: Watch, window: Window, settled: Nanodollars, at: datetime) -> tuple[Alert, ...]:
    """Return every step of a budget that this much spending in a window has reached, fired before or not."""
    limit = watch.budget.limit
    reached = (percent for percent in watch.percents if _is_reached(limit, percent, settled))
    return tuple(_alert(watch, window, percent, settled, at) for percent in reached)


def used_up(watch: Watch, window: Window, settled: Nanodollars, at: datetime) -> tuple[Alert, ...]:
    """Return the last step of a budget that has just refused, unless hardly anything but a large request was too much.

    A hold is a worst case, so a budget that blocks refuses while a little of it is left, and settles no more.
    """
    usable = watch.budget.usable.nanos
    if watch.budget.ends_at is None or settled.nanos * FULL < usable * _NEARLY:
        return ()
    return (_alert(watch, window, watch.budget.ends_at, settled, at),)


def watches_of(budgets: Sequence[ScopedBudget], teams: Sequence[TeamSection]) -> tuple[Watch, ...]:
    """List every budget of a policy with the steps that alert."""
    found = [_watch(section.scope, section, _team_of(section.scope)) for section in budgets]
    for team in teams:
        found += [_watch(f"team:{team.name}", section, team.name) for section in team.budgets]
        for app in team.apps:
            found += _of_app(team.name, app)
    return tuple(found)


def watch_key(budget: Budget, team: str) -> Watch:
    """Watch a budget of a key, which has no steps but the last."""
    return Watch(budget, (FULL,), team)


def _of_app(team: str, app: AppSection) -> Iterator[Watch]:
    for section in app.budgets:
        yield _watch(f"app:{team}/{app.name}", section, team)
    for feature in app.features:
        for section in feature.budgets:
            yield _watch(f"feature:{team}/{app.name}/{feature.name}", section, team)


def _watch(scope: str, section: BudgetSection, team: str) -> Watch:
    budget = Budget(scope, section.limit, section.window, section.per_request, section.ladder, section.dimension)
    alerting = {step.percent for step in budget.steps if step.action is StepAction.ALERT}
    return Watch(budget, tuple(sorted(alerting | {budget.ends_at or FULL})), team)


def _team_of(scope: str) -> str:
    """The team that a scope lies in; a key's is not in its scope, and the whole organisation has none."""
    kind, _, rest = scope.partition(":")
    return "" if kind in {"org", "key"} else rest.partition("/")[0]


def _alert(watch: Watch, window: Window, percent: int, settled: Nanodollars, at: datetime) -> Alert:
    budget = watch.budget
    kind, start = window.kind.value, window.start
    # The limit is part of the name: a budget that was raised or cut is another one, whose steps have not fired.
    name = f"{budget.scope}\n{kind}\n{start.isoformat()}\n{budget.limit.nanos}\n{percent}"
    return Alert(
        id=f"alert_{hashlib.sha256(name.encode()).hexdigest()[:24]}",
        scope=budget.scope,
        team=watch.team,
        window=kind,
        window_start=start,
        window_end=window.end,
        percent=percent,
        limit=budget.limit,
        settled=settled,
        fired_at=at,
        unbroken_since=_shown_since(window),
    )


def _is_reached(limit: Nanodollars, percent: int, settled: Nanodollars) -> bool:
    return settled.nanos * FULL >= limit.nanos * percent


def _shown_since(window: Window) -> datetime | None:
    """Return the instant from which a cover shows its rolling window: the end of the cover before."""
    span = window.kind
    return window.end - (window.end - window.start) // (span.parts + 1) if isinstance(span, Rolling) else None
