"""The replay tells what would have been otherwise, and nothing else."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from governance.money import Nanodollars
from tests.support.past_traffic import Past, Rows, recorded, replayed
from tests.support.policy_texts import read

if TYPE_CHECKING:
    from gateway.policy.replay.outcomes import TeamOutcome
    from gateway.policy.source import LoadedPolicy

TEXT = """\
version: 1
providers:
  engine: {kind: engine, machine_usd_per_hour: 0.20}
  cloud: {kind: openai, zone: cloud}
tiers: [local, cloud]
models:
  - {name: small, provider: engine, model: s, tier: local, price: {input: 100, output: 200}}
  - {name: large, provider: cloud, model: l, tier: cloud, price: {input: 1000, output: 2000}}
routes:
  - {name: auto, weak: large, strong: small}
budgets:
  - {scope: org, limit: 8, window: day}
teams:
  - name: red
    budgets: [{limit: 3, window: hour, per_request: 2.50}]
    limits: {requests_per_minute: 3, tokens_per_minute: 4000, concurrent: 2}
    apps: [{name: web, budgets: [{limit: 2, window: hour}]}, {name: batch}]
  - name: blue
    budgets: [{limit: 4, window: day}]
    apps: [{name: web}]
"""
OLD = read(TEXT)
APPS = (("red", "web"), ("red", "batch"), ("blue", "web"))

requests = st.builds(
    lambda who, **rest: Past(team=who[0], app=who[1], **rest),
    who=st.sampled_from(APPS),
    gap_s=st.sampled_from((0.0, 0.5, 7.0, 65.0, 2_000.0)),
    model=st.sampled_from(("small", "large")),
    prompt=st.integers(1, 900),
    output=st.integers(0, 500),
    room=st.integers(0, 600),
    seconds=st.sampled_from((0.0, 0.25, 3.0, 90.0)),
)


def changed(text: str) -> LoadedPolicy:
    assert text != TEXT
    return read(text)


def replay(rows: Rows, new: LoadedPolicy) -> dict[str, TeamOutcome]:
    return replayed(rows, new, OLD)


def asks(team: str = "blue", model: str = "small", gap: float = 100, seconds: float = 1, **more: Any) -> Past:
    return Past(gap, team, "web", model, more.pop("prompt", 1000), more.pop("output", 500), 0, seconds, **more)


async def test_long_prompts_are_replayed_at_the_tier_of_a_new_price() -> None:
    rows = await recorded(OLD, asks(prompt=1000, output=100), asks(prompt=1001, output=100))
    tiers = "tiers: [{above: 1000, input: 300, output: 400}]"
    outcome = replay(rows, changed(TEXT.replace("output: 200}", f"output: 200, {tiers}}}")))["blue"]
    # Only the longer one: 1001 tokens at 200 USD more and 100 at 200 USD more, each per million.
    assert -outcome.saved.nanos == 1001 * 200_000 + 100 * 200_000


async def test_prices_that_begin_later_change_nothing_yet() -> None:
    rows = await recorded(OLD, asks(), asks(model="large", output=5))
    dated = "price: [{input: 100, output: 200}, {input: 1, output: 2, from: 2099-01-01}]"
    outcome = replay(rows, changed(TEXT.replace("price: {input: 100, output: 200}", dated)))["blue"]
    assert not outcome.changed


@settings(max_examples=60, deadline=None)
@given(past=st.lists(requests, max_size=40))
async def test_the_same_policy_over_its_own_traffic_changes_nothing(past: list[Past]) -> None:
    rows = await recorded(OLD, *past)
    for outcome in (replay(rows, OLD)).values():
        assert not outcome.changed
        assert outcome.recorded == outcome.replayed
        assert outcome.estimated == outcome.unpriced == 0


@settings(max_examples=60, deadline=None)
@given(past=st.lists(requests, max_size=40))
async def test_what_was_let_through_is_let_through_when_it_is_decided_anew(past: list[Past]) -> None:
    rows = [row for row in await recorded(OLD, *past) if row.kind == "settled"]
    for outcome in (replayed(rows, replace(OLD, version="another"))).values():
        assert not outcome.changed


@settings(max_examples=30, deadline=None)
@given(past=st.lists(requests, max_size=40))
async def test_a_replay_gives_the_same_twice_and_touches_only_those_it_concerns(past: list[Past]) -> None:
    rows = await recorded(OLD, *past)
    new = changed(TEXT.replace("limit: 2,", "limit: 1,").replace("limit: 8", "limit: 800"))
    assume(rows)
    first, second = replay(rows, new), replay(rows, new)
    assert {name: outcome.facts() for name, outcome in first.items()} == {
        name: outcome.facts() for name, outcome in second.items()
    }


async def test_a_lower_budget_refuses_what_came_after_it_was_spent() -> None:
    rows = await recorded(OLD, *[asks() for _ in range(10)])  # 0.20 USD each
    outcome = (replay(rows, changed(TEXT.replace("limit: 4, window: day", "limit: 1, window: day"))))["blue"]
    assert (outcome.refused, outcome.admitted, outcome.moved) == (5, 0, 0)
    assert outcome.saved == Nanodollars.parse("1")
    assert outcome.reasons == {"team:blue per day": 5}


async def test_a_budget_whose_step_is_to_queue_makes_them_wait_and_spends_later() -> None:
    rows = await recorded(OLD, *[asks() for _ in range(10)])
    new = changed(TEXT.replace("limit: 4, window: day", "limit: 1, window: day, steps: {100%: queue}"))
    outcome = (replay(rows, new))["blue"]
    assert (outcome.queued, outcome.refused, outcome.saved.nanos) == (5, 0, 0)


async def test_a_higher_budget_lets_through_what_was_refused_at_what_such_calls_cost() -> None:
    rows = await recorded(OLD, *[asks() for _ in range(25)])
    assert sum(row.kind == "refused" for row in rows) == 5
    outcome = (replay(rows, changed(TEXT.replace("limit: 4, window: day", "limit: 6, window: day"))))["blue"]
    assert (outcome.admitted, outcome.estimated, outcome.refused) == (5, 5, 0)
    assert outcome.saved == Nanodollars(-1_000_000_000)


async def test_a_tier_that_is_taken_away_moves_routed_calls_to_another_zone_and_refuses_pinned_ones() -> None:
    routed, pinned = (
        asks(model="large", prompt=100, output=100, route="weak"),
        asks(model="large", prompt=100, output=9),
    )
    rows = await recorded(OLD, routed, pinned)
    new = changed(TEXT.replace("name: blue\n", "name: blue\n    tiers: [local]\n"))
    outcome = (replay(rows, new))["blue"]
    assert (outcome.moved, outcome.moved_zone, outcome.refused) == (1, 1, 1)
    assert outcome.moves == {("large", "small", "tier:large"): 1}
    assert outcome.reasons == {"model_not_allowed": 1}
    assert outcome.replayed == outcome.recorded - rows[1].cost_nanos - rows[0].cost_nanos * 9 // 10


async def test_another_price_is_another_cost() -> None:
    rows = await recorded(OLD, asks(prompt=100, output=100))
    outcome = (replay(rows, changed(TEXT.replace("output: 200}", "output: 400}"))))["blue"]
    assert Nanodollars(outcome.replayed) == Nanodollars.parse("0.05")
    assert (outcome.estimated, outcome.refused) == (0, 0)


async def test_a_lower_ceiling_shortens_answers() -> None:
    rows = await recorded(OLD, asks(prompt=0, output=400))
    outcome = (replay(rows, changed(f"{TEXT}output: {{max_tokens: {{ceiling: 100}}}}\n")))["blue"]
    assert (outcome.replayed * 4, outcome.estimated) == (outcome.recorded, 1)


async def test_an_app_that_is_gone_is_refused_and_what_it_spent_is_free_for_others() -> None:
    rows = await recorded(OLD, *[asks("red", prompt=100, output=0, gap=30) for _ in range(4)], asks())
    text = TEXT.replace("apps: [{name: web, budgets: [{limit: 2, window: hour}]}, {name: batch}]", "apps: []")
    outcomes = replay(rows, changed(text))
    assert outcomes["red"].reasons == {"no_such_app": 4}
    assert not outcomes["blue"].changed


async def test_who_was_refused_because_another_spent_it_all_is_let_through_when_the_other_is_gone() -> None:
    dear = Past(1300, "red", "batch", "large", 1000, 0, 0, 1)
    rows = await recorded(OLD, *[dear] * 7, *[asks() for _ in range(8)])
    assert [row.kind for row in rows if row.team == "blue"] == ["settled"] * 5 + ["refused"] * 3
    outcomes = replay(rows, changed(TEXT.replace(", {name: batch}]", "]")))
    assert (outcomes["red"].refused, outcomes["blue"].admitted) == (7, 3)


async def test_calls_that_run_at_once_meet_a_limit_that_calls_in_turn_do_not() -> None:
    new = changed(f"{TEXT}limits: {{concurrent: 1}}\n")
    in_turn = replay(await recorded(OLD, *[asks(gap=10, seconds=9) for _ in range(3)]), new)
    at_once = replay(await recorded(OLD, *[asks(gap=10, seconds=25) for _ in range(3)]), new)
    assert (in_turn["blue"].refused, at_once["blue"].refused) == (0, 2)


@pytest.mark.parametrize("code", ["upstream_error", "overloaded", "zone_refused"])
async def test_a_refusal_that_was_not_the_policys_doing_stays(code: str) -> None:
    rows = [
        row._replace(code=code) for row in await recorded(OLD, *[asks() for _ in range(25)]) if row.kind == "refused"
    ]
    outcome = (replay(rows, changed(TEXT.replace("limit: 4, window: day", "limit: 6, window: day"))))["blue"]
    assert not outcome.changed


async def test_a_price_that_nobody_knows_is_said_to_be_unknown_and_counts_as_it_was() -> None:
    rows = await recorded(OLD, asks(model="large", prompt=10, output=10, route="weak"))
    measured = TEXT.replace("price: {input: 100, output: 200}", "price: measured").replace("model: s,", "model: new,")
    fresh = measured.replace("name: small", "name: fresh").replace("strong: small", "strong: fresh")
    outcome = (replay(rows, changed(fresh.replace("name: blue\n", "name: blue\n    tiers: [local]\n"))))["blue"]
    assert (outcome.moved, outcome.unpriced, outcome.saved.nanos) == (1, 1, 0)


async def test_a_call_that_was_cancelled_takes_no_place_among_the_requests_of_its_minute() -> None:
    made = await recorded(OLD, *[asks(gap=0.5, seconds=0.1, prompt=1, output=1) for _ in range(4)])
    rows = [row._replace(kind="cancelled", cost_nanos=0, fresh_input=None, output=None) for row in made[:3]] + [made[3]]
    new = changed(f"{TEXT}limits: {{requests_per_minute: 1}}\n")
    assert (replay(rows, new))["blue"].refused == 0
    assert (replay(made, new))["blue"].refused == 3
