"""The same policy over its own traffic changes nothing, whatever is in it."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from governance.identity import KeyTerms
from governance.limits import Budget
from governance.windows import WindowKind
from tests.support.past_traffic import Past, recorded, replayed
from tests.support.policy_texts import read
from tests.support.requests import usd

TEXT = """\
version: 1
timezone: America/St_Johns
providers:
  engine: {kind: engine, machine_usd_per_hour: 0.20}
  cloud: {kind: openai, zone: cloud}
tiers: [local, cloud, top]
models:
  - {name: small, provider: engine, model: s, tier: local, price: {input: 100, output: 200}}
  - {name: large, provider: cloud, model: l, tier: cloud, price: {input: 300, output: 900}}
  - {name: best, provider: cloud, model: b, tier: top, price: {input: 1000, output: 2000}}
routes:
  - {name: auto, weak: large, strong: best, fallbacks: [small]}
output: {max_tokens: {ceiling: 300}}
limits: {requests_per_minute: 6, loop: {same_request: 2, session_requests: 4}}
budgets:
  - {scope: org, limit: 6, window: 3h, steps: {30%: alert, 40%: downgrade, 60%: downgrade, 70%: tighten, 100%: block}}
  - {scope: org, limit: 2, window: day, each: user, steps: {50%: downgrade, 100%: queue}}
  - {scope: org, limit: 3, window: hour, each: model}
teams:
  - name: red
    budgets: [{limit: 1, window: session}, {limit: 2, window: hour, each: app, per_request: 1.50}]
    limits: {tokens_per_minute: 4000, concurrent: 3}
    apps: [{name: web, features: [{name: faq, route: auto, floor: cloud}]}, {name: batch}]
  - name: blue
    budgets: [{limit: 2, window: hour, steps: {50%: tighten, 80%: downgrade}}]
    apps: [{name: web}]
"""
POLICY = read(TEXT)
KEYS = {
    "narrow": KeyTerms(tiers=("local", "cloud")),
    "poor": KeyTerms(models=("small", "best"), budgets=(Budget("key:poor", usd("0.70"), WindowKind.HOUR),)),
}

requests = st.builds(
    lambda who, **rest: Past(team=who[0], app=who[1], **rest),
    who=st.sampled_from((("red", "web"), ("red", "batch"), ("blue", "web"))),
    gap_s=st.sampled_from((0.125, 0.5, 7.0, 65.0, 900.0, 2_000.0, 20_000.0)),
    model=st.sampled_from(("small", "large", "best", "auto")),
    prompt=st.integers(1, 900),
    output=st.integers(0, 500),
    room=st.integers(0, 600),
    seconds=st.sampled_from((0.0, 0.25, 3.0, 90.0, 4_000.0)),
    feature=st.sampled_from(("unattributed", "faq")),
    session=st.sampled_from(("unattributed", "s", "t/u")),
    user=st.sampled_from((None, "ann", "bob")),
    key_id=st.sampled_from(("wide", "narrow", "poor")),
    text=st.sampled_from(("", "again")),
)


@settings(max_examples=80, deadline=None)
@given(past=st.lists(requests, max_size=40))
async def test_nothing_changes(past: list[Past]) -> None:
    rows = await recorded(POLICY, *past, keys=KEYS)
    for outcome in replayed(rows, POLICY, POLICY, keys=KEYS).values():
        assert not outcome.changed
        assert outcome.recorded == outcome.replayed
        assert outcome.estimated == outcome.unpriced == 0


@settings(max_examples=80, deadline=None)
@given(past=st.lists(requests, max_size=40))
async def test_what_was_let_through_is_decided_as_it_was_when_it_is_decided_anew(past: list[Past]) -> None:
    rows = [row for row in await recorded(POLICY, *past, keys=KEYS) if row.kind == "settled"]
    for outcome in replayed(rows, replace(POLICY, version="another"), keys=KEYS).values():
        assert not outcome.changed


@settings(max_examples=40, deadline=None)
@given(past=st.lists(requests, max_size=40))
async def test_another_policy_gives_the_same_report_twice(past: list[Past]) -> None:
    rows = await recorded(POLICY, *past, keys=KEYS)
    new = read(TEXT.replace("limit: 6,", "limit: 3,").replace("session_requests: 4", "session_requests: 3"))
    first, second = (replayed(rows, new, POLICY, keys=KEYS) for _ in range(2))
    assert {name: outcome.facts() for name, outcome in first.items()} == {
        name: outcome.facts() for name, outcome in second.items()
    }
    requests_seen = sum(outcome.requests for outcome in first.values())
    assert requests_seen == len(rows)
