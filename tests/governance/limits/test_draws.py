"""Limits become draws, and a draw that does not fit becomes a refusal with its facts."""

from dataclasses import replace
from datetime import timedelta
from zoneinfo import ZoneInfo

import pytest

from governance.counters import CounterKey, Draw, Exhausted, Level, Unit
from governance.errors import BudgetExhausted, RateLimited
from governance.limits import Budget, Rate, WorstCase, dimensions_of
from governance.limits.draws import CONCURRENT_RETRY_S, check_each, draws_of, refusal_of
from governance.limits.standings import rate_standing_of, standing_of
from governance.windows import Calendar, WindowKind, window
from tests.support.requests import NOON, usd

UTC_ZONE = ZoneInfo("UTC")
WORST = WorstCase(usd("0.50"), tokens=1200)
DAY = window(WindowKind.DAY, NOON, UTC_ZONE)
MINUTE = window(WindowKind.MINUTE, NOON, UTC_ZONE)
ORG_DAY = Budget("org", usd("10"), WindowKind.DAY)


@pytest.mark.parametrize(
    ("scope", "columns"),
    [
        ("org", {}),
        ("team:support", {"team": "support"}),
        ("app:support/bot", {"team": "support", "app": "bot"}),
        ("feature:support/bot/faq", {"team": "support", "app": "bot", "feature": "faq"}),
        ("feature:support/bot/faq/en", {"team": "support", "app": "bot", "feature": "faq/en"}),
        ("key:abc", {"key_id": "abc"}),
    ],
)
def test_a_scope_names_its_columns(scope: str, columns: dict[str, str]) -> None:
    assert dimensions_of(scope) == columns


@pytest.mark.parametrize("scope", ["", "team", "team:", "org:x", "app:support", "app:/bot", "feature:a/b", "user:me"])
def test_any_other_text_is_no_scope(scope: str) -> None:
    with pytest.raises(ValueError, match="no scope"):
        dimensions_of(scope)


def draws(budgets: list[Budget], rates: list[Rate]) -> tuple[Draw, ...]:
    return draws_of(budgets, rates, WORST, NOON, UTC_ZONE, Calendar())


def test_each_limit_is_a_draw_and_budgets_come_first() -> None:
    assert draws([ORG_DAY], [Rate("org", requests_per_minute=5, tokens_per_minute=9000, concurrent=3)]) == (
        Draw(CounterKey("org", Unit.SPEND, DAY), 500_000_000, 10_000_000_000),
        Draw(CounterKey("org", Unit.REQUESTS, MINUTE), 1, 5),
        Draw(CounterKey("org", Unit.TOKENS, MINUTE), 1200, 9000),
        Draw(CounterKey("org", Unit.CONCURRENT, None), 1, 3),
    )


def test_a_rate_without_limits_draws_on_nothing() -> None:
    assert draws([], [Rate("org")]) == ()


@pytest.mark.parametrize("order", [1, -1])
def test_two_limits_on_one_counter_draw_once_under_the_lower(order: int) -> None:
    found = draws([ORG_DAY, replace(ORG_DAY, limit=usd("4"))][::order], [])
    assert found == (Draw(CounterKey("org", Unit.SPEND, DAY), 500_000_000, 4_000_000_000),)


def test_a_request_over_a_limit_on_single_requests_is_refused() -> None:
    check_each([ORG_DAY, replace(ORG_DAY, per_request=usd("0.50"))], WORST)
    with pytest.raises(BudgetExhausted) as refused:
        check_each([replace(ORG_DAY, per_request=usd("0.49"))], WORST)
    assert (refused.value.window, refused.value.limit, refused.value.asked) == ("request", usd("0.49"), usd("0.50"))
    assert refused.value.resets_at is None


def test_a_used_up_budget_says_which_and_when_it_resets() -> None:
    (draw,) = draws([ORG_DAY], [])
    refusal = refusal_of(Exhausted(draw, Level(settled=9_000_000_000, held=700_000_000)), NOON)
    assert isinstance(refusal, BudgetExhausted)
    assert (refusal.scope, refusal.window, refusal.resets_at) == ("org", "day", DAY.end)
    assert (refusal.limit, refusal.spent, refusal.held) == (usd("10"), usd("9"), usd("0.70"))
    assert str(refusal) == "the day budget of org is 10.00 USD: 9.00 spent, 0.70 held, 0.50 asked"


def test_a_used_up_minute_says_when_the_next_one_starts() -> None:
    (draw,) = draws([], [Rate("team:a", tokens_per_minute=2000)])
    refusal = refusal_of(Exhausted(draw, Level(1000)), NOON + timedelta(seconds=45.5))
    assert isinstance(refusal, RateLimited)
    assert (refusal.scope, refusal.unit, refusal.limit, refusal.asked) == ("team:a", "tokens", 2000, 1200)
    assert refusal.retry_after_s == 14.5
    assert not refusal.never_fits


def test_a_request_larger_than_its_minute_never_fits() -> None:
    (draw,) = draws([], [Rate("team:a", tokens_per_minute=1000)])
    refusal = refusal_of(Exhausted(draw, Level()), NOON)
    assert isinstance(refusal, RateLimited)
    assert refusal.never_fits


def test_too_many_at_once_may_try_again_shortly() -> None:
    (draw,) = draws([], [Rate("team:a", concurrent=1)])
    refusal = refusal_of(Exhausted(draw, Level(held=1)), NOON)
    assert isinstance(refusal, RateLimited)
    assert (refusal.unit, refusal.retry_after_s) == ("concurrent", CONCURRENT_RETRY_S)


def test_only_money_stands_as_a_budget_and_only_minutes_as_rates() -> None:
    spend, requests, _, running = draws(
        [ORG_DAY], [Rate("org", requests_per_minute=5, tokens_per_minute=9000, concurrent=3)]
    )
    standing = standing_of(spend.counter, spend.limit, Level(9_000_000_000, 2_000_000_000))
    assert standing is not None
    assert (standing.remaining, standing.resets_at) == (usd("0"), DAY.end)
    assert standing_of(requests.counter, 5, Level()) is None
    rate = rate_standing_of(requests.counter, requests.limit, Level(2, 1))
    assert rate is not None
    assert (rate.unit, rate.limit, rate.remaining, rate.resets_at) == ("requests", 5, 2, MINUTE.end)
    assert rate_standing_of(running.counter, 3, Level()) is None
    assert rate_standing_of(spend.counter, 3, Level()) is None
