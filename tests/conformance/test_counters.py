"""One suite over every home of the counters."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from governance.counters import KEPT_S, CounterKey, Counters, Draw, Exhausted, Level, Unit
from governance.counters.memory import MemoryCounters
from governance.counters.redis import RedisCounters
from governance.windows import Rolling, Window, WindowKind, covers
from tests.support import homes

OpenHome = AbstractAsyncContextManager[Counters]

NOON = datetime(2026, 11, 29, 12, tzinfo=UTC)
NOW = NOON.timestamp()
DAY = Window(WindowKind.DAY, NOON - timedelta(hours=12), NOON + timedelta(hours=12))
NEXT_DAY = Window(WindowKind.DAY, DAY.end, DAY.end + timedelta(days=1))
MINUTE = Window(WindowKind.MINUTE, NOON, NOON + timedelta(minutes=1))

TEAM = CounterKey("team:a", Unit.SPEND, DAY)
APP = CounterKey("app:a/b", Unit.SPEND, DAY)
REQUESTS = CounterKey("team:a", Unit.REQUESTS, MINUTE)
RUNNING = CounterKey("team:a", Unit.CONCURRENT, None)


@pytest.fixture(params=homes.NAMES)
async def counters(request: pytest.FixtureRequest) -> AsyncGenerator[Counters]:
    async with homes.home(request.param, request) as counters:
        yield counters


async def level(counters: Counters, key: CounterKey) -> Level:
    (found,) = await counters.read([key])
    return found


async def test_a_counter_never_drawn_on_is_zero(counters: Counters) -> None:
    assert await level(counters, TEAM) == Level(0, 0)


async def test_a_hold_keeps_its_amount_on_every_counter(counters: Counters) -> None:
    held = await counters.hold("h", [Draw(TEAM, 30, 100), Draw(APP, 30, 50)], NOW + 60)
    assert held == (Level(0, 30), Level(0, 30))
    assert await counters.read([TEAM, APP]) == (Level(0, 30), Level(0, 30))


async def test_a_hold_may_use_a_limit_up_exactly(counters: Counters) -> None:
    assert await counters.hold("h", [Draw(TEAM, 100, 100)], NOW + 60) == (Level(0, 100),)
    assert isinstance(await counters.hold("i", [Draw(TEAM, 1, 100)], NOW + 60), Exhausted)


async def test_a_hold_over_one_limit_changes_nothing(counters: Counters) -> None:
    await counters.hold("h", [Draw(APP, 30, 50)], NOW + 60)
    refused = Draw(APP, 30, 50)
    assert await counters.hold("i", [Draw(TEAM, 30, 100), refused], NOW + 60) == Exhausted(refused, Level(0, 30))
    assert await counters.read([TEAM, APP]) == (Level(0, 0), Level(0, 30))
    assert await counters.settle("i", [1, 1]) is None


async def test_settling_counts_what_was_used_and_frees_the_rest(counters: Counters) -> None:
    await counters.hold("h", [Draw(TEAM, 30, 100), Draw(RUNNING, 1, 2)], NOW + 60)
    assert await counters.settle("h", [12, 0]) == (Level(12, 0), Level(0, 0))


async def test_settling_above_the_hold_counts_all_of_it(counters: Counters) -> None:
    await counters.hold("h", [Draw(TEAM, 30, 100)], NOW + 60)
    assert await counters.settle("h", [150]) == (Level(150, 0),)
    assert isinstance(await counters.hold("i", [Draw(TEAM, 0, 100)], NOW + 60), Exhausted)


@pytest.mark.parametrize("again", ["settle", "cancel"])
async def test_a_hold_ends_once(counters: Counters, again: str) -> None:
    await counters.hold("h", [Draw(TEAM, 30, 100)], NOW + 60)
    await counters.settle("h", [12])
    if again == "settle":
        assert await counters.settle("h", [12]) is None
    else:
        assert await counters.cancel("h") is False
    assert await level(counters, TEAM) == Level(12, 0)


async def test_a_hold_that_is_open_is_not_drawn_twice(counters: Counters) -> None:
    draws = [Draw(TEAM, 60, 100)]
    assert await counters.hold("h", draws, NOW + 60) == await counters.hold("h", draws, NOW + 60)
    assert await level(counters, TEAM) == Level(0, 60)


async def test_cancelling_leaves_no_trace(counters: Counters) -> None:
    await counters.hold("h", [Draw(TEAM, 30, 100), Draw(REQUESTS, 1, 1)], NOW + 60)
    assert await counters.cancel("h") is True
    assert await counters.read([TEAM, REQUESTS]) == (Level(0, 0), Level(0, 0))


async def test_ending_an_unknown_hold_is_harmless(counters: Counters) -> None:
    assert await counters.settle("nobody", [5]) is None
    assert await counters.cancel("nobody") is False
    assert await level(counters, TEAM) == Level(0, 0)


async def test_a_late_hold_expires_at_what_it_held_and_is_no_longer_in_flight(counters: Counters) -> None:
    draws = [Draw(TEAM, 30, 100), Draw(REQUESTS, 1, 9), Draw(RUNNING, 1, 2)]
    await counters.hold("late", draws, NOW + 10)
    await counters.hold("running", draws, NOW + 30)
    assert await counters.expire(NOW + 10) == ("late",)
    assert await counters.read([TEAM, REQUESTS, RUNNING]) == (Level(30, 30), Level(1, 1), Level(0, 1))
    assert await counters.settle("late", [1, 1, 0]) is None


async def test_a_hold_without_draws_still_ends_once(counters: Counters) -> None:
    assert await counters.hold("h", [], NOW + 60) == ()
    assert await counters.settle("h", []) == ()
    assert await counters.settle("h", []) is None


async def test_a_new_window_is_a_new_counter(counters: Counters) -> None:
    await counters.hold("h", [Draw(TEAM, 100, 100)], NOW + 60)
    tomorrow = CounterKey("team:a", Unit.SPEND, NEXT_DAY)
    assert await counters.hold("i", [Draw(tomorrow, 100, 100)], NOW + 60) == (Level(0, 100),)


async def test_a_hold_that_is_redrawn_keeps_its_lease_and_draws_only_what_it_is_told(counters: Counters) -> None:
    await counters.hold("h", [Draw(TEAM, 30, 100), Draw(REQUESTS, 1, 1)], NOW + 60)
    redrawn = await counters.redraw("h", [Draw(TEAM, 50, 100), Draw(APP, 50, 50), Draw(REQUESTS, 1, 1)])
    assert redrawn == (Level(0, 50), Level(0, 50), Level(0, 1))
    assert await counters.redraw("h", [Draw(APP, 20, 50)]) == (Level(0, 20),)
    assert await counters.read([TEAM, APP, REQUESTS]) == (Level(0, 0), Level(0, 20), Level(0, 0))
    assert await counters.expire(NOW + 60) == ("h",)
    assert await level(counters, APP) == Level(20, 0)


async def test_a_hold_is_redrawn_beside_what_others_hold_and_not_beside_itself(counters: Counters) -> None:
    await counters.hold("h", [Draw(TEAM, 60, 100)], NOW + 60)
    await counters.hold("i", [Draw(TEAM, 10, 100)], NOW + 60)
    assert await counters.redraw("h", [Draw(TEAM, 90, 100)]) == (Level(0, 100),)
    assert await counters.settle("h", [70]) == (Level(70, 10),)


async def test_a_redraw_that_does_not_fit_leaves_the_hold_as_it_was(counters: Counters) -> None:
    await counters.hold("h", [Draw(TEAM, 60, 100), Draw(RUNNING, 1, 1)], NOW + 60)
    await counters.hold("i", [Draw(APP, 30, 50)], NOW + 60)
    refused = Draw(APP, 21, 50)
    assert await counters.redraw("h", [Draw(TEAM, 21, 100), refused]) == Exhausted(refused, Level(0, 30))
    assert await counters.read([TEAM, APP, RUNNING]) == (Level(0, 60), Level(0, 30), Level(0, 1))
    assert await counters.settle("h", [10, 0]) == (Level(10, 0), Level(0, 0))


async def test_a_hold_that_has_ended_is_not_redrawn(counters: Counters) -> None:
    await counters.hold("h", [Draw(TEAM, 30, 100)], NOW + 60)
    await counters.settle("h", [12])
    assert await counters.redraw("h", [Draw(TEAM, 30, 100)]) is None
    assert await counters.redraw("nobody", [Draw(TEAM, 30, 100)]) is None
    assert await level(counters, TEAM) == Level(12, 0)


async def test_seeding_raises_to_what_the_ledger_knows_and_never_lowers(counters: Counters) -> None:
    for settled in (40, 40, 10):
        await counters.seed(TEAM, settled)
    assert await level(counters, TEAM) == Level(40, 0)


async def test_a_window_that_is_over_is_forgotten_but_not_while_a_hold_draws_on_it(counters: Counters) -> None:
    after = DAY.end.timestamp() + KEPT_S
    await counters.hold("done", [Draw(APP, 30, 100)], NOW + 60)
    await counters.settle("done", [30])
    await counters.hold("open", [Draw(TEAM, 30, 100)], after + 60)
    await counters.expire(after)
    assert await level(counters, TEAM) == Level(0, 30)
    assert await counters.settle("open", [7]) == (Level(7, 0),)
    if not isinstance(counters, RedisCounters):  # there, windows go away by themselves
        assert await level(counters, APP) == Level(0, 0)


async def test_the_covers_of_a_short_rolling_window_are_counted_apart(counters: Counters) -> None:
    keys = [CounterKey("org", Unit.SPEND, cover) for cover in covers(Rolling(1), NOON, ZoneInfo("UTC"))]
    for amount, key in enumerate(keys, 1):
        await counters.seed(key, amount)
    assert [found.settled for found in await counters.read(keys)] == [1, 2, 3, 4, 5, 6, 7]


async def test_ten_million_dollars_are_counted_to_the_nano_dollar(counters: Counters) -> None:
    limit = 10_000_000 * 10**9 + 1
    assert await counters.hold("h", [Draw(TEAM, limit - 1, limit)], NOW + 60) == (Level(0, limit - 1),)
    assert await counters.hold("i", [Draw(TEAM, 2, limit)], NOW + 60) == Exhausted(
        Draw(TEAM, 2, limit), Level(0, limit - 1)
    )
    assert await counters.hold("j", [Draw(TEAM, 1, limit)], NOW + 60) == (Level(0, limit),)
    assert await counters.settle("h", [limit - 2]) == (Level(limit - 2, 1),)
    assert await counters.hold("k", [Draw(TEAM, 1, limit)], NOW + 60) == (Level(limit - 2, 2),)
    most = 2**63 - 1
    await counters.seed(APP, most - 1)
    assert isinstance(await counters.hold("l", [Draw(APP, 2, most)], NOW + 60), Exhausted)
    assert await counters.hold("m", [Draw(APP, 1, most)], NOW + 60) == (Level(most - 1, 1),)


async def test_a_clock_that_steps_back_does_not_open_a_spent_window_afresh(counters: Counters) -> None:
    await counters.hold("spent", [Draw(APP, 90, 100)], NOW + 60)
    await counters.settle("spent", [90])
    await counters.expire(DAY.end.timestamp() + 1)
    assert isinstance(await counters.hold("again", [Draw(APP, 30, 100)], NOW + 60), Exhausted)


async def test_two_hundred_holders_at_once_never_pass_an_exact_cap(counters: Counters) -> None:
    cap, each = 7_000, 100
    admitted: list[str] = []

    async def holder(name: str) -> None:
        held = await counters.hold(name, [Draw(TEAM, each, cap), Draw(RUNNING, 1, 1_000)], NOW + 60)
        await anyio.lowlevel.checkpoint()
        if isinstance(held, Exhausted):
            return
        admitted.append(name)
        found = await level(counters, TEAM)
        assert found.settled + found.held <= cap
        await anyio.lowlevel.checkpoint()
        await counters.settle(name, [each, 0])

    async with anyio.create_task_group() as group:
        for number in range(200):
            group.start_soon(holder, f"h{number}")
    assert len(admitted) == cap // each
    assert await counters.read([TEAM, RUNNING]) == (Level(cap, 0), Level(0, 0))


amounts = st.integers(0, 60)
holds = st.integers(0, 7).map(lambda number: f"h{number}")


@dataclass
class OpenHold:
    """What the model knows of a hold: its draws and its lease."""

    draws: list[Draw]
    expires_at: float


class CountersMachine(RuleBasedStateMachine):
    """Any order of holds and ends, against the plainest model: two numbers for each counter."""

    LIMITS = {TEAM: 100, APP: 60, RUNNING: 3}  # noqa: RUF012  a constant of the machine

    def __init__(self, loop: asyncio.AbstractEventLoop, open_home: Callable[[], OpenHome]) -> None:
        super().__init__()
        self.loop = loop
        self.home = open_home()
        self.counters = loop.run_until_complete(self.home.__aenter__())
        self.settled = dict.fromkeys(self.LIMITS, 0)
        self.open: dict[str, OpenHold] = {}
        self.now = NOW
        self.overshot = False

    def teardown(self) -> None:
        self.loop.run_until_complete(self.home.__aexit__(None, None, None))

    def held(self, key: CounterKey) -> int:
        return sum(draw.amount for hold in self.open.values() for draw in hold.draws if draw.counter == key)

    @rule(name=holds, keys=st.sets(st.sampled_from(sorted(LIMITS, key=str)), min_size=1), amount=amounts, lease=amounts)
    def hold(self, name: str, keys: set[CounterKey], amount: int, lease: int) -> None:
        draws = [Draw(key, 1 if key is RUNNING else amount, self.LIMITS[key]) for key in sorted(keys, key=str)]
        result = self.loop.run_until_complete(self.counters.hold(name, draws, self.now + lease))
        if name in self.open:
            assert not isinstance(result, Exhausted)
            return
        fits = all(self.settled[draw.counter] + self.held(draw.counter) + draw.amount <= draw.limit for draw in draws)
        assert isinstance(result, Exhausted) is not fits
        if fits:
            self.open[name] = OpenHold(draws, self.now + lease)

    @rule(name=holds, keys=st.sets(st.sampled_from(sorted(LIMITS, key=str)), min_size=1), amount=amounts)
    def redraw(self, name: str, keys: set[CounterKey], amount: int) -> None:
        draws = [Draw(key, 1 if key is RUNNING else amount, self.LIMITS[key]) for key in sorted(keys, key=str)]
        result = self.loop.run_until_complete(self.counters.redraw(name, draws))
        before = self.open.pop(name, None)
        if before is None:
            assert result is None
            return
        fits = all(self.settled[draw.counter] + self.held(draw.counter) + draw.amount <= draw.limit for draw in draws)
        assert isinstance(result, Exhausted) is not fits
        self.open[name] = OpenHold(draws, before.expires_at) if fits else before

    @rule(name=holds, share=st.sampled_from([0, 1, 2, 3]), over=st.booleans())
    def settle(self, name: str, share: int, over: bool) -> None:
        hold = self.open.pop(name, None)
        if hold is None:
            assert self.loop.run_until_complete(self.counters.settle(name, [])) is None
            return
        scale = 2 if over else 1
        actuals = [0 if d.counter is RUNNING else scale * d.amount * share // 3 for d in hold.draws]
        self.overshot = self.overshot or any(a > d.amount for a, d in zip(actuals, hold.draws, strict=True))
        assert self.loop.run_until_complete(self.counters.settle(name, actuals)) is not None
        for draw, actual in zip(hold.draws, actuals, strict=True):
            self.settled[draw.counter] += actual

    @rule(name=holds)
    def cancel(self, name: str) -> None:
        assert self.loop.run_until_complete(self.counters.cancel(name)) is (self.open.pop(name, None) is not None)

    @rule(seconds=amounts)
    def expire(self, seconds: int) -> None:
        self.now += seconds
        late = {name for name, hold in self.open.items() if hold.expires_at <= self.now}
        assert set(self.loop.run_until_complete(self.counters.expire(self.now))) == late
        for name in late:
            for draw in self.open.pop(name).draws:
                self.settled[draw.counter] += 0 if draw.counter is RUNNING else draw.amount

    @invariant()
    def nothing_is_lost_or_made(self) -> None:
        keys = list(self.LIMITS)
        levels = self.loop.run_until_complete(self.counters.read(keys))
        assert levels == tuple(Level(self.settled[key], self.held(key)) for key in keys)
        if not self.overshot:
            assert all(found.settled + found.held <= self.LIMITS[key] for key, found in zip(keys, levels, strict=True))


@pytest.mark.parametrize(("name", "examples"), [("memory", 60), ("redis", 25), ("postgres", 8)])
def test_any_order_of_holds_and_ends_keeps_the_books(name: str, examples: int, request: pytest.FixtureRequest) -> None:
    loop = asyncio.new_event_loop()
    try:
        run_state_machine_as_test(
            lambda: CountersMachine(loop, lambda: homes.home(name, request)),  # pyright: ignore[reportArgumentType]  a factory will do
            settings=settings(max_examples=examples, stateful_step_count=30, deadline=None),
        )
    finally:
        loop.close()


@given(st.lists(st.tuples(amounts, amounts), max_size=20))
def test_settled_is_the_sum_of_what_was_used(ends: list[tuple[int, int]]) -> None:
    async def run() -> None:
        counters = MemoryCounters()
        for number, (amount, actual) in enumerate(ends):
            await counters.hold(str(number), [Draw(TEAM, amount, 10**9)], NOW + 60)
            await counters.settle(str(number), [actual])
        assert await level(counters, TEAM) == Level(sum(actual for _, actual in ends), 0)

    asyncio.run(run())
