"""Limits: what a policy says may be spent and done, by whom, in which window, and what happens on the way there.

This file has the values. `draws.py` turns them into draws on counters and a draw that does not fit into a refusal,
`plans.py` remembers which counters those are, `steps.py` says what a budget asks for before it is used up,
`standings.py` shows where limits stand, `loops.py` knows a request that comes again, and `forecast.py` says when a
budget will run out. Nothing here knows models or HTTP.

A scope is text: `org`, `team:support`, `app:support/support-bot`, `feature:support/support-bot/faq` or
`key:<public id>`; for a budget of each value of a dimension, with the value behind it: `org?session=7f3a`. Team and app
names hold no slash.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final, Literal, Self
from urllib.parse import quote, unquote

from governance.attribution import UNATTRIBUTED
from governance.money import Nanodollars
from governance.windows import Span

Each = Literal["team", "app", "feature", "workflow", "model", "segment", "environment", "session", "user"]
"""The dimensions that a budget may be for each value of."""


class StepAction(StrEnum):
    """What happens when a share of a budget is used, the mildest first."""

    ALERT = "alert"
    DOWNGRADE = "downgrade"
    TIGHTEN = "tighten"
    QUEUE = "queue"
    BLOCK = "block"


_ENDS: Final = (StepAction.QUEUE, StepAction.BLOCK)


@dataclass(frozen=True, slots=True)
class Step:
    """An action, and the percentage of a budget at which it begins."""

    percent: int
    action: StepAction


@dataclass(frozen=True, slots=True)
class Budget:
    """A limit on money in each window of a scope, and perhaps on each single request.

    Attributes:
        scope: Whose money.
        limit: How much.
        window: Over which time.
        per_request: The most that one request may cost.
        steps: What happens on the way; without any, the budget blocks when it is used up.
        each: The dimension each value of which has this budget to itself; None once the value is known, or when there
            is no such dimension.
    """

    scope: str
    limit: Nanodollars
    window: Span
    per_request: Nanodollars | None = None
    steps: tuple[Step, ...] = ()
    each: Each | None = None

    def __hash__(self) -> int:
        return hash(self.scope)  # enough to find it among others, and asked for by every request

    @property
    def blocks_at(self) -> Nanodollars | None:
        """What may be spent and held, to the nano-dollar; None when the policy lets the budget be overrun."""
        percent = self.ends_at
        return None if percent is None else Nanodollars(self.limit.nanos * percent // 100)

    @property
    def ends_at(self) -> int | None:
        """The percentage at which it blocks; None when the policy lets it be overrun."""
        if not self.steps:
            return 100
        return min([step.percent for step in self.steps if step.action in _ENDS], default=None)

    @property
    def usable(self) -> Nanodollars:
        """What of it is meant to be used: to where it blocks, or all of it."""
        return self.blocks_at or self.limit

    @property
    def queues(self) -> bool:
        """Whether the work that no longer fits should wait instead of being refused."""
        ends = [step for step in self.steps if step.action in _ENDS]
        return bool(ends) and min(ends, key=lambda step: step.percent).action is StepAction.QUEUE

    def of(self, value: str) -> Self:
        """Return the budget of one value of its dimension."""
        scope = f"{self.scope}?{self.each}={quote(value, safe='')}"
        return type(self)(scope, self.limit, self.window, self.per_request, self.steps)


def resolve(budgets: Sequence[Budget], values: Mapping[str, str | None]) -> tuple[Budget, ...]:
    """Return the budgets of one request.

    A budget for each value of a dimension becomes that of the request's own value. A request that has none is not under
    it; one whose value is not yet known (its dimension is not among `values`) keeps it as it is.
    """
    if not any(budget.each for budget in budgets):
        return tuple(budgets)
    found: list[Budget] = []
    for budget in budgets:
        if budget.each is None or budget.each not in values:
            found.append(budget)
        elif (value := values[budget.each]) and value != UNATTRIBUTED:
            found.append(budget.of(value))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Rate:
    """Limits on the traffic of a scope; None where there is none."""

    scope: str
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    concurrent: int | None = None

    def __hash__(self) -> int:
        return hash(self.scope)


@dataclass(frozen=True, slots=True)
class WorstCase:
    """The most a request can cost, and the most tokens it can use, prompt and output together."""

    cost: Nanodollars
    tokens: int


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a budget stands: what is settled, what open holds keep, what remains (never below zero), when it resets.

    `limit` is where the budget blocks; for one that never does, what it is meant to be. A rolling window resets bit by
    bit, and `resets_at` is the next one.
    """

    scope: str
    window: Span
    limit: Nanodollars
    settled: Nanodollars
    held: Nanodollars
    remaining: Nanodollars
    resets_at: datetime


@dataclass(frozen=True, slots=True)
class RateStanding:
    """Where a per-minute limit stands; `resets_at` is the end of the minute."""

    scope: str
    unit: Literal["requests", "tokens"]
    limit: int
    remaining: int
    resets_at: datetime


def dimensions_of(scope: str) -> dict[str, str]:
    """Name the ledger columns that a scope fixes, such as `{"team": "support", "app": "bot"}`; none for `org`.

    Raises:
        ValueError: The text is no scope.
    """
    base, _, of = scope.partition("?")
    kind, _, rest = base.partition(":")
    columns = _SCOPE_COLUMNS.get(kind)
    names = rest.split("/", len(columns) - 1) if columns else []
    if base != "org" and (not columns or len(names) != len(columns) or not all(names)):
        raise ValueError(f"{scope!r} is no scope")
    return dict(zip(columns or (), names, strict=True)) | _value_of(of)


def column_of(each: Each) -> str:
    """Name the ledger column that holds a dimension's values."""
    return "end_user" if each == "user" else each


def _value_of(text: str) -> dict[str, str]:
    each, _, value = text.partition("=")
    return {"end_user" if each == "user" else each: unquote(value)} if text else {}


_SCOPE_COLUMNS = {
    "team": ("team",),
    "app": ("team", "app"),
    "feature": ("team", "app", "feature"),
    "key": ("key_id",),
}
