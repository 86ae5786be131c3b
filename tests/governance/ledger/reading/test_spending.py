"""What counters and forecasts are told of the ledger."""

from datetime import timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from governance.counters import CounterKey, Unit
from governance.database import Database
from governance.ledger.events import EventKind, LedgerEvent
from governance.ledger.reading.history import DailySpend
from governance.ledger.reading.spending import spent_by_counter, spent_by_value, spent_over
from governance.ledger.writer import LedgerWriter
from governance.limits import Budget
from governance.money import ZERO
from governance.windows import Calendar, Rolling, WindowKind, window
from tests.support.databases import fresh_database
from tests.support.requests import NOON, opening, usd

pytestmark = pytest.mark.usefixtures("any_database")

TZ = ZoneInfo("Europe/London")
DAY = timedelta(days=1)


async def write(database: Database, spool: Path, *costs: tuple[timedelta, str, str]) -> None:
    """Write what was spent so long before noon, by a session."""
    async with LedgerWriter(database, spool) as writer:
        for n, (before, cost, session) in enumerate(costs):
            asked = opening(f"r{n}", NOON - before, session=session)
            writer.append(LedgerEvent(kind=EventKind.SETTLED, opening=asked, cost=usd(cost)))


async def test_every_cover_of_a_rolling_window_is_told_what_falls_into_it(tmp_path: Path) -> None:
    budget = Budget("org", usd("9"), Rolling(86_400))
    async with fresh_database(tmp_path) as database:
        await write(
            database,
            tmp_path / "spool",
            (timedelta(), "1", "s"),
            (timedelta(hours=13), "2", "s"),
            (timedelta(hours=40), "4", "s"),
        )
        told = [amount async for _, amount in spent_by_counter(database, [budget], NOON, TZ, Calendar())]

    assert told == [usd(amount) for amount in ("3", "3", "3", "1", "1", "1", "1")]


async def test_what_arrived_at_an_instant_or_later_can_be_left_out(tmp_path: Path) -> None:
    budgets = [Budget("org", usd("9"), WindowKind.DAY), Budget("org", usd("9"), WindowKind.DAY, each="session")]
    async with fresh_database(tmp_path) as database:
        await write(database, tmp_path / "spool", (timedelta(), "1", "a"), (timedelta(hours=1), "2", "a"))
        calendar = Calendar()
        told = {
            key: amount async for key, amount in spent_by_counter(database, budgets, NOON, TZ, calendar, before=NOON)
        }

    today = window(WindowKind.DAY, NOON, TZ)
    assert told == {
        CounterKey("org", Unit.SPEND, today): usd("2"),
        CounterKey("org?session=a", Unit.SPEND, today): usd("2"),
    }


async def test_a_budget_for_each_value_is_told_of_every_value_in_its_window(tmp_path: Path) -> None:
    budget = Budget("team:support", usd("9"), WindowKind.DAY, each="session")
    async with fresh_database(tmp_path) as database:
        await write(
            database,
            tmp_path / "spool",
            (timedelta(), "1", "a"),
            (timedelta(hours=1), "2", "a"),
            (timedelta(), "4", "b/c"),
            (timedelta(), "8", "unattributed"),
            (2 * DAY, "16", "a"),
        )
        told = {key: amount async for key, amount in spent_by_counter(database, [budget], NOON, TZ, Calendar())}

    today = window(WindowKind.DAY, NOON, TZ)
    assert told == {
        CounterKey("team:support?session=a", Unit.SPEND, today): usd("3"),
        CounterKey("team:support?session=b%2Fc", Unit.SPEND, today): usd("4"),
    }


async def test_days_begin_with_the_first_that_cost_something_and_leave_today_out(tmp_path: Path) -> None:
    async with fresh_database(tmp_path) as database:
        await write(
            database,
            tmp_path / "spool",
            (timedelta(), "1", "a"),
            (DAY, "2", "a"),
            (3 * DAY, "4", "a"),
            (40 * DAY, "8", "a"),
        )
        history = DailySpend(database, TZ)
        days = await history.days("org", NOON)
        assert await history.days("team:else", NOON) == ()
        assert await spent_over(database, "org", [NOON - 2 * DAY, NOON - DAY, NOON]) == (ZERO, usd("2"))

    assert days == tuple((NOON.date() - n * DAY, usd(cost)) for n, cost in ((3, "4"), (2, "0"), (1, "2")))
    assert await history.days("org", NOON + timedelta(hours=1)) == days


async def test_days_of_a_team_and_of_a_key_are_cut_at_the_same_instants(tmp_path: Path) -> None:
    half_past = timedelta(minutes=30)
    async with fresh_database(tmp_path) as database:
        spent = ((half_past, "1", "a"), (timedelta(hours=3), "2", "a"), (DAY + half_past, "4", "b"))
        await write(database, tmp_path / "spool", *spent)
        cuts = [NOON - 2 * DAY, NOON - DAY, NOON - 2 * half_past, NOON - half_past, NOON]
        by_scope = [await spent_over(database, scope, cuts) for scope in ("org", "team:support", "key:k1")]
        other = await spent_over(database, "app:support/other", cuts)

    assert by_scope == [(usd("4"), usd("2"), ZERO, usd("1"))] * 3
    assert other == (ZERO,) * 4


async def test_values_below_an_amount_are_left_out(tmp_path: Path) -> None:
    async with fresh_database(tmp_path) as database:
        spent = ((timedelta(), "1", "a"), (timedelta(), "2", "a"), (timedelta(), "2", "b"))
        await write(database, tmp_path / "spool", *spent)
        today = window(WindowKind.DAY, NOON, TZ)
        found = [one async for batch in spent_by_value(database, "org", "session", today, usd("3")) for one in batch]

    assert found == [("a", usd("3"))]
