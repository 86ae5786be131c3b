"""Where a budget will end."""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance.limits import Standing
from governance.limits.forecast import by_weekday, linear, outlook
from governance.money import ZERO, Nanodollars
from governance.windows import Rolling, Span, WindowKind, window
from tests.support.requests import usd

TZ = ZoneInfo("Europe/London")


def at(text: str) -> datetime:
    return datetime.fromisoformat(text)


def standing(span: Span, spent: str = "10", limit: str = "100") -> Standing:
    return Standing("org", span, usd(limit), usd(spent), ZERO, usd("90"), at("2026-12-01T00:00Z"))


def weekdays(until: date, cost: str) -> list[tuple[date, Nanodollars]]:
    days = [until - timedelta(days=n) for n in range(28, 0, -1)]
    return [(day, usd(cost) if day.weekday() < 5 else ZERO) for day in days]


def test_a_straight_line_ends_where_the_rate_so_far_leads() -> None:
    day = window(WindowKind.DAY, at("2026-11-30T06:00Z"), TZ)
    found = linear(usd("2"), usd("5"), day, at("2026-11-30T06:00Z"))
    assert (found.amount, found.runs_out_at) == (usd("8"), at("2026-11-30T15:00Z"))
    assert linear(usd("2"), usd("9"), day, at("2026-11-30T06:00Z")).runs_out_at is None


def test_what_has_run_out_runs_out_now_and_what_has_not_begun_never() -> None:
    day, noon = window(WindowKind.DAY, at("2026-11-30T12:00Z"), TZ), at("2026-11-30T12:00Z")
    assert linear(usd("5"), usd("5"), day, noon).runs_out_at == noon
    assert linear(ZERO, usd("5"), day, noon) == linear(usd("0"), usd("1"), day, day.start)


def test_weekends_cost_what_weekends_cost() -> None:
    # Friday evening: the week has two free days to come.
    friday = at("2026-11-27T18:00Z")
    week = window(WindowKind.WEEK, friday, TZ)
    found = by_weekday(usd("47.50"), usd("48"), week, friday, TZ, weekdays(friday.date(), "10"))
    assert found.amount == usd("50")
    assert found.runs_out_at == at("2026-11-27T19:12Z")


def test_the_day_on_which_it_runs_out_may_be_next_month_and_then_it_does_not() -> None:
    noon = at("2026-11-26T12:00Z")
    month = window(WindowKind.MONTH, noon, TZ)
    found = by_weekday(usd("100"), usd("200"), month, noon, TZ, weekdays(noon.date(), "10"))
    assert (found.amount, found.runs_out_at) == (usd("125"), None)


@pytest.mark.parametrize(
    ("midnight", "end"),
    [("2026-03-28T00:00Z", "140"), ("2026-10-23T23:00Z", "180"), ("2028-02-26T00:00Z", "140")],
)
def test_a_day_of_23_or_25_hours_and_a_leap_day_cost_a_day_each(midnight: str, end: str) -> None:
    now = at(midnight)
    month = window(WindowKind.MONTH, now, TZ)
    days = [(now.astimezone(TZ).date() - timedelta(days=n), usd("10")) for n in range(28, 0, -1)]
    assert by_weekday(usd("100"), usd("500"), month, now, TZ, days).amount == usd(end)


def test_history_decides_how_and_a_rolling_window_has_no_end() -> None:
    noon = at("2026-11-26T12:00Z")
    days = weekdays(noon.date(), "10")
    straight, seasonal = (outlook(standing(WindowKind.MONTH), known, noon, TZ) for known in (days[:13], days))
    assert straight is not None
    assert seasonal is not None
    assert (straight.weekday, straight.best.by, seasonal.best.by) == (None, "linear", "weekday")
    assert (seasonal.linear, seasonal.best) == (straight.linear, seasonal.weekday)
    day = outlook(standing(WindowKind.DAY), days, noon, TZ)
    assert day is not None
    assert day.weekday is None
    assert outlook(standing(Rolling(86_400)), days, noon, TZ) is None


@given(st.datetimes(datetime(2026, 1, 1), datetime(2028, 12, 31), timezones=st.just(UTC)), st.integers(0, 10**12))  # noqa: DTZ001
def test_a_forecast_is_never_below_what_was_spent(now: datetime, spent: int) -> None:
    found = window(WindowKind.MONTH, now, TZ)
    days = weekdays(now.date(), "3")
    seasonal = by_weekday(Nanodollars(spent), usd("500"), found, now, TZ, days)
    straight = linear(Nanodollars(spent), usd("500"), found, now)
    assert min(seasonal.amount, straight.amount) >= Nanodollars(spent)
    for out in (seasonal.runs_out_at, straight.runs_out_at):
        assert out is None or now <= out <= found.end
