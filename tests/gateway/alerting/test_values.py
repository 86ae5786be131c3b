"""Alerts of budgets for each value of a dimension: once for each value, step and window."""

import asyncio
from collections.abc import AsyncGenerator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from gateway.alerting import values
from governance.alerts.steps import Watch
from governance.errors import StoreUnavailable
from governance.ledger.events import EventKind, LedgerEvent
from governance.ledger.reading import endings
from governance.limits import Budget
from governance.money import Nanodollars
from governance.windows import SESSION, Rolling, WindowKind
from tests.support.databases import absent_database, fresh_database, write
from tests.support.requests import opening
from tests.support.watched_budgets import NOON, WatchedBudgets

LIMIT = Nanodollars(1000)
USERS = Watch(Budget("team:support", LIMIT, WindowKind.DAY, each="user"), (50, 100), "support")
SESSIONS = Watch(Budget("app:support/support-bot", LIMIT, SESSION, each="session"), (50, 100), "support")
SEGMENTS = Watch(Budget("org", LIMIT, Rolling(86_400), each="segment"), (50, 100), "")


@pytest.fixture
async def budgets(tmp_path: Path) -> AsyncGenerator[WatchedBudgets]:
    async with fresh_database(tmp_path) as database:
        yield WatchedBudgets(database, [USERS, SESSIONS, SEGMENTS])


async def test_each_value_fires_each_step_once_as_it_spends(budgets: WatchedBudgets) -> None:
    worker = budgets.worker()
    await worker.look()
    await budgets.spend(600, user="ada")
    await budgets.spend(300, user="bob", session="s/1", segment="free")
    await worker.look()
    await worker.look()
    assert await budgets.fired() == [("team:support?user=ada", 50)]
    await budgets.spend(400, user="ada")
    await budgets.spend(300, session="s/1", segment="free")
    await worker.look()
    assert await budgets.fired() == [
        ("app:support/support-bot?session=s%2F1", 50),
        ("org?segment=free", 50),
        ("team:support?user=ada", 50),
        ("team:support?user=ada", 100),
    ]


async def test_an_alert_names_the_dimension_and_its_value(budgets: WatchedBudgets) -> None:
    await budgets.spend(600, session="s/1")
    await budgets.worker().look()
    (alert,) = await budgets.alerts()
    assert (alert.dimension, alert.value, alert.window, alert.team) == ("session", "s/1", "session", "support")


async def test_values_that_spent_before_a_worker_began_are_found_once(budgets: WatchedBudgets) -> None:
    await budgets.spend(600, user="ada")
    for _ in range(2):
        worker = budgets.worker()
        await worker.look()
        await worker.look_back()
        await budgets.restart()
    assert await budgets.fired() == [("team:support?user=ada", 50)]


async def test_a_restart_between_two_steps_fires_the_second_alone(budgets: WatchedBudgets) -> None:
    worker = budgets.worker()
    await budgets.spend(600, user="ada")
    await worker.look()
    await budgets.restart()
    worker = budgets.worker()
    await worker.look()
    await budgets.spend(400, user="ada")
    await worker.look()
    assert await budgets.fired() == [("team:support?user=ada", 50), ("team:support?user=ada", 100)]


async def test_on_another_calendar_values_that_spent_before_are_found(budgets: WatchedBudgets) -> None:
    worker = budgets.worker()
    await budgets.spend(300, user="ada", at=NOON - timedelta(hours=13))
    await budgets.spend(300, user="ada")
    await worker.look()
    assert await budgets.fired() == []
    budgets.timezone = ZoneInfo("Asia/Tokyo")
    await worker.look()
    assert await budgets.fired() == [("team:support?user=ada", 50)]


@pytest.mark.usefixtures("any_database")
async def test_two_workers_on_one_database_fire_once(tmp_path: Path) -> None:
    async with fresh_database(tmp_path) as one, fresh_database(tmp_path) as another:
        budgets = WatchedBudgets(one, [USERS, SESSIONS, SEGMENTS])
        workers = [budgets.worker(), budgets.worker(another)]
        await budgets.spend(400, user="ada", segment="free")
        for _ in range(3):
            await budgets.spend(200, user="ada", segment="free")
            await asyncio.gather(*(worker.look() for worker in workers))
            await asyncio.gather(*(worker.look_back() for worker in workers))
        assert await budgets.fired() == [
            ("org?segment=free", 50),
            ("org?segment=free", 100),
            ("team:support?user=ada", 50),
            ("team:support?user=ada", 100),
        ]


