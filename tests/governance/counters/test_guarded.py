"""What happens while the counters' home is away, and what is true once it is back."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from governance.counters import Draw, Exhausted, Level, Memory
from governance.counters.alone import OnAway
from governance.counters.guarded import GuardedCounters
from governance.errors import StoreUnavailable, StoreUnfit
from governance.money import Nanodollars
from tests.conformance.test_counters import NOW, REQUESTS, RUNNING, TEAM
from tests.support.fickle_home import FickleHome
from tests.support.waiting import until

SOON = NOW + 60


class Guard:
    """Guarded counters, their home, and what a ledger would know."""

    def __init__(self, rule: OnAway) -> None:
        self.home = FickleHome()
        self.counters = GuardedCounters(self.home, rule)
        self.ledger = 0
        self.refills = 0

    async def refill(self) -> None:
        self.refills += 1
        await self.counters.seed(TEAM, self.ledger)

    async def hold(self, name: str, amount: int = 30, limit: int = 100) -> object:
        return await self.counters.hold(name, [Draw(TEAM, amount, limit)], SOON)

    async def redraw(self, name: str, amount: int, limit: int = 100) -> object:
        return await self.counters.redraw(name, [Draw(TEAM, amount, limit), Draw(RUNNING, 1, 9)])

    async def settle(self, name: str, actual: int) -> object:
        levels = await self.counters.settle(name, [actual])
        self.ledger += 0 if levels is None else actual
        return levels

    async def back(self) -> Level:
        self.home.away = self.home.deaf = False
        await until(lambda: self.counters.away is None)
        return await self.level()

    async def level(self) -> Level:
        (found,) = await self.counters.read([TEAM])
        return found


@asynccontextmanager
async def guarded(rule: OnAway) -> AsyncGenerator[Guard]:
    guard = Guard(rule)
    async with guard.counters.watch(guard.refill):
        yield guard
    assert guard.home.closed


async def test_a_home_that_answers_is_used_as_it_is() -> None:
    async with guarded("closed") as guard:
        assert await guard.hold("h") == (Level(0, 30),)
        assert isinstance(await guard.hold("i", 80), Exhausted)
        assert await guard.settle("h", 12) == (Level(12, 0),)
        assert guard.counters.away is None


async def test_closed_refuses_at_once_and_asks_the_home_no_more() -> None:
    async with guarded("closed") as guard:
        guard.home.away = True
        with pytest.raises(StoreUnavailable):
            await guard.hold("h")
        asked = guard.home.asked
        for number in range(100):
            with pytest.raises(StoreUnavailable):
                await guard.hold(str(number))
        assert guard.home.asked == asked
        assert guard.counters.refuses
        assert await guard.back() == Level(0, 0)


async def test_open_serves_beyond_every_budget_and_counts_it_afterwards() -> None:
    async with guarded("open") as guard:
        guard.home.away = True
        for name in "abcde":
            assert await guard.hold(name, 30, 100) == (Level(firm=False),)
            assert await guard.settle(name, 30) == (Level(firm=False),)
        assert not guard.counters.refuses
        assert await guard.back() == Level(150, 0)


async def test_an_allowance_is_never_passed_and_is_whole_again_at_the_next_absence() -> None:
    async with guarded(Nanodollars(70)) as guard:
        for total in (60, 120):
            guard.home.away = True
            await guard.hold(f"a{total}")
            await guard.hold(f"b{total}")
            with pytest.raises(StoreUnavailable, match="allowance"):
                await guard.hold(f"c{total}")
            await guard.settle(f"a{total}", 30)
            with pytest.raises(StoreUnavailable, match="allowance"):
                await guard.hold(f"c{total}")
            await guard.settle(f"b{total}", 30)
            assert await guard.back() == Level(total, 0)


async def test_rates_are_kept_by_each_process_alone() -> None:
    async with guarded("open") as guard:
        guard.home.away = True
        draws = [Draw(REQUESTS, 1, 2), Draw(RUNNING, 1, 5)]
        assert not isinstance(await guard.counters.hold("a", draws, SOON), Exhausted)
        assert not isinstance(await guard.counters.hold("b", draws, SOON), Exhausted)
        assert isinstance(await guard.counters.hold("c", draws, SOON), Exhausted)


async def test_a_hold_from_before_can_end_in_the_absence() -> None:
    async with guarded("closed") as guard:
        await guard.hold("settled")
        await guard.hold("cancelled")
        guard.home.away = True
        assert await guard.settle("settled", 12) == (Level(firm=False),)
        assert await guard.counters.cancel("cancelled") is True
        assert await guard.settle("settled", 12) is None
        assert await guard.counters.cancel("cancelled") is False
        assert await guard.back() == Level(12, 0)


async def test_a_hold_from_the_absence_can_end_after_it() -> None:
    async with guarded("open") as guard:
        guard.home.away = True
        await guard.hold("h")
        assert await guard.back() == Level(0, 30)
        assert await guard.settle("h", 12) == (Level(12, 0),)


async def test_a_hold_past_its_lease_ends_in_the_absence() -> None:
    async with guarded("open") as guard:
        guard.home.away = True
        await guard.hold("h")
        assert await guard.counters.expire(SOON) == ("h",)
        assert await guard.settle("h", 12) is None
        assert await guard.back() == Level(30, 0)


async def test_a_hold_is_redrawn_where_it_is() -> None:
    async with guarded("closed") as guard:
        await guard.hold("h")
        assert await guard.redraw("h", 80) == (Level(0, 80), Level(0, 1))
        assert isinstance(await guard.redraw("h", 101), Exhausted)
        assert await guard.counters.settle("h", [12, 0]) == (Level(12, 0), Level(0, 0))
        assert await guard.redraw("h", 1) is None


async def test_a_hold_that_may_not_be_redrawn_in_the_absence_ends_as_it_was() -> None:
    async with guarded("closed") as guard:
        await guard.hold("h")
        guard.home.away = True
        for _ in range(2):
            with pytest.raises(StoreUnavailable):
                await guard.redraw("h", 80)
        assert await guard.settle("h", 12) == (Level(firm=False),)
        assert await guard.back() == Level(12, 0)


async def test_a_hold_redrawn_in_the_absence_draws_on_the_allowance_and_then_on_the_home() -> None:
    async with guarded(Nanodollars(70)) as guard:
        await guard.hold("h")
        guard.home.away = True
        await guard.counters.read([TEAM])
        assert await guard.redraw("h", 60) == (Level(firm=False), Level(firm=False))
        assert await guard.redraw("h", 70) == (Level(firm=False), Level(firm=False))
        with pytest.raises(StoreUnavailable, match="allowance"):
            await guard.redraw("h", 71)
        assert await guard.back() == Level(0, 70)
        assert await guard.counters.settle("h", [50, 0]) == (Level(50, 0), Level(0, 0))


@pytest.mark.parametrize("rule", ["closed", "open"])
async def test_a_redraw_whose_answer_was_lost_is_counted_once_at_what_it_came_to(rule: OnAway) -> None:
    async with guarded(rule) as guard:
        await guard.hold("h")
        guard.home.deaf = True
        if rule == "closed":
            with pytest.raises(StoreUnavailable):
                await guard.redraw("h", 80)
            await guard.settle("h", 12)
        else:
            await guard.redraw("h", 80)
            await guard.counters.settle("h", [12, 0])
        assert await guard.back() == Level(12, 0)
        assert await guard.counters.read([RUNNING]) == (Level(0, 0),)


async def test_a_redraw_whose_answer_was_lost_is_made_good_when_the_home_is_back() -> None:
    async with guarded("open") as guard:
        await guard.hold("h")
        guard.home.deaf = True
        await guard.redraw("h", 80)
        assert await guard.back() == Level(0, 80)
        assert await guard.counters.settle("h", [12, 0]) == (Level(12, 0), Level(0, 0))


@pytest.mark.parametrize("rule", ["closed", "open"])
async def test_a_hold_whose_answer_was_lost_is_not_left_behind(rule: OnAway) -> None:
    async with guarded(rule) as guard:
        guard.home.deaf = True
        if rule == "closed":
            with pytest.raises(StoreUnavailable):
                await guard.hold("h")
            assert await guard.back() == Level(0, 0)
        else:
            await guard.hold("h")
            await guard.settle("h", 12)
            assert await guard.back() == Level(12, 0)


async def test_a_settlement_whose_answer_was_lost_counts_once() -> None:
    async with guarded("closed") as guard:
        await guard.hold("h")
        guard.home.deaf = True
        assert await guard.settle("h", 12) == (Level(firm=False),)
        assert await guard.back() == Level(12, 0)


async def test_a_home_that_forgot_is_refilled_and_gets_the_open_holds_back() -> None:
    async with guarded("open") as guard:
        await guard.hold("before")
        await guard.settle("before", 20)
        await guard.hold("running")
        guard.home.away = True
        await guard.hold("meanwhile")
        await guard.settle("meanwhile", 7)
        guard.home.forget()
        assert await guard.back() == Level(27, 30)
        assert await guard.settle("running", 5) == (Level(32, 0),)


async def test_a_home_that_forgot_without_a_pause_is_noticed_at_the_next_call() -> None:
    async with guarded("closed") as guard:
        await guard.hold("before")
        await guard.settle("before", 20)
        guard.home.forget()
        with pytest.raises(StoreUnavailable):
            await guard.hold("h")
        assert await guard.back() == Level(20, 0)


async def test_what_another_process_refilled_is_taken_over_with_our_own_holds() -> None:
    async with guarded("closed") as guard:
        await guard.hold("running")
        refills = guard.refills
        guard.home.forget(Memory.ANOTHER)
        guard.home.away = True
        await guard.counters.expire(NOW)
        assert await guard.back() == Level(0, 30)
        assert guard.refills == refills


async def test_nothing_is_held_until_every_process_has_restored_its_own() -> None:
    async with guarded("closed") as guard:
        guard.home.forming = True
        guard.home.forget()
        for _ in range(3):
            with pytest.raises(StoreUnavailable):
                await guard.hold("h")
        guard.home.forming = False
        assert await guard.back() == Level(0, 0)


async def test_a_gateway_can_start_while_the_home_is_away() -> None:
    guard = Guard(Nanodollars(100))
    guard.home.away = True
    guard.ledger = 40
    await guard.counters.seed(TEAM, 40)
    async with guard.counters.watch(guard.refill):
        assert guard.counters.away is not None
        await guard.hold("h")
        await guard.settle("h", 7)
        assert await guard.back() == Level(47, 0)


async def test_a_home_that_cannot_do_the_work_stops_the_start() -> None:
    class Unfit(FickleHome):
        async def reach(self) -> Memory:
            raise StoreUnfit("no scripts here")

    home = Unfit()
    with pytest.raises(StoreUnfit):
        async with GuardedCounters(home, "open").watch(home.remember):
            pass
    assert home.closed


steps = st.lists(
    st.tuples(
        st.sampled_from(["hold", "redraw", "end", "away", "deaf", "back", "forget"]),
        st.integers(0, 4).map(str),
        st.integers(0, 60),
    ),
    max_size=30,
)


async def happen(guard: Guard, act: str) -> None:
    if act in {"away", "deaf"}:
        setattr(guard.home, act, True)
        await guard.counters.read([TEAM])
    elif act == "back":
        await guard.back()
    elif act == "forget" and guard.counters.away is not None:
        guard.home.forget()


@settings(max_examples=60, deadline=None)
@given(steps)
def test_whatever_happens_the_home_never_knows_less_than_was_spent(story: list[tuple[str, str, int]]) -> None:
    async def run() -> None:
        async with guarded("open") as guard:
            open_holds: list[str] = []
            for number, (act, name, amount) in enumerate(story):
                if act == "hold":
                    await guard.hold(f"{name}.{number}", amount, 10**9)
                    open_holds.append(f"{name}.{number}")
                elif act == "redraw" and open_holds:
                    await guard.counters.redraw(open_holds[-1], [Draw(TEAM, amount, 10**9)])
                elif act == "end" and open_holds:
                    await guard.settle(open_holds.pop(0), amount)
                else:
                    await happen(guard, act)
            level = await guard.back()
            assert level.settled == guard.ledger
            for name in open_holds:
                await guard.counters.cancel(name)
            assert await guard.level() == Level(guard.ledger, 0)

    anyio.run(run)


class Slow(FickleHome):
    """A home whose answer to a settlement takes until a test lets it come."""

    def __init__(self) -> None:
        super().__init__()
        self.asked_for, self.answer = anyio.Event(), anyio.Event()

    async def settle(self, hold_id: str, actuals: Sequence[int]) -> tuple[Level, ...] | None:
        self.asked_for.set()
        await self.answer.wait()
        return await super().settle(hold_id, actuals)


async def test_an_end_that_has_begun_is_brought_to_its_end_though_nobody_waits_for_it() -> None:
    home = Slow()
    counters = GuardedCounters(home, "closed")
    async with counters.watch(nothing), anyio.create_task_group() as group:
        await counters.hold("h", [Draw(TEAM, 30, 100)], SOON)
        group.start_soon(counters.settle, "h", [20])
        await home.asked_for.wait()
        group.cancel_scope.cancel()
        home.answer.set()
    assert await home.counters.read([TEAM]) == (Level(20, 0),)


async def nothing() -> None:
    pass
