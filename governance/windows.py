"""Budget windows: stretches of the local calendar, or the last so many seconds, as instants in UTC.

A window follows from an instant and a time zone alone. There is no reset job: a new window is a new counter.

A rolling window has no boundaries that a counter could be named after, so it is covered by overlapping ones: time is
cut into parts of a fixed length, and a cover is as long as the rolling window and one part more. A request is counted
in every cover that its instant falls into. Wherever a stretch of the window's length lies, some cover contains it
whole; so limits that hold in every cover are never exceeded in any such stretch. The price is that what was spent is
remembered up to one part longer than it must be.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from enum import StrEnum
from math import floor
from typing import Final
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
class Rolling:
    """The last so many seconds, whenever they are asked for.

    Attributes:
        seconds: The length.
        parts: Into how many parts the length is cut: what is spent is remembered for up to 1/parts of it too long.
        name: What it is called where its length is beside the point.
    """

    seconds: int
    parts: int = 6
    name: str = ""

    @property
    def value(self) -> str:
        """What it is called, as `WindowKind.value` is: `7d`, `36h`, or its name."""
        return self.name or _duration(self.seconds)

    def __str__(self) -> str:
        return self.value


SESSION: Final = Rolling(7 * 86_400, parts=1, name="session")
"""The life of a session: counted as one for at least a week from each of its requests, and at most two."""

Span = WindowKind | Rolling
"""What a limit may run over."""


@dataclass(frozen=True, slots=True)
class Window:
    """One stretch of time: `start` belongs to it, `end` to the next. Both are in UTC.

    `text` names it among all windows of its scope.
    """

    kind: Span
    start: datetime
    end: datetime
    text: str = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Work its name out once, because every counter in it is named after it."""
        object.__setattr__(self, "text", f"{self.kind.value}|{self.start.timestamp():.6f}")


def covers(span: Span, at: datetime, tz: ZoneInfo) -> tuple[Window, ...]:
    """Find every window that counts what happens at an instant; the one that began first comes first.

    A calendar has one. Of a rolling window's covers the first holds all that has been spent since it began, the others
    what they will need to know when it is over; it ends when the oldest part of it need no longer be remembered.
    """
    if isinstance(span, WindowKind):
        return (window(span, at, tz),)
    # Microseconds, so that every length has parts of one size and their bounds are exact.
    part = timedelta(microseconds=-(-span.seconds * 1_000_000 // span.parts))
    length = part * (span.parts + 1)
    at = at.astimezone(UTC)
    last = at - (at - _EPOCH) % part
    starts = (last - part * back for back in range(span.parts, -1, -1))
    return tuple(Window(span, start, start + length) for start in starts)


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
    """Remembers the last windows of each span and zone, because most requests fall into them."""

    def __init__(self) -> None:
        self._last: dict[tuple[Span, ZoneInfo], tuple[datetime, datetime, tuple[Window, ...]]] = {}

    def covers(self, span: Span, at: datetime, tz: ZoneInfo) -> tuple[Window, ...]:
        """Find what `covers` finds, mostly without computing it."""
        last = self._last.get((span, tz))
        if last is None or not last[0] <= at < last[1]:
            found = covers(span, at, tz)
            last = self._last[span, tz] = (found[-1].start, found[0].end, found)
        return last[2]

    def window(self, span: Span, at: datetime, tz: ZoneInfo) -> Window:
        """Find the window that shows where a limit stands: the first of its covers."""
        return self.covers(span, at, tz)[0]


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
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


def _duration(seconds: int) -> str:
    unit, size = next((unit, size) for unit, size in _UNITS if seconds % size == 0)
    return f"{seconds // size}{unit}"


_UNITS = (("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1))
