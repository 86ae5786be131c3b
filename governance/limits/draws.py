"""Limits on a request become draws on counters, and a draw that does not fit becomes a refusal with its facts."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final, Literal
from zoneinfo import ZoneInfo

from governance.counters import CounterKey, Draw, Exhausted, Unit
from governance.errors import BudgetExhausted, LoopDetected, RateLimited
from governance.limits import Budget, Rate, WorstCase
from governance.limits.loops import Repeats
from governance.money import ZERO, Nanodollars
from governance.windows import Calendar, Window, WindowKind

CONCURRENT_RETRY_S: Final = 1.0
NO_LIMIT: Final = 2**62
"""What a counter that only counts is drawn under: half of what 64 bits hold, four billion dollars."""


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


def spend_counters(budget: Budget, at: datetime, tz: ZoneInfo, calendar: Calendar) -> tuple[CounterKey, ...]:
    """Name the counters of a budget at an instant; the first is the one that shows where it stands."""
    return tuple([CounterKey(budget.scope, Unit.SPEND, found) for found in calendar.covers(budget.window, at, tz)])


def draws_of(
    budgets: Sequence[Budget],
    rates: Sequence[Rate],
    worst: WorstCase,
    at: datetime,
    tz: ZoneInfo,
    calendar: Calendar,
    repeats: Sequence[Repeats] = (),
) -> tuple[Draw, ...]:
    """Turn the limits on a request into draws, budgets first; of two limits on one counter the lower counts."""
    draws = [
        *_spend(budgets, worst, at, tz, calendar),
        *_traffic(rates, worst, calendar.window(WindowKind.MINUTE, at, tz)),
        *repeat_draws(repeats, at, tz, calendar),
    ]
    lowest: dict[CounterKey, Draw] = {}
    for draw in draws:
        other = lowest.setdefault(draw.counter, draw)
        if draw.limit < other.limit:
            lowest[draw.counter] = draw
    return tuple(lowest.values())


def repeat_draws(repeats: Sequence[Repeats], at: datetime, tz: ZoneInfo, calendar: Calendar) -> Iterator[Draw]:
    """Count a request among those that may be a loop."""
    for repeat in repeats:
        for found in calendar.covers(repeat.window, at, tz):
            yield Draw(CounterKey(repeat.scope, Unit.REPEATS, found), 1, repeat.limit)


def _spend(
    budgets: Sequence[Budget], worst: WorstCase, at: datetime, tz: ZoneInfo, calendar: Calendar
) -> Iterator[Draw]:
    for budget in budgets:
        blocks_at = budget.blocks_at
        limit = NO_LIMIT if blocks_at is None else blocks_at.nanos
        for counter in spend_counters(budget, at, tz, calendar):
            yield Draw(counter, worst.cost.nanos, limit)


def _traffic(rates: Sequence[Rate], worst: WorstCase, minute: Window) -> Iterator[Draw]:
    for rate in rates:
        if rate.requests_per_minute is not None:
            yield Draw(CounterKey(rate.scope, Unit.REQUESTS, minute), 1, rate.requests_per_minute)
        if rate.tokens_per_minute is not None:
            yield Draw(CounterKey(rate.scope, Unit.TOKENS, minute), worst.tokens, rate.tokens_per_minute)
        if rate.concurrent is not None:
            yield Draw(CounterKey(rate.scope, Unit.CONCURRENT, None), 1, rate.concurrent)


def refusal_of(
    exhausted: Exhausted, at: datetime, budgets: Sequence[Budget] = ()
) -> BudgetExhausted | RateLimited | LoopDetected:
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
            queues=any(b.scope == scope and b.window == window.kind and b.queues for b in budgets),
        )
    if unit is Unit.REPEATS and window is not None:
        return LoopDetected(what=scope.partition("?")[2].partition("=")[0], limit=draw.limit, window=window.kind.value)
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
