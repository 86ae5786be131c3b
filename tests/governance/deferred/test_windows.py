"""Off-peak windows, over midnight and over changes of the clocks."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance.deferred.windows import OffPeak

LONDON = ZoneInfo("Europe/London")
NIGHT = OffPeak.parse("22:00-06:00")


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=LONDON)


@pytest.mark.parametrize(
    ("instant", "is_open"),
    [
        ("2026-11-29T21:59:59", False),
        ("2026-11-29T22:00", True),
        ("2026-11-30T05:59:59", True),
        ("2026-11-30T06:00", False),
    ],
)
def test_a_window_over_midnight_is_open_from_its_start_until_its_end(instant: str, is_open: bool) -> None:
    assert NIGHT.is_open(at(instant), LONDON) is is_open


def test_a_window_that_is_closed_opens_the_same_evening() -> None:
    assert NIGHT.opens(at("2026-11-30T12:00"), LONDON) == datetime(2026, 11, 30, 22, tzinfo=UTC)
    assert NIGHT.opens(at("2026-07-01T12:00"), LONDON) == datetime(2026, 7, 1, 21, tzinfo=UTC)


def test_a_window_is_as_long_as_the_night_that_the_clocks_make() -> None:
    def hours(first: str) -> int:
        start = at(first).astimezone(UTC)
        return sum(NIGHT.is_open(start + timedelta(hours=n), LONDON) for n in range(24))

    assert (hours("2026-03-28T12:00"), hours("2026-10-24T12:00"), hours("2026-11-28T12:00")) == (7, 9, 8)


def test_a_window_within_the_hour_that_the_clocks_skip_opens_a_day_later() -> None:
    skipped = OffPeak.parse("01:10-01:20")
    assert skipped.opens(at("2026-03-29T00:30"), LONDON) == at("2026-03-30T01:10")


def test_a_window_that_starts_where_it_ends_never_closes() -> None:
    assert OffPeak.parse("08:00-08:00").is_open(at("2026-03-28T12:00"), LONDON)


TIMES = st.times().map(lambda t: t.replace(second=0, microsecond=0, tzinfo=None))
ZONES = st.sampled_from(["Europe/London", "America/Sao_Paulo", "Australia/Lord_Howe", "Africa/Cairo", "UTC"])


@given(
    st.builds(OffPeak, TIMES, TIMES),
    st.datetimes(datetime(2010, 1, 1), datetime(2037, 1, 1)),  # noqa: DTZ001  they are made aware below
    ZONES.map(ZoneInfo),
)
def test_a_window_opens_within_days_and_is_open_then(window: OffPeak, wall: datetime, zone: ZoneInfo) -> None:
    now = wall.replace(tzinfo=UTC)
    opening = window.opens(now, zone)
    assert now <= opening <= now + timedelta(days=3)
    assert window.is_open(opening, zone)
    assert opening == now or not window.is_open(now, zone)
