"""Every kind of limit, tried on traffic that did not know it; the numbers are worked out by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from governance.identity import KeyTerms
from governance.limits import Budget
from governance.money import Nanodollars
from governance.windows import WindowKind
from tests.support.past_traffic import Past, recorded, replayed
from tests.support.policy_texts import read
from tests.support.requests import usd

if TYPE_CHECKING:
    from gateway.policy.replay.outcomes import TeamOutcome
    from gateway.policy.source import LoadedPolicy
    from tests.support.past_traffic import Rows


def policy(team: str = "", everyone: str = "", weak: str = "large") -> LoadedPolicy:
    """Write a policy of one team; a call of `small` costs 0.20 USD, one of `large` 2.00."""
    return read(f"""\
version: 1
providers:
  engine: {{kind: engine, machine_usd_per_hour: 0.20}}
  cloud: {{kind: openai, zone: cloud}}
tiers: [local, cloud]
models:
  - {{name: small, provider: engine, model: s, tier: local, price: {{input: 100, output: 200}}}}
  - {{name: large, provider: cloud, model: l, tier: cloud, price: {{input: 1000, output: 2000}}}}
routes:
  - {{name: auto, weak: {weak}, strong: small}}
{everyone}
teams:
  - name: blue
    {team}
    apps: [{{name: web, features: [{{name: faq, floor: cloud}}]}}]
