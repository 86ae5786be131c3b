"""What one kind of request is made of, from what the ledger keeps of it."""

from __future__ import annotations

import pytest

from gateway.policy.replay.lanes import Board
from gateway.policy.replay.rulings import Answer, Ruling, Rulings
from tests.support.past_traffic import Past, Recorder, replayed
from tests.support.policy_texts import read

TEXT = """\
version: 1
providers:
  engine: {kind: engine, machine_usd_per_hour: 0.20}
  cloud: {kind: openai, zone: cloud}
tiers: [local, cloud, top]
models:
  - {name: small, provider: engine, model: s, tier: local, price: {input: 100, output: 200}}
  - {name: large, provider: cloud, model: l, tier: cloud, price: {input: 1000, output: 2000}}
  - {name: best, provider: cloud, model: b, tier: top, price: {input: 5000, output: 9000}}
routes:
  - {name: auto, weak: small, strong: large, fallbacks: [best]}
  - {name: dear, weak: best, strong: large}
teams:
  - {name: red, apps: [{name: web}]}
"""


async def ruling(model: str, route: str, new: str = TEXT) -> Ruling:
    old, policy = read(TEXT), read(new)
    recorder = Recorder(old, dict(old.prices))
    await recorder.record([Past(1, "red", "web", model, 10, 10, 0, 1, route=route)])
    rulings = Rulings(policy, {old.version: old}, dict(old.prices), {}, Board(policy.rules.timezone))
    return rulings.of(recorder.rows()[0])


async def answer(model: str, route: str, new: str = TEXT, downgrade: int = 0) -> Answer:
    return (await ruling(model, route, new)).answer(downgrade)


@pytest.mark.parametrize(
    ("model", "route"),
    [
        ("small", "weak"),
        ("large", "unavailable:small"),
        ("best", "unavailable:small"),
        ("large", "zone:cloud"),
        ("best", "weak"),
        ("large", "unavailable:best"),
        ("large", "pinned"),
    ],
)
async def test_a_request_gets_the_model_that_it_got_under_its_own_policy(model: str, route: str) -> None:
    found = await ruling(model, route)
    answer = found.answer(0)
    assert (found.same, answer.code, answer.model, answer.price) == (True, "", model, None)


async def test_what_was_not_available_then_is_not_counted_on_under_another_policy() -> None:
    new = TEXT.replace("fallbacks: [best]", "fallbacks: []")
    assert (await answer("large", "unavailable:small", new)).model == "large"
    assert (await answer("best", "unavailable:small", new)).code == "overloaded"


async def test_a_zone_that_a_request_could_not_leave_is_kept() -> None:
    new = TEXT.replace("strong: large, fallbacks: [best]", "strong: small")
    assert (await answer("large", "zone:cloud", new)).code == "zone_refused"


async def test_a_route_that_is_gone_is_refused_and_a_new_order_moves() -> None:
    assert (await answer("small", "weak", TEXT.replace("name: auto", "name: other"))).code == "model_not_found"
    moved = await answer("small", "weak", TEXT.replace("weak: small, strong: large", "weak: large, strong: small"))
    assert (moved.model, moved.zone_changed, moved.hold) == ("large", True, (10**12, 10**11))


@pytest.mark.parametrize(("downgrade", "model", "reason"), [(0, "large", "pinned"), (1, "small", "budget:downgrade")])
async def test_what_a_budget_brought_down_is_brought_down_as_far_as_budgets_ask_now(
    downgrade: int, model: str, reason: str
) -> None:
    """No route leads to the smallest model by one tier less, so the model above it was asked for by name."""
    found = await answer("small", "budget:downgrade;budget:tighten", downgrade=downgrade)
    assert (found.model, found.reason, found.code) == (model, reason, "")


async def test_a_budget_goes_down_tier_by_tier_from_the_model_that_was_asked_for() -> None:
    asked = await ruling("best", "pinned;budget:alert")
    assert [asked.answer(steps).model for steps in range(4)] == ["best", "large", "small", "small"]
    assert not asked.was_tightened
    assert (await ruling("best", "weak;budget:tighten")).was_tightened


CACHED = TEXT.replace("apps: [{name: web}]", "apps: [{name: web, features: [{name: faq}, {name: triage}]}]")
EXACT = "cache: {exact: {ttl: 1h}}\n"
SEMANTIC = "cache: {semantic: {enabled: [web/%s], max_error: 0.01, ttl: 1h}}\n"


@pytest.mark.parametrize(
    ("cache", "new", "cost"),
    [
        ("semantic;similarity=0.97", SEMANTIC % "faq", 0),
        ("semantic;similarity=0.97", SEMANTIC % "triage", 3),
        ("semantic;similarity=0.97", EXACT, 3),
        ("semantic;similarity=0.97", "", 3),
        ("exact", EXACT, 0),
        ("exact", SEMANTIC % "faq", 3),
    ],
)
async def test_an_answer_stays_cached_as_long_as_its_cache_may_answer_its_feature(
    cache: str, new: str, cost: int
) -> None:
    both = "cache: {exact: {ttl: 1h}, semantic: {enabled: [web/faq], max_error: 0.01, ttl: 1h}}\n"
    old, policy = read(CACHED + both), read(CACHED + new)
    recorder = Recorder(old, dict(old.prices))
    await recorder.record([Past(1, "red", "web", "small", 10_000, 10_000, 0, 1, feature="faq")])
    hit = {"provider": "cache", "route": "cache", "cache": cache, "held_nanos": 0, "cost_nanos": 0}
    rows = [row._replace(**hit) for row in recorder.rows()]
    assert replayed(rows, policy, old)["red"].replayed == cost * 10**9
    assert replayed(rows, old, old)["red"].replayed == 0
