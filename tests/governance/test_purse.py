"""The purse: a hold keeps the worst case, ends once, and leaves one terminal event."""

from datetime import timedelta
from zoneinfo import ZoneInfo

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from governance.counters.memory import MemoryCounters
from governance.errors import BudgetExhausted, LedgerBehind, RateLimited
from governance.ledger.events import EventKind, Opening, Settlement
from governance.limits import Budget, Rate, WorstCase
from governance.money import ZERO, Nanodollars
from governance.prices import Usage
from governance.purse import Hold, Purse
from governance.windows import WindowKind
from tests.support.ledgers import RecordingLedger
from tests.support.requests import NOON, attempt, opening, settlement, usd

TZ = ZoneInfo("Europe/London")
TEAM = Budget("team:support", usd("1"), WindowKind.DAY)
APP = Budget("app:support/support-bot", usd("5"), WindowKind.MONTH)
WORST = WorstCase(usd("0.40"), tokens=500)


class Till:
    """A purse with its collaborators, at a time that tests move."""

    def __init__(self) -> None:
        self.now = NOON.timestamp()
        self.ledger = RecordingLedger()
        self.counters = MemoryCounters()
        self.purse = Purse(self.counters, self.ledger, lambda: self.now)

    def hold(
        self,
        request: Opening | str = "r1",
        budgets: tuple[Budget, ...] = (TEAM, APP),
        rates: tuple[Rate, ...] = (),
        worst: WorstCase = WORST,
    ) -> Hold:
        request = opening(request) if isinstance(request, str) else request
        return self.purse.hold(request, budgets, rates, worst, tz=TZ, lease_s=60)

    async def spent(self, budget: Budget = TEAM) -> tuple[Nanodollars, Nanodollars]:
        (standing,) = await self.purse.standing([budget], NOON, TZ)
        return standing.settled, standing.held


@pytest.fixture
def till() -> Till:
    return Till()


async def test_a_hold_keeps_its_worst_case_until_it_is_settled(till: Till) -> None:
    async with till.hold() as hold:
        assert await till.spent() == (ZERO, usd("0.40"))
        await hold.settle(settlement("0.10"))
        assert await till.spent() == (usd("0.10"), ZERO)
    assert await till.spent() == (usd("0.10"), ZERO)
    assert till.purse.open_holds == 0


async def test_a_settled_request_is_held_once_and_ended_once(till: Till) -> None:
    async with till.hold() as hold:
        till.now += 0.25
        await hold.settle(settlement("0.10", Usage(fresh_input=7, output=3)))
    held, settled = till.ledger.events
    assert (held.kind, held.held, held.cost) == (EventKind.HELD, usd("0.40"), ZERO)
    assert (settled.kind, settled.held, settled.cost) == (EventKind.SETTLED, usd("0.40"), usd("0.10"))
    assert (settled.status, settled.duration_ms) == (200, 250.0)
    assert [entry.n for entry in till.ledger.attempts] == [1]


async def test_a_second_settlement_changes_nothing(till: Till) -> None:
    async with till.hold() as hold:
        await hold.settle(settlement("0.10"))
        await hold.settle(settlement("0.30"))
    assert await till.spent() == (usd("0.10"), ZERO)
    assert [event.kind for event in till.ledger.terminal] == [EventKind.SETTLED]
    assert len(till.ledger.attempts) == 1


async def test_leaving_without_settling_cancels(till: Till) -> None:
    async with till.hold():
        pass
    assert await till.spent() == (ZERO, ZERO)
    assert [(event.kind, event.cost) for event in till.ledger.terminal] == [(EventKind.CANCELLED, ZERO)]


async def test_an_error_inside_cancels_and_goes_on(till: Till) -> None:
    with pytest.raises(RuntimeError, match="upstream"):
        async with till.hold():
            raise RuntimeError("upstream")
    assert await till.spent() == (ZERO, ZERO)
    assert [event.kind for event in till.ledger.terminal] == [EventKind.CANCELLED]


