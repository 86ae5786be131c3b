"""Off-peak windows: the hours of the day in which work that may wait is done, by the clock on the wall.

A window is open whenever the wall shows a time within it, so it is an hour longer or shorter where the clocks change.
"""

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Self
from zoneinfo import ZoneInfo

_DAYS = 3
"""Days to look for an opening: a window may lie within the hour that the clocks skip, and never open on that day."""


@dataclass(frozen=True, slots=True)
class OffPeak:
    """The time from `start` (which belongs to it) to `end`, perhaps over midnight; all day when they are the same."""

    start: time
    end: time

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `22:00-06:00`.

        Raises:
            ValueError: The text is no window.
        """
        start, _, end = text.partition("-")
        return cls(time.fromisoformat(start), time.fromisoformat(end))

    def is_open(self, at: datetime, tz: ZoneInfo) -> bool:
        """Say whether the window is open at an aware instant."""
        wall = at.astimezone(tz).time()
        if self.start < self.end:
            return self.start <= wall < self.end
        return self.start == self.end or wall >= self.start or wall < self.end

    def opens(self, at: datetime, tz: ZoneInfo) -> datetime:
        """Return the first instant from `at` on at which the window is open, in UTC."""
        if self.is_open(at, tz):
            return at.astimezone(UTC)
        today = at.astimezone(tz).date()
        openings = (self._start(today + timedelta(days=day), tz) for day in range(_DAYS + 1))
        return next(start for start in openings if start > at and self.is_open(start, tz))

    def _start(self, day: date, tz: ZoneInfo) -> datetime:
        return datetime.combine(day, self.start, tzinfo=tz).astimezone(UTC)
