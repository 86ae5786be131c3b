"""Levels that are told along the way, and asked for only when they are old."""

from datetime import timedelta

from governance.counters import CounterKey, Level, Unit
from governance.counters.memory import MemoryCounters
from governance.limits import Budget
from governance.limits.levels import SeenLevels
from governance.limits.plans import Shown
from governance.money import Nanodollars
from governance.windows import Window, WindowKind
from tests.support.requests import NOON

ORG = CounterKey("org", Unit.SPEND, Window(WindowKind.DAY, NOON, NOON + timedelta(days=1)))

SHOWN = Shown(1, ORG, 10, overrun=False, budget=Budget("org", Nanodollars(10), WindowKind.DAY))


async def test_a_level_is_asked_for_when_it_is_too_old() -> None:
    counters = MemoryCounters()
    seen = SeenLevels(counters, fresh_s=1.0)
    seen.note([SHOWN], [Level(0, 0), Level(7, 0)], 100.0)
    await counters.seed(ORG, 9)

    assert await seen.levels([ORG], 101.0) == (Level(7, 0),)
    assert await seen.levels([ORG], 101.1) == (Level(9, 0),)
    assert await seen.levels([ORG], 99.0) == (Level(9, 0),)


async def test_nothing_is_remembered_where_asking_is_free() -> None:
    counters = MemoryCounters()
    seen = SeenLevels(counters, fresh_s=0.0)
    seen.note([SHOWN], [Level(0, 0), Level(7, 0)], 100.0)

    assert await seen.levels([ORG], 100.0) == (Level(0, 0),)