async def test_a_cancelled_task_still_settles(till: Till) -> None:
    async with anyio.create_task_group() as group, till.hold() as hold:
        group.cancel_scope.cancel()
        await hold.settle(settlement("0.10"))
    assert await till.spent() == (usd("0.10"), ZERO)


async def test_a_request_over_a_budget_is_refused_and_nothing_is_written(till: Till) -> None:
    async with till.hold("r1") as first:
        await first.settle(settlement("0.70"))
    entries = len(till.ledger.entries)
    with pytest.raises(BudgetExhausted) as refused:
        async with till.hold("r2"):
            pytest.fail("it was let in")
    assert (refused.value.scope, refused.value.spent, refused.value.held) == ("team:support", usd("0.70"), ZERO)
    assert len(till.ledger.entries) == entries
    assert await till.spent(APP) == (usd("0.70"), ZERO)


async def test_a_request_over_a_single_request_limit_is_refused(till: Till) -> None:
    with pytest.raises(BudgetExhausted, match="request budget"):
        till.hold(budgets=(Budget("org", usd("9"), WindowKind.DAY, per_request=usd("0.39")),))


async def test_a_request_over_a_rate_is_refused(till: Till) -> None:
    rates = (Rate("team:support", requests_per_minute=1),)
    async with till.hold("r1", rates=rates) as hold:
        await hold.settle(settlement("0.10"))
    with pytest.raises(RateLimited) as refused:
        async with till.hold("r2", rates=rates):
            pytest.fail("it was let in")
    assert refused.value.retry_after_s == 60.0
    assert await till.spent() == (usd("0.10"), ZERO)


async def test_a_place_is_free_again_when_a_request_ends(till: Till) -> None:
    rates = (Rate("team:support", concurrent=1),)
    async with till.hold("r1", rates=rates) as hold:
        with pytest.raises(RateLimited):
            async with till.hold("r2", rates=rates):
                pytest.fail("it was let in")
        await hold.settle(settlement("0.10"))
    async with till.hold("r3", rates=rates):
        pass


async def test_a_ledger_that_is_behind_lets_nothing_in_but_takes_what_was_admitted(till: Till) -> None:
    async with till.hold("r1") as hold:
        till.ledger.full = True
        with pytest.raises(LedgerBehind):
            async with till.hold("r2"):
                pytest.fail("it was let in")
        with pytest.raises(LedgerBehind):
            till.purse.free(opening("r3"), settlement("0"))
        await hold.settle(settlement("0.10"))
    assert await till.spent() == (usd("0.10"), ZERO)
    assert [event.opening.request_id for event in till.ledger.terminal] == ["r1"]


async def test_a_hold_that_the_ledger_does_not_take_is_none(till: Till) -> None:
    till.ledger.takes_holds = False
    with pytest.raises(LedgerBehind):
        async with till.hold("r1"):
            pytest.fail("it was let in")
    assert await till.spent() == (ZERO, ZERO)
    assert (till.purse.open_holds, till.ledger.entries) == (0, [])


async def test_a_late_hold_expires_at_what_it_held_and_a_later_settlement_adds_only_its_attempts(till: Till) -> None:
    async with till.hold() as hold:
        assert await till.purse.expire(till.now + 59) == 0
        assert await till.purse.expire(till.now + 60) == 1
        await hold.settle(settlement("0.10"))
    assert await till.spent() == (usd("0.40"), ZERO)
    assert [(event.kind, event.cost) for event in till.ledger.terminal] == [(EventKind.EXPIRED, usd("0.40"))]
    assert len(till.ledger.attempts) == 1


async def test_an_expired_hold_that_is_left_is_not_cancelled_too(till: Till) -> None:
    async with till.hold():
        await till.purse.expire(till.now + 60)
    assert [event.kind for event in till.ledger.terminal] == [EventKind.EXPIRED]


@pytest.mark.parametrize("settles", [True, False])
async def test_a_hold_that_another_process_expired_is_written_by_its_own(till: Till, settles: bool) -> None:
    elsewhere = RecordingLedger()
    other = Purse(till.counters, elsewhere, lambda: till.now)
    async with till.hold() as hold:
        assert await other.expire(till.now + 60) == 1
        if settles:
            await hold.settle(settlement("0.10"))
    assert elsewhere.events == []
    assert [(event.kind, event.cost) for event in till.ledger.terminal] == [(EventKind.EXPIRED, usd("0.40"))]
    assert till.purse.open_holds == 0


