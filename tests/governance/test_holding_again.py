"""A request that makes several attempts: one hold, one end, and never less held than may be spent."""

from zoneinfo import ZoneInfo

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance.counters.memory import MemoryCounters
from governance.errors import BudgetExhausted, LedgerBehind, RateLimited, StoreUnavailable
from governance.ledger.events import Attempt, EventKind, Opening, Settlement
from governance.limits import Budget, Rate, WorstCase, resolve
from governance.money import ZERO, Nanodollars
from governance.prices import Usage
from governance.purse import Hold, Purse
from governance.windows import WindowKind
from tests.support.ledgers import RecordingLedger
from tests.support.requests import NOON, attempt, opening, usd

TZ = ZoneInfo("Europe/London")
TEAM = Budget("team:support", usd("1"), WindowKind.DAY)
EACH_MODEL = Budget("org", usd("0.50"), WindowKind.DAY, each="model")
RATES = (Rate("team:support", requests_per_minute=1, tokens_per_minute=1_000, concurrent=1),)
DEAR, CHEAP = opening("r1", model="opus"), opening("r1", model="mini")


class Desk:
    """A purse with its collaborators."""

    def __init__(self) -> None:
        self.ledger = RecordingLedger()
        self.purse = Purse(MemoryCounters(), self.ledger, NOON.timestamp)

    def hold(self, request: Opening, worst: str, *budgets: Budget, tokens: int = 500) -> Hold:
        resolved = resolve(budgets or (TEAM,), request.values)
        return self.purse.hold(request, resolved, RATES, WorstCase(usd(worst), tokens), tz=TZ, lease_s=60)

    async def again(
        self,
        hold: Hold,
        request: Opening,
        worst: str,
        *made: Attempt,
        budgets: tuple[Budget, ...] = (TEAM,),
        tokens: int = 500,
    ) -> None:
        resolved = resolve(budgets, request.values)
        await self.purse.hold_again(hold, request, resolved, WorstCase(usd(worst), tokens), made, tz=TZ)

    async def level(self, *budgets: Budget) -> list[tuple[Nanodollars, Nanodollars]]:
        return [(found.settled, found.held) for found in await self.purse.standing(budgets or (TEAM,), NOON, TZ)]


@pytest.fixture
def desk() -> Desk:
    return Desk()


def failed(cost: str, tokens: int = 0) -> Attempt:
    return attempt(usd(cost), Usage(fresh_input=tokens), outcome="failed")


async def test_the_next_attempt_is_held_beside_what_the_last_one_cost(desk: Desk) -> None:
    async with desk.hold(DEAR, "0.40") as hold:
        await desk.again(hold, CHEAP, "0.25", failed("0.10"))
        assert await desk.level() == [(ZERO, usd("0.35"))]
        assert (hold.worst.cost, hold.spent, hold.opening.model) == (usd("0.35"), usd("0.10"), "mini")
        await desk.again(hold, CHEAP, "0.25", failed("0.10"), failed("0.02"))
        assert await desk.level() == [(ZERO, usd("0.37"))]


async def test_a_request_is_counted_once_by_its_rates_however_many_attempts_it_makes(desk: Desk) -> None:
    async with desk.hold(DEAR, "0.40") as hold:
        await desk.again(hold, CHEAP, "0.25", failed("0.10", tokens=50))
        assert [(rate.unit, rate.remaining) for rate in hold.rates] == [("requests", 0), ("tokens", 450)]
        made = (failed("0.10", tokens=50), attempt(usd("0.20"), Usage(output=30)))
        await hold.settle(Settlement(outcome="ok", status=200, attempts=made))
        assert [(rate.unit, rate.remaining) for rate in hold.rates] == [("requests", 0), ("tokens", 920)]


async def test_the_end_is_one_event_of_the_model_that_answered_with_every_attempt_once(desk: Desk) -> None:
    async with desk.hold(DEAR, "0.40") as hold:
        await desk.again(hold, CHEAP, "0.25", failed("0.10"))
        assert [entry.n for entry in desk.ledger.attempts] == [1]
        await hold.settle(Settlement(outcome="ok", status=200, attempts=(failed("0.10"), attempt(usd("0.20")))))
    assert await desk.level() == [(usd("0.30"), ZERO)]
    (end,) = desk.ledger.terminal
    assert (end.kind, end.opening.model, end.held, end.cost) == (EventKind.SETTLED, "mini", usd("0.35"), usd("0.30"))
    assert [entry.n for entry in desk.ledger.attempts] == [1, 2]


async def test_a_budget_about_the_model_is_that_of_the_attempt(desk: Desk) -> None:
    both = (TEAM, EACH_MODEL)
    async with desk.hold(DEAR, "0.40", *both) as hold:
        await desk.again(hold, CHEAP, "0.45", failed("0"), budgets=both)
        assert await desk.level(EACH_MODEL.of("opus"), EACH_MODEL.of("mini")) == [(ZERO, ZERO), (ZERO, usd("0.45"))]
        with pytest.raises(BudgetExhausted) as refused:
            await desk.again(hold, CHEAP, "0.45", failed("0"), failed("0.10"), budgets=both)
        assert refused.value.scope == "org?model=mini"


