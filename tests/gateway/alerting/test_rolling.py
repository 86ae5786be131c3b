"""Alerts of rolling windows, which are never over: each step once, and again only after a part of rest."""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path
from random import Random
from zoneinfo import ZoneInfo

import pytest

from governance.alerts.steps import Watch
from governance.limits import Budget, Step, StepAction
from governance.money import Nanodollars
from governance.windows import Rolling, Window, covers
from tests.support.databases import fresh_database
from tests.support.watched_budgets import NOON, WatchedBudgets

DAY = Rolling(86_400)
PART = timedelta(hours=4)
# It may be overrun, so that tests can spend what they like.
BUDGET = Budget("team:support", Nanodollars(1000), DAY, steps=(Step(50, StepAction.ALERT),))
WATCH = Watch(BUDGET, (50, 100), "support")


@pytest.fixture
async def budgets(tmp_path: Path) -> AsyncGenerator[WatchedBudgets]:
    async with fresh_database(tmp_path) as database:
        yield WatchedBudgets(database, [WATCH])


async def percents(budgets: WatchedBudgets) -> list[int]:
    return [percent for _, percent in await budgets.fired()]


async def test_a_step_fires_once_while_it_stays_reached_however_long(budgets: WatchedBudgets) -> None:
    worker = budgets.worker()
    for _ in range(40):
        await budgets.spend(90)
        await worker.look()
        budgets.now += timedelta(hours=3)
    assert await percents(budgets) == [50]


async def test_a_step_fires_again_after_a_part_of_the_window_in_which_it_was_not_reached(
    budgets: WatchedBudgets,
) -> None:
    worker = budgets.worker()
    await budgets.spend(600)
    for _ in range(48):
        await worker.look()
        budgets.now += timedelta(hours=1)
    await budgets.spend(600)
    await worker.look()
    assert await percents(budgets) == [50, 50]
    first, second = await budgets.alerts()
    assert first.window_end <= second.window_start + timedelta(days=1)
    assert first.id != second.id


async def test_a_step_that_falls_and_is_reached_again_within_one_part_does_not_fire_again(
    budgets: WatchedBudgets,
) -> None:
    worker = budgets.worker()
    await budgets.spend(600)
    await worker.look()
    last_cover = covers(DAY, NOON, budgets.timezone)[-1]
    budgets.now = last_cover.end - timedelta(seconds=1)
    await worker.look()
    budgets.now = last_cover.end
    await worker.look()
    await budgets.spend(600)
    await worker.look()
    assert await percents(budgets) == [50]


async def test_a_step_that_stays_reached_over_a_restart_and_days_without_a_gateway_does_not_fire_again(
    budgets: WatchedBudgets,
) -> None:
    await budgets.spend(600)
    await budgets.worker().look()
    budgets.now += 5 * PART
    await budgets.restart()
    await budgets.worker().look()
    assert await percents(budgets) == [50]
    budgets.now += timedelta(days=7)
    await budgets.restart()
    await budgets.spend(600)
    await budgets.worker().look()
    assert await percents(budgets) == [50, 50]


async def test_a_step_that_was_reached_before_anyone_watched_fires(budgets: WatchedBudgets) -> None:
    await budgets.spend(600)
    budgets.now += 2 * PART
    await budgets.worker().look()
    assert await percents(budgets) == [50]


async def test_a_leap_and_a_slow_climb_fire_every_step_once(budgets: WatchedBudgets) -> None:
    worker = budgets.worker()
    await budgets.spend(1200)
    await worker.look()
    assert await percents(budgets) == [50, 100]
    # The 100 % fall first, while the half stays reached by what comes in; then the whole is reached again.
    for hours in range(1, 40):
        budgets.now = NOON + timedelta(hours=hours)
        if hours % 4 == 0:
            await budgets.spend(100)
        await worker.look()
    assert await percents(budgets) == [50, 100]
    await budgets.spend(1000)
    await worker.look()
    assert await percents(budgets) == [50, 100, 100]


@pytest.mark.parametrize("seed", range(6))
async def test_whatever_is_spent_a_step_fires_in_each_cover_that_reaches_it_after_one_that_does_not(
    budgets: WatchedBudgets, seed: int
) -> None:
    chance = Random(seed)
    of_users = Watch(replace(BUDGET, each="user"), (50,), "support")
    budgets.watches = [replace(WATCH, percents=(50,)), of_users]
    worker, spent = budgets.worker(), list[tuple[datetime, int]]()
    await worker.look()
    for _ in range(25):
        budgets.now += timedelta(hours=chance.choice([0.5, 1, 3, 5, 9, 20]))
        if chance.random() < 0.2:
            await budgets.restart()
            worker = budgets.worker()
        spent.append((budgets.now, chance.choice([20, 100, 300])))
        await budgets.spend(spent[-1][1], user="ada")
        await worker.look()

    def total(cover: Window) -> int:
        return sum(nanos for at, nanos in spent if cover.start <= at < cover.end)

    shown = {covers(DAY, NOON + PART * n, budgets.timezone)[0]: None for n in range(150)}
    fires = [cover.start for before, cover in pairwise(shown) if total(cover) >= 500 > total(before)]
    assert [alert.window_start for alert in await budgets.alerts() if not alert.dimension] == fires
    assert [alert.window_start for alert in await budgets.alerts() if alert.dimension] == fires


@pytest.mark.usefixtures("any_database")
async def test_two_workers_whose_clocks_differ_by_a_cover_fire_once(tmp_path: Path) -> None:
    async with fresh_database(tmp_path) as one, fresh_database(tmp_path) as another:
        budgets = WatchedBudgets(one, [WATCH])
        boundary = covers(DAY, NOON, budgets.timezone)[0].end
        budgets.now = boundary - timedelta(seconds=1)
        await budgets.spend(600)
        workers = [budgets.worker(), budgets.worker(another)]
        early, late = boundary - timedelta(milliseconds=1), boundary + timedelta(milliseconds=1)
        for worker, at in zip(workers, (early, late), strict=True):
            worker._now = lambda at=at: at
        await asyncio.gather(*(worker.look() for worker in workers * 3))
        assert await percents(budgets) == [50]


@pytest.mark.parametrize("day", ["2026-03-29T00:30Z", "2026-10-25T00:30Z", "2026-10-31T22:00Z", "2028-02-28T23:00Z"])
async def test_clocks_that_change_and_months_that_end_are_nothing_to_a_rolling_window(
    budgets: WatchedBudgets, day: str
) -> None:
    budgets.timezone, budgets.now = ZoneInfo("Europe/London"), datetime.fromisoformat(day)
    worker = budgets.worker()
    for _ in range(30):
        await budgets.spend(30)
        await worker.look()
        budgets.now += timedelta(hours=1)
    assert await percents(budgets) == [50]