""")


OPEN = policy()


def asks(model: str = "small", gap: float = 10, **more: Any) -> Past:
    return Past(gap, "blue", "web", model, more.pop("prompt", 1000), more.pop("output", 500), 0, 1, **more)


def blue(rows: Rows, new: LoadedPolicy, known: LoadedPolicy = OPEN, **more: Any) -> TeamOutcome:
    return replayed(rows, new, known, **more)["blue"]


async def test_a_budget_for_each_user_stops_each_at_their_own_and_those_without_a_name_not_at_all() -> None:
    rows = await recorded(OPEN, *[asks(user="a"), asks(user="b"), asks()] * 3)
    outcome = blue(rows, policy("budgets: [{limit: 0.40, window: day, each: user}]"))
    assert (outcome.requests, outcome.refused) == (9, 2)
    assert outcome.reasons == {"team:blue per day for each user": 2}
    assert outcome.saved == usd("0.40")


async def test_a_budget_for_each_model_counts_on_the_model_that_answers() -> None:
    rows = await recorded(OPEN, *[asks("small")] * 3, asks("large"))
    outcome = blue(rows, policy("budgets: [{limit: 2.10, window: day, each: model}]"))
    assert outcome.refused == 0
    outcome = blue(rows, policy("budgets: [{limit: 0.40, window: day, each: model}]"))
    assert outcome.reasons == {"team:blue per day for each model": 2}


async def test_a_rolling_budget_remembers_for_its_length_and_at_most_a_sixth_longer() -> None:
    """Five fit into a cover of seven hours. From 19:00 on the calls of noon are forgotten hour by hour."""
    rows = await recorded(OPEN, *[asks(gap=1800)] * 20)  # from 12:30 to 22:00
    assert [row.at // 60_000_000 % 1440 for row in (rows[0], rows[-1])] == [750, 1320]
    outcome = blue(rows, policy("budgets: [{limit: 1, window: 6h}]"))
    # Refused are 15:00 to 18:30, 19:30, and 22:00.
    assert (outcome.refused, outcome.replayed) == (10, usd("2").nanos)
    assert outcome.reasons == {"team:blue per 6h": 10}


async def test_a_limit_on_sessions_stops_the_long_one_even_where_the_cache_answers() -> None:
    rows = await recorded(OPEN, *[asks(session="long")] * 5, *[asks(session="short")] * 2, *[asks()] * 4)
    new = policy(everyone="limits: {loop: {session_requests: 3}}")
    assert blue(rows, new).reasons == {"requests of one session": 2}
    hit = {"provider": "cache", "route": "cache", "cache": "exact", "held_nanos": 0, "cost_nanos": 0}
    from_cache = [row._replace(**hit) for row in rows]
    cached = policy(everyone="limits: {loop: {session_requests: 3}}\ncache: {exact: {ttl: 1h, shared_by: app}}")
    assert blue(from_cache, cached).reasons == {"requests of one session": 2}


async def test_an_answer_that_is_given_again_under_its_key_is_free_and_counts_on_nothing() -> None:
    rows = await recorded(OPEN, *[asks(session="long")] * 5)
    again = [row._replace(provider="cache", route="idempotent", held_nanos=0, cost_nanos=0) for row in rows]
    outcome = blue(again, policy(everyone="limits: {loop: {session_requests: 3}}"))
    assert (outcome.requests, outcome.replayed, outcome.refused) == (5, 0, 0)


async def test_a_session_that_was_stopped_goes_on_without_the_limit() -> None:
    old = policy(everyone="limits: {loop: {session_requests: 3}}")
    rows = await recorded(old, *[asks(session="long")] * 5)
    assert [row.code for row in rows] == ["", "", "", "loop_detected", "loop_detected"]
    outcome = blue(rows, OPEN, old)
    assert (outcome.admitted, outcome.saved) == (2, Nanodollars(-400_000_000))


async def test_the_same_request_again_stays_stopped_as_long_as_such_are_stopped_at_all() -> None:
    old = policy(everyone="limits: {loop: {same_request: 2}}")
    rows = await recorded(old, *[asks(text="again")] * 5)
    assert [row.code for row in rows].count("loop_detected") == 3
    assert not blue(rows, policy(everyone="limits: {loop: {same_request: 4}}"), old).changed
    assert blue(rows, OPEN, old).admitted == 3


async def test_a_budget_step_moves_later_calls_to_a_cheaper_model_in_its_zone() -> None:
    rows = await recorded(OPEN, *[asks("large")] * 8)
    outcome = blue(rows, policy("budgets: [{limit: 10, window: day, steps: {50%: downgrade, 100%: block}}]"))
    # 0.00, 2.00 and 4.00 stand before the first three; from 6.00 on it is the small one, for 0.20.
    assert (outcome.moved, outcome.moved_zone, outcome.refused) == (5, 5, 0)
    assert outcome.moves == {("large", "small", "budget:downgrade"): 5}
    assert (outcome.replayed, outcome.saved) == (usd("7").nanos, usd("9"))


async def test_a_budget_step_moves_nothing_under_the_floor_of_a_feature() -> None:
    rows = await recorded(OPEN, *[asks("large", feature="faq")] * 8)
    outcome = blue(rows, policy("budgets: [{limit: 10, window: day, steps: {50%: downgrade, 100%: block}}]"))
    assert (outcome.moved, outcome.refused, outcome.replayed) == (0, 3, usd("10").nanos)


async def test_calls_that_a_budget_had_moved_go_back_without_its_step() -> None:
    old = policy("budgets: [{limit: 10, window: day, steps: {50%: downgrade}}]")
    rows = await recorded(old, *[asks("large")] * 4, *[asks("auto")] * 4)
    outcome = blue(rows, OPEN, old)
    # Both a wish for the route and one for its model itself lead there; the route is the likelier one.
    assert outcome.moves == {("small", "large", "weak"): 5}
    assert (outcome.saved, outcome.estimated) == (Nanodollars(-9_000_000_000), 5)


async def test_a_budget_that_tightens_halves_the_ceiling_on_answers() -> None:
    old = policy(everyone="output: {max_tokens: {ceiling: 400}}")
    rows = await recorded(old, *[asks(prompt=0, output=400)] * 6)  # 0.08 USD each
    new = policy("budgets: [{limit: 0.40, window: day, steps: {50%: tighten}}]", "output: {max_tokens: {ceiling: 400}}")
    outcome = blue(rows, new, old)
    # 0.00, 0.08 and 0.16 stand before the first three; from 0.24 on an answer has 200 tokens.
    assert (outcome.tightened, outcome.estimated, outcome.replayed) == (3, 3, usd("0.36").nanos)
    back = blue(await recorded(new, *[asks(prompt=0, output=400)] * 6), old, new)
    assert (back.tightened, back.saved) == (0, usd("0"))  # nobody knows what was cut off


async def test_a_key_keeps_within_what_it_is_narrowed_to() -> None:
    keys = {"k1": KeyTerms(tiers=("local",), budgets=(Budget("key:k1", usd("0.50"), WindowKind.DAY),))}
    rows = await recorded(OPEN, *[asks("auto")] * 3, asks("auto", key_id="k2"), keys=keys)
    assert [(row.model, row.route) for row in rows] == [
        ("small", "tier:large"),
        ("small", "tier:large"),
        ("auto", ""),
        ("large", "weak"),
    ]
    assert not blue(rows, OPEN, keys=keys).changed
    cheaper = policy(weak="small")
    assert blue(rows, cheaper, keys=keys).moves == {("large", "small", "weak"): 1}
    unnarrowed = blue(rows, cheaper)
    assert unnarrowed.admitted == 1
