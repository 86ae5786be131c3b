"""Budgets and rates: what a policy says may be spent, by whom, in which window.

A scope is text: `org`, `team:support`, `app:support/support-bot`, `feature:support/support-bot/faq` or
`key:<public id>`. Team and app names hold no slash.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal
from zoneinfo import ZoneInfo

from governance.counters import CounterKey, Draw, Exhausted, Level, Unit
from governance.errors import BudgetExhausted, RateLimited
from governance.money import ZERO, Nanodollars
from governance.windows import Calendar, WindowKind

CONCURRENT_RETRY_S: Final = 1.0


@dataclass(frozen=True, slots=True)
class Budget:
    """A limit on money in each window of a scope, and perhaps on each single request."""

    scope: str
    limit: Nanodollars
    window: WindowKind
    per_request: Nanodollars | None = None


@dataclass(frozen=True, slots=True)
class Rate:
    """Limits on the traffic of a scope; None where there is none."""

    scope: str
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    concurrent: int | None = None


@dataclass(frozen=True, slots=True)
class WorstCase:
    """The most a request can cost, and the most tokens it can use, prompt and output together."""

    cost: Nanodollars
    tokens: int


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a budget stands: what is settled, what open holds keep, what remains (never below zero), when it resets."""

    scope: str
    window: WindowKind
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
    kind, _, rest = scope.partition(":")
    columns = _SCOPE_COLUMNS.get(kind)
    names = rest.split("/", len(columns) - 1) if columns else []
    if scope != "org" and (not columns or len(names) != len(columns) or not all(names)):
        raise ValueError(f"{scope!r} is no scope")
    return dict(zip(columns or (), names, strict=True))


_SCOPE_COLUMNS = {
    "team": ("team",),
    "app": ("team", "app"),
    "feature": ("team", "app", "feature"),
    "key": ("key_id",),
}


def check_each(budgets: Sequence[Budget], worst: WorstCase) -> None:
    """Refuse a request that is over a limit on single requests.

    Raises:
        BudgetExhausted: With the window `request` and no reset.
    """
    for budget in budgets:
        if budget.per_request is not None and worst.cost > budget.per_request:
            raise BudgetExhausted(
                scope=budget.scope,
                limit=budget.per_request,
                spent=ZERO,
                held=ZERO,
                asked=worst.cost,
                window="request",
                resets_at=None,
            )


def spend_counter(budget: Budget, at: datetime, tz: ZoneInfo, calendar: Calendar) -> CounterKey:
    """Name the counter of a budget's window at an instant."""
    return CounterKey(budget.scope, Unit.SPEND, calendar.window(budget.window, at, tz))


def draws_of(
    budgets: Sequence[Budget], rates: Sequence[Rate], worst: WorstCase, at: datetime, tz: ZoneInfo, calendar: Calendar
) -> tuple[Draw, ...]:
    """Turn the limits on a request into draws, budgets first; of two limits on one counter the lower counts."""
    draws = [Draw(spend_counter(budget, at, tz, calendar), worst.cost.nanos, budget.limit.nanos) for budget in budgets]
    minute = calendar.window(WindowKind.MINUTE, at, tz)
    for rate in rates:
        if rate.requests_per_minute is not None:
            draws.append(Draw(CounterKey(rate.scope, Unit.REQUESTS, minute), 1, rate.requests_per_minute))
        if rate.tokens_per_minute is not None:
            draws.append(Draw(CounterKey(rate.scope, Unit.TOKENS, minute), worst.tokens, rate.tokens_per_minute))
        if rate.concurrent is not None:
            draws.append(Draw(CounterKey(rate.scope, Unit.CONCURRENT, None), 1, rate.concurrent))
    lowest: dict[CounterKey, Draw] = {}
    for draw in draws:
        other = lowest.setdefault(draw.counter, draw)
        if draw.limit < other.limit:
            lowest[draw.counter] = draw
    return tuple(lowest.values())


def refusal_of(exhausted: Exhausted, at: datetime) -> BudgetExhausted | RateLimited:
    """Say which limit a draw met, and when it makes sense to come back."""
    draw, level = exhausted.draw, exhausted.level
    scope, unit, window = draw.counter.scope, draw.counter.unit, draw.counter.window
    if unit is Unit.SPEND and window is not None:
        return BudgetExhausted(
            scope=scope,
            limit=Nanodollars(draw.limit),
            spent=Nanodollars(level.settled),
            held=Nanodollars(level.held),
            asked=Nanodollars(draw.amount),
            window=window.kind.value,
            resets_at=window.end,
        )
    return RateLimited(
        scope=scope,
        unit=_RATE_UNITS[unit],
        limit=draw.limit,
        asked=draw.amount,
        retry_after_s=CONCURRENT_RETRY_S if window is None else (window.end - at).total_seconds(),
    )


_RATE_UNITS: dict[Unit, Literal["requests", "tokens", "concurrent"]] = {
    Unit.REQUESTS: "requests",
    Unit.TOKENS: "tokens",
    Unit.CONCURRENT: "concurrent",
}


def standing_of(counter: CounterKey, limit: int, level: Level) -> Standing | None:
    """Show a counter as a budget, or None when it counts no money or nobody knows its level."""
    if counter.unit is not Unit.SPEND or counter.window is None or not level.firm:
        return None
    return Standing(
        scope=counter.scope,
        window=counter.window.kind,
        limit=Nanodollars(limit),
        settled=Nanodollars(level.settled),
        held=Nanodollars(level.held),
        remaining=Nanodollars(max(0, limit - level.settled - level.held)),
        resets_at=counter.window.end,
    )


def rate_standing_of(counter: CounterKey, limit: int, level: Level) -> RateStanding | None:
    """Show a counter as a per-minute limit, or None when it is no such thing or nobody knows its level."""
    if counter.window is None or counter.unit not in {Unit.REQUESTS, Unit.TOKENS} or not level.firm:
        return None
    return RateStanding(
        scope=counter.scope,
        unit="requests" if counter.unit is Unit.REQUESTS else "tokens",
        limit=limit,
        remaining=max(0, limit - level.settled - level.held),
        resets_at=counter.window.end,
    )
