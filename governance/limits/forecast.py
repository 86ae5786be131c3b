"""Forecasts: what a budget's window will have cost when it ends, and when the budget will have run out.

`linear` goes on as the window began: it needs nothing but the window. `by_weekday` knows that offices are closed at
weekends: every day to come costs what that weekday cost on average over the last weeks. Both are pure.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from statistics import mean
from typing import Final, Literal
from zoneinfo import ZoneInfo

from governance.limits import Standing
from governance.money import Nanodollars
from governance.windows import Window, WindowKind, window

WEEKS: Final = 4
"""How far back the weekdays are looked at."""

LONG: Final = frozenset({WindowKind.WEEK, WindowKind.MONTH, WindowKind.QUARTER})
"""The windows in which weekdays count."""

_ENOUGH_DAYS: Final = 14


@dataclass(frozen=True, slots=True)
class Forecast:
    """What a window will come to.

    Attributes:
        amount: What will have been spent at its end, if nothing stops it.
        runs_out_at: When the limit will be reached; None when it will not be within the window.
        by: How this was found.
    """

    amount: Nanodollars
    runs_out_at: datetime | None
    by: Literal["linear", "weekday"]


@dataclass(frozen=True, slots=True)
class Outlook:
    """Where a budget's window will end, found in both ways; `weekday` is None where history or window are too short."""

    linear: Forecast
    weekday: Forecast | None

    @property
    def best(self) -> Forecast:
        """The forecast to go by: the weekdays know more."""
        return self.weekday or self.linear


def outlook(standing: Standing, days: Sequence[tuple[date, Nanodollars]], at: datetime, tz: ZoneInfo) -> Outlook | None:
    """Look ahead from where a budget stands: in a straight line, and by the weekdays where there is history enough.

    Args:
        standing: The budget. A rolling window has no end, so nothing is foretold of it.
        days: What each day before today cost, with the days of no cost from the first that had one.
        at: Now.
        tz: The zone of the budget's calendar.
    """
    if not isinstance(standing.window, WindowKind):
        return None
    found = window(standing.window, at, tz)
    seasonal = standing.window in LONG and len(days) >= _ENOUGH_DAYS
    return Outlook(
        linear=linear(standing.settled, standing.limit, found, at),
        weekday=by_weekday(standing.settled, standing.limit, found, at, tz, days) if seasonal else None,
    )


def linear(spent: Nanodollars, limit: Nanodollars, within: Window, at: datetime) -> Forecast:
    """Go on spending at the window's average rate so far."""
    elapsed, length = at - within.start, within.end - within.start
    if spent.nanos <= 0 or elapsed <= timedelta():
        return Forecast(spent, None, "linear")
    amount = spent.nanos * _micros(length) // _micros(elapsed)
    runs_out = at if spent >= limit else None
    if runs_out is None and amount >= limit.nanos:
        # Rounded up, so that it is never before now.
        runs_out = within.start + timedelta(microseconds=-(-_micros(elapsed) * limit.nanos // spent.nanos))
    return Forecast(Nanodollars(amount), runs_out, "linear")


def by_weekday(
    spent: Nanodollars,
    limit: Nanodollars,
    within: Window,
    at: datetime,
    tz: ZoneInfo,
    days: Sequence[tuple[date, Nanodollars]],
) -> Forecast:
    """Spend on each day to come what its weekday cost on average; of today, the part of the day that is left."""
    usual = _usual(days)
    total, runs_out = spent.nanos, at if spent >= limit else None
    for start, end, length in _days_left(at, within.end, tz):
        cost = usual[start.astimezone(tz).weekday()] * _micros(end - start) // length
        if runs_out is None and total + cost >= limit.nanos:
            runs_out = start + timedelta(microseconds=_micros(end - start) * (limit.nanos - total) // cost)
        total += cost
    return Forecast(Nanodollars(total), runs_out, "weekday")


def _usual(days: Sequence[tuple[date, Nanodollars]]) -> Mapping[int, int]:
    """Return what each weekday costs; one that never came costs what days cost."""
    by_day = {weekday: [cost.nanos for day, cost in days if day.weekday() == weekday] for weekday in range(7)}
    overall = [cost.nanos for _, cost in days] or [0]
    return {weekday: round(mean(costs or overall)) for weekday, costs in by_day.items()}


def _days_left(at: datetime, until: datetime, tz: ZoneInfo) -> Iterator[tuple[datetime, datetime, int]]:
    """Yield what is left of each local day, and how long the whole day is in microseconds."""
    start = at.astimezone(UTC)
    while start < until:
        day = window(WindowKind.DAY, start, tz)
        yield start, min(day.end, until), _micros(day.end - day.start)
        start = day.end


def _micros(span: timedelta) -> int:
    return span // timedelta(microseconds=1)