async def test_the_tightest_budget_has_the_least_left_and_follows_the_settlement(till: Till) -> None:
    async with till.hold() as hold:
        assert hold.tightest is not None
        assert (hold.tightest.scope, hold.tightest.remaining) == ("team:support", usd("0.60"))
        await hold.settle(settlement("0.10"))
        assert hold.tightest.remaining == usd("0.90")
    async with till.hold("r2", budgets=()) as free:
        assert free.tightest is None


async def test_rates_show_the_tightest_limit_of_each_unit(till: Till) -> None:
    rates = (
        Rate("org", requests_per_minute=1000, tokens_per_minute=800, concurrent=5),
        Rate("team:support", requests_per_minute=10, tokens_per_minute=9000),
    )
    async with till.hold(rates=rates) as hold:
        shown = [(rate.unit, rate.scope, rate.remaining) for rate in hold.rates]
        assert shown == [("requests", "team:support", 9), ("tokens", "org", 300)]
        await hold.settle(settlement("0.10", Usage(fresh_input=7, output=3)))
        assert [rate.remaining for rate in hold.rates] == [9, 790]


async def test_a_failed_attempt_and_the_one_that_answered_are_both_paid_and_recorded(till: Till) -> None:
    async with till.hold() as hold:
        made = (attempt(usd("0.02"), outcome="failed"), attempt(usd("0.05")))
        await hold.settle(Settlement(outcome="ok", status=200, attempts=made))
    assert await till.spent() == (usd("0.07"), ZERO)
    assert [entry.n for entry in till.ledger.attempts] == [1, 2]


async def test_requests_without_a_hold_have_one_terminal_event(till: Till) -> None:
    till.purse.free(opening("hit"), Settlement(outcome="ok", status=200, saved_cache=usd("0.03")))
    till.purse.refused(opening("no"), "model_not_allowed", 403)
    hit, refused = till.ledger.events
    assert (hit.kind, hit.cost) == (EventKind.SETTLED, ZERO)
    assert (refused.kind, refused.code, refused.status) == (EventKind.REFUSED, "model_not_allowed", 403)


async def test_a_request_is_counted_in_the_window_it_arrived_in(till: Till) -> None:
    midnight = NOON.replace(hour=23, minute=59, second=59)
    async with till.hold(opening("r1", midnight)) as hold:
        till.now = midnight.timestamp() + 30
        await hold.settle(settlement("0.10"))
    (before,) = await till.purse.standing([TEAM], midnight, TZ)
    (after,) = await till.purse.standing([TEAM], midnight + timedelta(seconds=2), TZ)
    assert (before.settled, after.settled) == (usd("0.10"), ZERO)


ends = st.sampled_from(["settle", "cancel", "expire"])


@settings(max_examples=50)
@given(st.lists(st.tuples(st.integers(0, 400_000_000), ends), max_size=25))
def test_every_admitted_request_has_one_terminal_event_and_the_budget_holds(requests: list[tuple[int, str]]) -> None:
    async def run() -> None:
        till = Till()
        admitted: list[str] = []
        for number, (cost, end) in enumerate(requests):
            name = f"r{number}"
            try:
                async with till.hold(name) as hold:
                    admitted.append(name)
                    if end == "expire":
                        await till.purse.expire(till.now + 60)
                    if end != "cancel":
                        made = (attempt(Nanodollars(cost)),)
                        await hold.settle(Settlement(outcome="ok", status=200, attempts=made))
            except BudgetExhausted:
                pass
            settled, held = await till.spent()
            assert settled + held <= TEAM.limit
        assert [event.opening.request_id for event in till.ledger.terminal] == admitted
        assert sum((event.cost for event in till.ledger.terminal), ZERO) == (await till.spent())[0]

    anyio.run(run)
