"""Limits on a request become draws on counters, and a draw that does not fit becomes a refusal with its facts."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final, Literal, NamedTuple, Self
from zoneinfo import ZoneInfo

from governance.counters import CounterKey, Draw, Exhausted, Unit
from governance.errors import BudgetExhausted, LoopDetected, RateLimited
from governance.limits import Budget, Rate, WorstCase
from governance.limits.loops import Repeats
from governance.money import ZERO, Nanodollars
from governance.windows import Calendar, WindowKind

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


class Amounts(NamedTuple):
    """What a request adds to a counter of each unit, in the units' own order."""

    spend: int
    requests: int
    tokens: int
    concurrent: int
    repeats: int

    @classmethod
    def held(cls, worst: WorstCase) -> Self:
        """Return what a request holds while it runs."""
        return cls(worst.cost.nanos, 1, worst.tokens, 1, 1)

    @classmethod
    def used(cls, cost: Nanodollars, tokens: int) -> Self:
        """Return what a request has used when it has ended."""
        return cls(cost.nanos, 1, tokens, 0, 1)


class Line(NamedTuple):
    """One limit on requests: its counter, how far that may go, and which of a request's amounts it counts."""

    counter: CounterKey
    limit: int
    place: int


def drawn(lines: Iterable[Line], amounts: Amounts) -> tuple[Draw, ...]:
    """Turn the limits on a request into its draws."""
    return tuple([Draw(counter, amounts[place], limit) for counter, limit, place in lines])


def draws_of(
    budgets: Sequence[Budget],
    rates: Sequence[Rate],
    worst: WorstCase,
    at: datetime,
    tz: ZoneInfo,
    calendar: Calendar,
    repeats: Sequence[Repeats] = (),
) -> tuple[Draw, ...]:
    """Turn the limits on a request into draws, budgets first; for many requests alike see `plans.py`."""
    of_budgets = [line for budget in budgets for line in budget_lines(budget, at, tz, calendar)]
    of_repeats = [line for repeat in repeats for line in repeat_lines(repeat, at, tz, calendar)]
    lines = lowest([*of_budgets, *rate_lines(rates, at, tz, calendar), *of_repeats])
    return drawn(lines, Amounts.held(worst))


def budget_lines(budget: Budget, at: datetime, tz: ZoneInfo, calendar: Calendar) -> tuple[Line, ...]:
    """Return the limits that a budget sets at an instant; the first is on the counter that shows where it stands."""
    blocks_at = budget.blocks_at
    limit = NO_LIMIT if blocks_at is None else blocks_at.nanos
    return tuple([_line(counter, limit) for counter in spend_counters(budget, at, tz, calendar)])


def rate_lines(rates: Sequence[Rate], at: datetime, tz: ZoneInfo, calendar: Calendar) -> tuple[Line, ...]:
    """Return the limits on traffic at an instant."""
    minute = calendar.window(WindowKind.MINUTE, at, tz)
    lines = [
        _line(CounterKey(rate.scope, unit, window), limit)
        for rate in rates
        for unit, window, limit in (
            (Unit.REQUESTS, minute, rate.requests_per_minute),
            (Unit.TOKENS, minute, rate.tokens_per_minute),
            (Unit.CONCURRENT, None, rate.concurrent),
        )
        if limit is not None
    ]
    return lowest(lines)


def repeat_lines(repeat: Repeats, at: datetime, tz: ZoneInfo, calendar: Calendar) -> tuple[Line, ...]:
    """Return the limits on repetitions at an instant."""
    found = calendar.covers(repeat.window, at, tz)
    return tuple([_line(CounterKey(repeat.scope, Unit.REPEATS, window), repeat.limit) for window in found])


def lowest(lines: Iterable[Line]) -> tuple[Line, ...]:
    """Return the limits without those on a counter that has a lower one."""
    found: dict[CounterKey, Line] = {}
    for line in lines:
        other = found.setdefault(line.counter, line)
        if line.limit < other.limit:
            found[line.counter] = line
    return tuple(found.values())


def _line(counter: CounterKey, limit: int) -> Line:
    return Line(counter, limit, _PLACES[counter.unit])


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
            queues=any(_refuses(budget, draw) and budget.queues for budget in budgets),
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


def _refuses(budget: Budget, draw: Draw) -> bool:
    window = draw.counter.window
    kind = None if window is None else window.kind
    return (budget.scope, budget.window, budget.usable.nanos) == (draw.counter.scope, kind, draw.limit)


_RATE_UNITS: dict[Unit, Literal["requests", "tokens", "concurrent"]] = {
    Unit.REQUESTS: "requests",
    Unit.TOKENS: "tokens",
    Unit.CONCURRENT: "concurrent",
}
_PLACES: Final = {unit: place for place, unit in enumerate(Unit)}
