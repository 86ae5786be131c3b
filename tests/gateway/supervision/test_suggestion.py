from gateway.policy.source import load_policy, parse_policy
from gateway.supervision.suggestion import Suggestion, suggest
from tests.support.policy_texts import AT

OWN = """
version: 1
providers: {engine: {kind: engine, machine_usd_per_hour: 1}}
tiers: [local, cloud]
models:
  - {name: vectors, provider: engine, model: v, tier: local, kind: embedding, price: measured}
  - {name: dear, provider: engine, model: d, tier: cloud, price: {input: 1, output: 1}}
  - {name: small, provider: engine, model: s, tier: local, price: measured}
routes:
  - {name: vector-route, weak: vectors, strong: vectors}
  - {name: dear-route, weak: dear, strong: dear}
teams:
  - {name: search, tiers: [local], apps: [{name: web}, {name: other}]}
"""


def suggested(text: str) -> Suggestion | None:
    loaded = parse_policy(text, "policy.yaml", {}, AT)
    return suggest(loaded.document, loaded.rules)


def test_the_starter_policy_suggests_its_demo() -> None:
    loaded = load_policy(None, {}, AT)
    found = suggest(loaded.document, loaded.rules)
    assert found == Suggestion("demo", "demo", "auto")
    assert found is not None
    assert found.is_demo


def test_the_first_app_is_suggested_with_a_chat_model_of_its_tiers() -> None:
    assert suggested(OWN) == Suggestion("search", "web", "small")
    assert suggested(OWN.replace("tiers: [local],", "")) == Suggestion("search", "web", "dear-route")


def test_an_app_that_may_use_no_model_is_suggested_without_one() -> None:
    assert suggested(
        OWN.replace("  - {name: small, provider: engine, model: s, tier: local, price: measured}\n", "")
    ) == (Suggestion("search", "web", None))


def test_without_apps_there_is_nothing_to_suggest() -> None:
    assert suggested(OWN[: OWN.index("teams:")]) is None
