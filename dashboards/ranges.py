"""The spans of time a page can show, cut into columns at the edges of local hours or days."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from itertools import pairwise
from types import MappingProxyType

from dashboards.charts import Column

DEFAULT = "today"
_DAYS: Mapping[str, int] = MappingProxyType({"today": 1, "7d": 7, "30d": 30})
_COMPARED: Mapping[str, str] = MappingProxyType(
    {"today": "yesterday by now", "7d": "the week before", "30d": "the 30 days before"}
)
NAMES: Mapping[str, str] = MappingProxyType({"today": "Today", "7d": "7 days", "30d": "30 days"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Range:
    """A span that ends now, with the span of the same length before it to compare with; all instants are in UTC.

    Attributes:
        key: how a URL names it.
        since: where it begins, a local midnight.
        until: now.
        before: where the span it is compared with begins; that one ends as far into its last day as this one.
        before_until: where that span ends.
        edges: the instants between columns, one more than there are columns; the last may lie ahead.
        columns: their labels, in order.
    """

    key: str
    since: datetime
    until: datetime
    before: datetime
    before_until: datetime
    edges: tuple[datetime, ...]
    columns: tuple[Column, ...]

    @property
    def compared(self) -> str:
        """What the earlier span is called."""
        return _COMPARED[self.key]

    @property
    def when_compared(self) -> str:
        """When the earlier span was."""
        return self.compared if self.key == "today" else f"in {self.compared}"


def range_of(key: str | None, now: datetime) -> Range:
    """Return the span a URL asks for, or the default for one it does not know.

    Args:
        key: `today`, `7d` or `30d`.
        now: an aware time in the zone whose days and hours count.
    """
    known = key if key and key in _DAYS else DEFAULT
    days = _DAYS[known]
    edges = _hours(now) if known == "today" else tuple(_midnight(now, n) for n in range(1 - days, 2))
    return Range(
        key=known,
        since=edges[0],
        until=now.astimezone(UTC),
        before=_midnight(now, 1 - 2 * days),
        before_until=(now - timedelta(days=days)).astimezone(UTC),
        edges=edges,
        columns=tuple(
            _hour(start, end, now) if known == "today" else _day(start, now) for start, end in pairwise(edges)
        ),
    )


def _midnight(now: datetime, days: int) -> datetime:
    """Return the start of a local day; where clocks skip midnight, that is the instant they skip it."""
    return datetime.combine(now.date() + timedelta(days=days), time(), now.tzinfo).astimezone(UTC)


def _hours(now: datetime) -> tuple[datetime, ...]:
    """Cut the local day into hours that pass: 23 or 25 of them where clocks change."""
    start, end = _midnight(now, 0), _midnight(now, 1)
    count = -((start - end) // timedelta(hours=1))
    return tuple(min(start + timedelta(hours=n), end) for n in range(count + 1))


def _hour(start: datetime, end: datetime, now: datetime) -> Column:
    first, last = start.astimezone(now.tzinfo), end.astimezone(now.tzinfo)
    current = start <= now.astimezone(UTC) < end  # compared as instants: a local hour may come twice
    return Column(label=f"{first:%H:%M}", title=f"{first:%H:%M} to {last:%H:%M}", current=current)


def _day(start: datetime, now: datetime) -> Column:
    day = start.astimezone(now.tzinfo)
    if day.date() == now.date():
        return Column(label="Today", title="Today so far", current=True)
    return Column(label=f"{day.day} {day:%b}", title=f"{day:%a} {day.day} {day:%b}")
