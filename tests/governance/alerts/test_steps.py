from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from hypothesis import given
from hypothesis import strategies as st

from gateway.policy.source import load_policy
from governance.alerts.steps import FULL, Watch, due, used_up, watch_key, watches_of
from governance.limits import Budget, Step, StepAction
from governance.money import Nanodollars
from governance.windows import Rolling, WindowKind, covers, window
from tests.support.policy_texts import AT, EXAMPLE, KEYS, price_book

NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)
TODAY = window(WindowKind.DAY, NOW, ZoneInfo("UTC"))


def watch(*percents: int, limit: int = 1000) -> Watch:
    return Watch(Budget("team:red", Nanodollars(limit), WindowKind.DAY), percents, "red")


def test_a_step_is_due_once_its_share_is_settled_and_not_a_nano_dollar_before() -> None:
    assert due(watch(70, FULL), TODAY, Nanodollars(699), NOW) == ()
    (alert,) = due(watch(70, FULL), TODAY, Nanodollars(700), NOW)
    assert (alert.percent, alert.scope, alert.team, alert.window_end) == (70, "team:red", "red", TODAY.end)


def test_a_leap_over_several_steps_makes_all_of_them_due() -> None:
    assert [alert.percent for alert in due(watch(50, 70, FULL), TODAY, Nanodollars(5000), NOW)] == [50, 70, 100]


def test_a_step_has_one_name_whoever_finds_it_and_another_in_each_window_and_for_each_limit() -> None:
    def name(of: Watch, at: datetime) -> str:
        return due(of, window(WindowKind.DAY, at, ZoneInfo("UTC")), Nanodollars(9999), at)[0].id

    later, tomorrow = NOW.replace(hour=23), NOW.replace(day=30)
    assert name(watch(FULL), NOW) == name(watch(FULL), later)
    assert len({name(watch(FULL), NOW), name(watch(FULL), tomorrow), name(watch(FULL, limit=900), NOW)}) == 3


@given(st.lists(st.integers(0, 2000), max_size=20), st.sets(st.integers(1, 99)))
def test_however_spending_grows_each_step_it_reaches_fires_once(amounts: list[int], percents: set[int]) -> None:
    watched, fired, settled = watch(*sorted(percents), FULL), list[int](), 0
    known: set[str] = set()
    for amount in amounts:
        settled += amount
        fresh = [alert for alert in due(watched, TODAY, Nanodollars(settled), NOW) if alert.id not in known]
        known |= {alert.id for alert in fresh}
        fired += [alert.percent for alert in fresh]
    assert fired == [percent for percent in (*sorted(percents), FULL) if settled * 100 >= 1000 * percent]


def test_every_budget_of_a_policy_is_watched_with_its_alerting_steps_and_the_last() -> None:
    document = load_policy(EXAMPLE, KEYS, AT, price_book).document
    found = [
        (one.budget.scope, one.budget.window.value, one.percents, one.team)
        for one in watches_of(document.budgets, document.teams)
    ]
    assert found == [
        ("org", "month", (100,), ""),
        ("team:support", "month", (70, 100), "support"),
        ("team:support", "day", (100,), "support"),
        ("app:support/support-bot", "day", (100,), "support"),
        ("feature:support/support-bot/triage", "day", (100,), "support"),
        ("team:research", "month", (90, 100), "research"),
        ("app:research/nightly-report", "day", (100,), "research"),
    ]


def test_a_budget_that_refuses_is_used_up_when_nearly_all_it_lets_through_is_settled() -> None:
    blocks_early = Watch(
        Budget("org", Nanodollars(1000), WindowKind.DAY, steps=(Step(50, StepAction.BLOCK),)), (50,), ""
    )
    may_be_overrun = Watch(
        Budget("org", Nanodollars(1000), WindowKind.DAY, steps=(Step(50, StepAction.ALERT),)), (50,), ""
    )
    assert used_up(blocks_early, TODAY, Nanodollars(449), NOW) == ()
    (alert,) = used_up(blocks_early, TODAY, Nanodollars(450), NOW)
    assert alert.percent == 50
    assert alert.id == due(blocks_early, TODAY, Nanodollars(500), NOW)[0].id
    assert used_up(may_be_overrun, TODAY, Nanodollars(2000), NOW) == ()


def test_a_keys_budget_alerts_its_team_when_it_is_used_up() -> None:
    budget = Budget("key:abc", Nanodollars(5), WindowKind.DAY)
    assert watch_key(budget, "red") == Watch(budget, (100,), "red")


def test_a_budget_for_each_value_is_watched_value_by_value() -> None:
    each = Watch(Budget("team:red", Nanodollars(1000), WindowKind.DAY, each="user"), (33, FULL), "red")
    (alert,) = due(each.of("a/b"), TODAY, Nanodollars(330), NOW)
    assert (alert.scope, alert.dimension, alert.value) == ("team:red?user=a%2Fb", "user", "a/b")
    assert each.lowest == Nanodollars(330)
    assert watch(33, FULL, limit=1001).lowest == Nanodollars(331)


def test_a_step_of_a_rolling_window_is_unbroken_since_its_cover_shows_it() -> None:
    span = Rolling(86_400)
    of_rolling = Watch(Budget("org", Nanodollars(1000), span), (FULL,), "")
    before, shown, *_ = covers(span, NOW, ZoneInfo("UTC"))
    (alert,) = due(of_rolling, shown, Nanodollars(1000), NOW)
    assert alert.unbroken_since == before.end
    assert alert.is_rolling
    (of_today,) = due(watch(FULL), TODAY, Nanodollars(1000), NOW)
    assert (of_today.unbroken_since, of_today.is_rolling) == (None, False)
