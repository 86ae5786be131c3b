"""Budget windows: stretches of the local calendar, as instants in UTC.

A window follows from an instant and a time zone alone. There is no reset job: a new window is a new counter.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from enum import StrEnum
from math import floor
from zoneinfo import ZoneInfo


class WindowKind(StrEnum):
    """How long a limit runs before it starts afresh."""

    MINUTE = "minute"
    HOUR = "hour"
    DAY = "day"
    WEEK = "week"
    MONTH = "month"
    QUARTER = "quarter"


@dataclass(frozen=True, slots=True)
class Window:
    """One stretch of time: `start` belongs to it, `end` to the next. Both are in UTC."""

    kind: WindowKind
    start: datetime
    end: datetime


def window(kind: WindowKind, at: datetime, tz: ZoneInfo) -> Window:
    """Find the window of a kind that an aware instant falls into, on the calendar of `tz`.

    Days, weeks (from Monday), months and quarters run from local midnight to local midnight, so that a day may last 23
    or 25 hours; where a change of the clocks skips midnight, from the first instant of the new day. Hours and minutes
    follow the clock on the wall; an hour that the clocks repeat is two windows.
    """
    at = at.astimezone(UTC)
    if kind in _FIRST_DAYS:
        return _calendar_window(kind, at, tz)
    return _clock_window(kind, at, tz, timedelta(hours=1) if kind is WindowKind.HOUR else timedelta(minutes=1))


class Calendar:
    """Remembers the last window of each kind and zone, because most requests fall into it."""

    def __init__(self) -> None:
        self._last: dict[tuple[WindowKind, ZoneInfo], Window] = {}

    def window(self, kind: WindowKind, at: datetime, tz: ZoneInfo) -> Window:
        """Find what `window` finds, mostly without computing it."""
        last = self._last.get((kind, tz))
        if last is None or not last.start <= at < last.end:
            last = self._last[kind, tz] = window(kind, at, tz)
        return last


_FIRST_DAYS: dict[WindowKind, Callable[[date], date]] = {
    WindowKind.DAY: lambda day: day,
    WindowKind.WEEK: lambda day: day - timedelta(days=day.weekday()),
    WindowKind.MONTH: lambda day: day.replace(day=1),
    WindowKind.QUARTER: lambda day: day.replace(month=day.month - (day.month - 1) % 3, day=1),
}
_LONGEST_DAYS = {WindowKind.DAY: 1, WindowKind.WEEK: 7, WindowKind.MONTH: 31, WindowKind.QUARTER: 92}


def _calendar_window(kind: WindowKind, at: datetime, tz: ZoneInfo) -> Window:
    first_of = _FIRST_DAYS[kind]
    first = first_of(at.astimezone(tz).date())
    following = first_of(first + timedelta(days=_LONGEST_DAYS[kind]))
    end = _midnight(following, tz)
    if at >= end:
        # The clocks went back over midnight: the wall shows yesterday again, but its window is over.
        first, following = following, first_of(following + timedelta(days=_LONGEST_DAYS[kind]))
        return Window(kind, end, _midnight(following, tz))
    return Window(kind, _midnight(first, tz), end)


def _midnight(day: date, tz: ZoneInfo) -> datetime:
    """The first instant at which the wall shows this day, or would if the clocks had not skipped it."""
    wall = datetime.combine(day, time(), tzinfo=tz)
    instant = wall.astimezone(UTC)
    if instant.astimezone(tz).replace(tzinfo=None) == wall.replace(tzinfo=None):
        return instant
    return _change_of_clocks(wall.replace(fold=1).astimezone(UTC), instant, tz)


def _clock_window(kind: WindowKind, at: datetime, tz: ZoneInfo, length: timedelta) -> Window:
    offset = _offset(at, tz)
    since = (at + offset - datetime.min.replace(tzinfo=UTC)) % length
    start, end = at - since, at - since + length
    if _offset(start, tz) != offset:
        start = _change_of_clocks(start, at, tz)
    if _offset(end - timedelta.resolution, tz) != offset:
        end = _change_of_clocks(at, end, tz)
    return Window(kind, start, end)


def _change_of_clocks(before: datetime, after: datetime, tz: ZoneInfo) -> datetime:
    """The whole second in (before, after] at which the offset becomes what it is at `after`."""
    offset = _offset(after, tz)
    low, high = floor(before.timestamp()), floor(after.timestamp())
    while high - low > 1:
        middle = (low + high) // 2
        if _offset(datetime.fromtimestamp(middle, UTC), tz) == offset:
            high = middle
        else:
            low = middle
    return datetime.fromtimestamp(high, UTC)


def _offset(at: datetime, tz: ZoneInfo) -> timedelta:
    return at.astimezone(tz).utcoffset() or timedelta()