async def test_a_cheap_fallback_fits_where_the_dear_model_does_not_fit_twice(desk: Desk) -> None:
    async with desk.hold(DEAR, "0.90") as hold:
        with pytest.raises(BudgetExhausted) as refused:
            await desk.again(hold, DEAR, "0.90", failed("0.15"))
        assert (refused.value.spent, refused.value.held, refused.value.asked) == (ZERO, ZERO, usd("1.05"))
        await desk.again(hold, CHEAP, "0.85", failed("0.15"))


async def test_a_refused_attempt_leaves_a_hold_that_can_be_settled(desk: Desk) -> None:
    async with desk.hold(DEAR, "0.40") as hold:
        for refusal, worst, tokens in ((BudgetExhausted, "0.95", 1), (RateLimited, "0.10", 951)):
            with pytest.raises(refusal):
                await desk.again(hold, CHEAP, worst, failed("0.10", tokens=50), tokens=tokens)
            assert await desk.level() == [(ZERO, usd("0.40"))]
        await hold.settle(Settlement(outcome="failed", status=502, attempts=(failed("0.10"),)))
    assert await desk.level() == [(usd("0.10"), ZERO)]
    (end,) = desk.ledger.terminal
    assert (end.opening.model, end.cost) == ("opus", usd("0.10"))


async def test_a_cap_on_single_requests_is_over_all_attempts_together(desk: Desk) -> None:
    capped = Budget("org", usd("9"), WindowKind.DAY, per_request=usd("0.50"))
    async with desk.hold(DEAR, "0.40", capped) as hold:
        with pytest.raises(BudgetExhausted, match="request budget"):
            await desk.again(hold, CHEAP, "0.41", failed("0.10"), budgets=(capped,))
        await desk.again(hold, CHEAP, "0.40", failed("0.10"), budgets=(capped,))


async def test_a_hold_that_expires_between_attempts_ends_at_no_less_than_was_spent(desk: Desk) -> None:
    async with desk.hold(DEAR, "0.20") as hold:
        await desk.again(hold, CHEAP, "0.25", failed("0.10"))
        await desk.purse.expire(NOON.timestamp() + 60)
        with pytest.raises(StoreUnavailable):
            await desk.again(hold, CHEAP, "0.25", failed("0.10"), failed("0.10"))
        await hold.settle(Settlement(outcome="failed", status=502, attempts=(failed("0.10"), failed("0.10"))))
    assert await desk.level() == [(usd("0.35"), ZERO)]
    (end,) = desk.ledger.terminal
    assert (end.kind, end.cost) == (EventKind.EXPIRED, usd("0.35"))
    assert [entry.n for entry in desk.ledger.attempts] == [1, 2]


async def test_a_ledger_that_is_behind_lets_no_further_attempt_be_made(desk: Desk) -> None:
    async with desk.hold(DEAR, "0.20") as hold:
        desk.ledger.full = True
        with pytest.raises(LedgerBehind):
            await desk.again(hold, CHEAP, "0.25", failed("0.10"))
        assert await desk.level() == [(ZERO, usd("0.20"))]
        await hold.settle(Settlement(outcome="failed", status=502, attempts=(failed("0.10"),)))
    assert [entry.n for entry in desk.ledger.attempts] == [1]


shares = st.sampled_from([0, 10_000_000, 100_000_000, 390_000_000])


@given(st.lists(st.tuples(shares, st.sampled_from(["opus", "mini", "nano"]), shares), max_size=6), shares)
def test_however_many_attempts_the_limit_holds_and_the_ledger_tells_all(
    story: list[tuple[int, str, int]], last: int
) -> None:
    async def run() -> None:
        desk, made = Desk(), list[Attempt]()
        async with desk.hold(DEAR, "0.39", TEAM, EACH_MODEL, tokens=0) as hold:
            for cost, model, worst in story:
                made.append(attempt(Nanodollars(min(cost, hold.worst.cost.nanos - hold.spent.nanos))))
                try:
                    budgets = resolve((TEAM, EACH_MODEL), {"model": model})
                    worst_case = WorstCase(Nanodollars(worst), 0)
                    await desk.purse.hold_again(hold, opening("r1", model=model), budgets, worst_case, made, tz=TZ)
                except BudgetExhausted:
                    break
                assert hold.worst.cost == hold.spent + Nanodollars(worst)
                assert await desk.level() == [(ZERO, hold.worst.cost)]
                assert hold.worst.cost <= EACH_MODEL.limit
            else:
                made.append(attempt(Nanodollars(min(last, hold.worst.cost.nanos - hold.spent.nanos))))
            await hold.settle(Settlement(outcome="ok", status=200, attempts=tuple(made)))
        (end,) = desk.ledger.terminal
        assert end.cost == sum((one.cost for one in made), ZERO)
        assert await desk.level(TEAM, EACH_MODEL.of(end.opening.model)) == [(end.cost, ZERO)] * 2
        others = [EACH_MODEL.of(name) for name in ("opus", "mini", "nano") if name != end.opening.model]
        assert await desk.level(*others) == [(ZERO, ZERO)] * 2
        assert [entry.attempt for entry in desk.ledger.attempts] == made

    anyio.run(run)
