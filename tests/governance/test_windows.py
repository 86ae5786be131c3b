"""Windows tile time, on calendars where it is hard."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from governance.windows import Calendar, WindowKind, window

# Whole-hour, half-hour and quarter-hour zones, changes at midnight, a skipped day, a half-hour summer.
ZONES = [
    ZoneInfo(name)
    for name in (
        "UTC",
        "Europe/London",
        "America/New_York",
        "America/St_Johns",
        "America/Toronto",
        "America/Havana",
        "America/Sao_Paulo",
        "Asia/Beirut",
        "Asia/Kathmandu",
        "Africa/Cairo",
        "Australia/Lord_Howe",
        "Pacific/Apia",
        "Antarctica/Troll",
    )
]
instants = st.datetimes(datetime(1905, 1, 1), datetime(2060, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001
kinds = st.sampled_from(WindowKind)
zones = st.sampled_from(ZONES)


def at(text: str) -> datetime:
    return datetime.fromisoformat(text)


@given(kinds, instants, zones)
@example(WindowKind.DAY, at("2006-10-29T03:00:00Z"), ZoneInfo("America/St_Johns"))
@example(WindowKind.DAY, at("1919-03-31T04:35:00Z"), ZoneInfo("America/Toronto"))
@example(WindowKind.DAY, at("2011-12-30T10:00:00Z"), ZoneInfo("Pacific/Apia"))
@example(WindowKind.HOUR, at("2026-04-04T15:10:00Z"), ZoneInfo("Australia/Lord_Howe"))
def test_a_window_contains_its_instant(kind: WindowKind, instant: datetime, tz: ZoneInfo) -> None:
    found = window(kind, instant, tz)
    assert found.start <= instant < found.end


@given(kinds, instants, zones)
@example(WindowKind.DAY, at("2006-10-29T02:40:00Z"), ZoneInfo("America/St_Johns"))
@example(WindowKind.HOUR, at("2026-04-04T14:55:00Z"), ZoneInfo("Australia/Lord_Howe"))
@example(WindowKind.HOUR, at("1944-01-01T06:44:25Z"), ZoneInfo("America/Phoenix"))
def test_adjacent_windows_tile_time(kind: WindowKind, instant: datetime, tz: ZoneInfo) -> None:
    found = window(kind, instant, tz)
    assert window(kind, found.end, tz).start == found.end
    assert window(kind, found.start - timedelta.resolution, tz).end == found.start


@given(kinds, instants, zones, st.integers(0, 999_999))
def test_every_instant_of_a_window_finds_the_same_window(
    kind: WindowKind, instant: datetime, tz: ZoneInfo, millionths: int
) -> None:
    found = window(kind, instant, tz)
    assert window(kind, found.start + (found.end - found.start) * millionths / 1_000_000, tz) == found


@given(kinds, st.lists(st.tuples(instants, zones), max_size=8))
def test_a_calendar_remembers_only_what_is_right(kind: WindowKind, asked: list[tuple[datetime, ZoneInfo]]) -> None:
    calendar = Calendar()
    for instant, tz in asked:
        assert calendar.window(kind, instant, tz) == window(kind, instant, tz)


@pytest.mark.parametrize(
    ("kind", "instant", "zone", "start", "end"),
    [
        ("minute", "2026-11-29T12:34:56Z", "UTC", "2026-11-29T12:34:00Z", "2026-11-29T12:35:00Z"),
        (
            "hour",
            "2026-11-29T12:34:56Z",
            "Asia/Kathmandu",
            "2026-11-29T12:15:00Z",
            "2026-11-29T13:15:00Z",
        ),
        (
            "day",
            "2026-11-29T12:00:00Z",
            "America/New_York",
            "2026-11-29T05:00:00Z",
            "2026-11-30T05:00:00Z",
        ),
        ("week", "2026-11-29T12:00:00Z", "UTC", "2026-11-23T00:00:00Z", "2026-11-30T00:00:00Z"),
        ("month", "2028-02-29T12:00:00Z", "UTC", "2028-02-01T00:00:00Z", "2028-03-01T00:00:00Z"),
        ("month", "2026-12-31T23:59:59Z", "UTC", "2026-12-01T00:00:00Z", "2027-01-01T00:00:00Z"),
        ("quarter", "2026-11-29T12:00:00Z", "UTC", "2026-10-01T00:00:00Z", "2027-01-01T00:00:00Z"),
        # Summer time in London: the month starts in one offset and ends in the other.
        (
            "month",
            "2026-10-05T12:00:00Z",
            "Europe/London",
            "2026-09-30T23:00:00Z",
            "2026-11-01T00:00:00Z",
        ),
        # Days of 23 and 25 hours.
        ("day", "2026-03-29T12:00:00Z", "Europe/London", "2026-03-29T00:00:00Z", "2026-03-29T23:00:00Z"),
        ("day", "2026-10-25T12:00:00Z", "Europe/London", "2026-10-24T23:00:00Z", "2026-10-26T00:00:00Z"),
        # Midnight does not exist: the day starts at one o'clock.
        ("day", "2026-04-24T12:00:00Z", "Africa/Cairo", "2026-04-23T22:00:00Z", "2026-04-24T21:00:00Z"),
        # Midnight comes twice: the first one counts.
        (
            "day",
            "2026-11-01T12:00:00Z",
            "America/Havana",
            "2026-11-01T04:00:00Z",
            "2026-11-02T05:00:00Z",
        ),
        # One o'clock comes twice: two windows.
        (
            "hour",
            "2026-10-25T00:30:00Z",
            "Europe/London",
            "2026-10-25T00:00:00Z",
            "2026-10-25T01:00:00Z",
        ),
        (
            "hour",
            "2026-10-25T01:30:00Z",
            "Europe/London",
            "2026-10-25T01:00:00Z",
            "2026-10-25T02:00:00Z",
        ),
    ],
)
def test_windows_follow_the_local_calendar(kind: str, instant: str, zone: str, start: str, end: str) -> None:
    found = window(WindowKind(kind), at(instant), ZoneInfo(zone))
    assert (found.start, found.end) == (at(start), at(end))


def test_an_instant_of_another_zone_is_the_same_instant() -> None:
    local = at("2026-11-29T23:30:00-05:00")
    assert window(WindowKind.DAY, local, ZoneInfo("UTC")).start == at("2026-11-30T00:00:00Z")