async def test_a_value_that_rests_while_its_step_stays_reached_does_not_fire_again(budgets: WatchedBudgets) -> None:
    worker = budgets.worker()
    await worker.look()
    await budgets.spend(600, segment="free")
    for _ in range(6):
        await worker.look()
        budgets.now += timedelta(hours=4)
    await budgets.spend(10, segment="free")
    await worker.look()
    assert await budgets.fired() == [("org?segment=free", 50)]
    budgets.now += timedelta(hours=40)
    await budgets.spend(700, segment="free")
    await worker.look()
    assert await budgets.fired() == [("org?segment=free", 50)] * 2


async def test_a_budget_that_appears_is_surveyed_and_then_followed(budgets: WatchedBudgets) -> None:
    budgets.watches = [USERS]
    worker = budgets.worker()
    await worker.look()
    await budgets.spend(600, user="ada", segment="free")
    budgets.watches = [USERS, SEGMENTS]
    await budgets.restart()
    await worker.look()
    await budgets.spend(400, segment="free")
    await worker.look()
    assert await budgets.fired() == [("org?segment=free", 50), ("team:support?user=ada", 50)]


async def test_what_a_value_settles_after_the_end_of_its_window_is_counted_there(budgets: WatchedBudgets) -> None:
    worker = budgets.worker()
    await worker.look()
    budgets.now = datetime(2026, 11, 30, 0, 5, tzinfo=UTC)
    await budgets.spend(600, user="ada", at=datetime(2026, 11, 29, 23, 59, tzinfo=UTC))
    await worker.look()
    (alert,) = await budgets.alerts()
    assert alert.window_end == datetime(2026, 11, 30, tzinfo=UTC)


async def test_a_row_that_becomes_visible_late_is_found_by_the_second_reading(
    budgets: WatchedBudgets, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker = budgets.worker()
    await worker.look()
    await budgets.spend(600, user="ada")
    # As if the first reading had passed it by, because a later row was visible before it.
    first = worker._values._first
    assert first is not None
    first.after = 10_000
    await worker.look()
    assert await budgets.fired() == []
    await worker.look_back()
    await worker.look_back()
    assert await budgets.fired() == [("team:support?user=ada", 50)]


async def test_a_round_that_fails_reads_the_same_again(budgets: WatchedBudgets, tmp_path: Path) -> None:
    worker = budgets.worker()
    await worker.look()
    await budgets.spend(600, user="ada")
    async with absent_database(tmp_path) as away:
        worker._database = away
        with pytest.raises(StoreUnavailable):
            await worker.look()
        worker._database = budgets.database
    await worker.look()
    assert await budgets.fired() == [("team:support?user=ada", 50)]


async def test_more_values_than_fit_a_batch_all_fire(budgets: WatchedBudgets, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endings, "BATCH", 7)
    budgets.watches = [SEGMENTS]
    worker = budgets.worker()
    await worker.look()
    events = [
        LedgerEvent(kind=EventKind.SETTLED, opening=opening(f"x{n}", NOON, segment=f"s{n:02}"), cost=Nanodollars(500))
        for n in range(40)
    ]
    await write(budgets.database, *events)
    await budgets.restart()
    await worker.look()
    assert await budgets.fired() == []
    worker = budgets.worker()
    await worker.look()
    assert await budgets.fired() == [(f"org?segment=s{n:02}", 50) for n in range(40)]


@pytest.mark.parametrize(("day", "hours"), [("2026-03-29", 23), ("2026-10-25", 25), ("2026-10-31", 24)])
async def test_a_local_day_of_any_length_is_one_window(budgets: WatchedBudgets, day: str, hours: int) -> None:
    budgets.timezone = ZoneInfo("Europe/London")
    budgets.now = datetime.fromisoformat(day).replace(tzinfo=budgets.timezone).astimezone(UTC)
    worker = budgets.worker()
    for _ in range(hours):
        await budgets.spend(int(600 / hours) + 1, user="ada")
        await worker.look()
        budgets.now += timedelta(hours=1)
    assert await budgets.fired() == [("team:support?user=ada", 50)]
    await budgets.spend(600, user="ada")
    await worker.look()
    assert await budgets.fired() == [("team:support?user=ada", 50)] * 2


def test_the_second_reading_begins_far_enough_back() -> None:
    assert values.OUT_OF_ORDER >= endings.BATCH
