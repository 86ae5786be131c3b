"""A plan is what the limits say, found once: it may be remembered, but never be wrong."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from hypothesis import given
from hypothesis import strategies as st

from governance.counters import CounterKey, Unit
from governance.limits import Budget, Rate, Step, StepAction, WorstCase
from governance.limits.draws import NO_LIMIT, Amounts, drawn, draws_of
from governance.limits.loops import Repeats
from governance.limits.plans import MOST, Plan, Plans
from governance.windows import SESSION, Calendar, Rolling, WindowKind, window
from tests.support.requests import NOON, usd

LONDON = ZoneInfo("Europe/London")
WORST = WorstCase(usd("0.50"), tokens=1200)
DAY = Budget("org", usd("10"), WindowKind.DAY)
BUDGETS = (
    DAY,
    replace(DAY, limit=usd("4")),
    Budget("team:a", usd("3"), Rolling(86_400)),
    Budget("app:a/b?session=s", usd("2"), SESSION),
    Budget("team:a", usd("20"), WindowKind.MONTH, steps=(Step(80, StepAction.ALERT),)),
    Budget("org", usd("1"), WindowKind.HOUR, steps=(Step(50, StepAction.DOWNGRADE), Step(90, StepAction.QUEUE))),
)
RATES = (Rate("org", concurrent=5), Rate("team:a", requests_per_minute=60, tokens_per_minute=9_000))
AGAIN = Repeats("key:k?request=00", Rolling(600, parts=2), 3)
INSTANTS = st.datetimes(datetime(2026, 3, 28), datetime(2026, 4, 2), timezones=st.just(UTC))  # noqa: DTZ001  given there
"""The clocks go forward on the 29th, and a month and a quarter end."""


@given(
    instants=st.lists(INSTANTS, min_size=1, max_size=12),
    budgets=st.lists(st.sampled_from(BUDGETS), max_size=5).map(tuple),
    rates=st.lists(st.sampled_from(RATES), max_size=2, unique=True).map(tuple),
)
def test_whatever_was_asked_before_a_plan_draws_what_the_limits_say(
    instants: list[datetime], budgets: tuple[Budget, ...], rates: tuple[Rate, ...]
) -> None:
    plans = Plans(Calendar())
    for at in instants:
        lines = plans.of_budgets(budgets, at, LONDON).lines + plans.of_rates(rates, at, LONDON).lines
        lines += plans.of_repeats(AGAIN, at, LONDON).lines
        assert drawn(lines, Amounts.held(WORST)) == draws_of(budgets, rates, WORST, at, LONDON, Calendar(), (AGAIN,))


@given(at=INSTANTS, budgets=st.lists(st.sampled_from(BUDGETS), min_size=1, max_size=5).map(tuple))
def test_a_plan_holds_as_long_as_every_window_of_its_own_and_no_longer(
    at: datetime, budgets: tuple[Budget, ...]
) -> None:
    plans = Plans(Calendar())
    plan = plans.of_budgets(budgets, at, LONDON)
    assert plan.since <= at < plan.until
    assert plans.of_budgets(budgets, plan.since, LONDON) is plan
    assert plans.of_budgets(budgets, plan.until - timedelta.resolution, LONDON) is plan
    assert plans.of_budgets(budgets, plan.until, LONDON).lines != plan.lines


@given(budgets=st.lists(st.sampled_from(BUDGETS), max_size=5).map(tuple))
def test_each_budget_stands_where_its_first_counter_does(budgets: tuple[Budget, ...]) -> None:
    plan = Plans(Calendar()).of_budgets(budgets, NOON, LONDON)
    assert [shown.budget for shown in plan.shown] == list(budgets)
    for shown in plan.shown:
        assert plan.lines[shown.place].counter == shown.counter
        assert (shown.counter.scope, shown.limit) == (shown.budget.scope, shown.budget.usable.nanos)
        assert shown.overrun is (shown.budget.blocks_at is None)


def test_a_budget_that_nothing_blocks_only_counts_and_is_felt_from_its_first_step() -> None:
    alerting = BUDGETS[4]
    plan = Plans(Calendar()).of_budgets((alerting,), NOON, LONDON)
    assert [line.limit for line in plan.lines] == [NO_LIMIT]
    assert [(felt.budget, felt.least) for felt in plan.felt] == [(alerting, 80 * alerting.limit.nanos)]


def test_what_is_in_flight_has_no_window_and_its_plan_no_end() -> None:
    plans = Plans(Calendar())
    plan = plans.of_rates(RATES[:1], NOON, LONDON)
    assert plan.lines[0].counter == CounterKey("org", Unit.CONCURRENT, None)
    assert plans.of_rates(RATES[:1], NOON + timedelta(days=9_999), LONDON) is plan


def test_a_repetition_is_counted_in_every_cover_of_its_span() -> None:
    plan = Plans(Calendar()).of_repeats(AGAIN, NOON, LONDON)
    assert [(line.counter.unit, line.limit) for line in plan.lines] == [(Unit.REPEATS, 3)] * 3


def test_the_same_limits_in_another_zone_have_a_plan_of_their_own() -> None:
    plans = Plans(Calendar())
    there = ZoneInfo("Asia/Tokyo")
    plans.of_budgets((DAY,), NOON, LONDON)
    (line,) = plans.of_budgets((DAY,), NOON, there).lines
    assert line.counter.window == window(WindowKind.DAY, NOON, there)


def test_only_so_many_plans_are_remembered() -> None:
    plans = Plans(Calendar())

    def plan(number: int) -> Plan:
        return plans.of_budgets((replace(DAY, scope=f"org?session={number}"),), NOON, LONDON)

    first = plan(0)
    assert plan(0) is first
    for number in range(MOST):
        plan(number + 1)
    assert plan(0) is not first
    assert plan(0) == first
