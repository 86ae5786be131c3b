from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboards.ranges import range_of

LONDON = ZoneInfo("Europe/London")
ZONES = [LONDON, *map(ZoneInfo, ("America/New_York", "Asia/Kathmandu", "Africa/Cairo", "Asia/Beirut", "Pacific/Apia"))]
EPOCH = datetime(2020, 1, 1, tzinfo=UTC)


@given(
    st.integers(min_value=0, max_value=10 * 365 * 24 * 60),
    st.sampled_from(ZONES),
    st.sampled_from(["today", "7d", "30d"]),
)
def test_columns_tile_the_span_and_now_is_in_the_current_one(minutes: int, zone: ZoneInfo, key: str) -> None:
    now = (EPOCH + timedelta(minutes=minutes)).astimezone(zone)
    span = range_of(key, now)
    edges = span.edges
    assert list(edges) == sorted(set(edges))
    assert len(span.columns) == len(edges) - 1
    assert edges[0] == span.since
    current = [i for i, column in enumerate(span.columns) if column.current]
    assert len(current) == 1
    assert edges[current[0]] <= now.astimezone(UTC) < edges[current[0] + 1]
    assert span.before <= span.before_until <= span.since + timedelta(hours=1)


@pytest.mark.parametrize(
    ("now", "hours"),
    [
        (datetime(2026, 3, 29, 12, tzinfo=LONDON), 23),
        (datetime(2026, 10, 25, 1, 30, tzinfo=LONDON), 25),
        (datetime(2026, 10, 25, 1, 30, fold=1, tzinfo=LONDON), 25),
        (datetime(2026, 6, 1, tzinfo=LONDON), 24),
    ],
)
def test_a_day_on_which_clocks_change_has_its_true_number_of_hours(now: datetime, hours: int) -> None:
    columns = range_of("today", now).columns
    assert len(columns) == hours
    assert sum(column.current for column in columns) == 1


@pytest.mark.parametrize("key", [None, "", "1y", "TODAY", "30d'--"])
def test_what_is_not_known_is_today(key: str | None) -> None:
    assert range_of(key, datetime(2026, 6, 1, 9, tzinfo=LONDON)).key == "today"


def test_seven_days_end_today_and_are_compared_with_the_seven_before() -> None:
    span = range_of("7d", datetime(2026, 6, 10, 9, tzinfo=LONDON))
    assert [c.label for c in span.columns] == ["4 Jun", "5 Jun", "6 Jun", "7 Jun", "8 Jun", "9 Jun", "Today"]
    assert span.before == datetime(2026, 5, 28, tzinfo=LONDON).astimezone(UTC)
    assert span.before_until == datetime(2026, 6, 3, 9, tzinfo=LONDON).astimezone(UTC)
