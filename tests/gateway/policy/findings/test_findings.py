import pytest

from gateway.policy.source import STARTER, parse_policy, starter_text
from tests.support.policy_texts import AT, EXAMPLE, KEYS, read

TEXT = """\
version: 1
providers:
  engine: {kind: engine, machine_usd_per_hour: 0.20}
  cloud: {kind: openai, zone: cloud}
tiers: [local, cloud, spare]
models:
  - {name: small, provider: engine, model: s, tier: local, price: measured}
  - {name: large, provider: cloud, model: gpt-4.1, tier: cloud, price: list}
  - {name: other, provider: engine, model: o, tier: spare, price: measured}
routes:
  - {name: auto, weak: small, strong: large, fallbacks: [small]}
  - {name: dear, weak: large, strong: large}
limits: {concurrent: 10}
budgets:
  - {scope: org, limit: 100, window: month}
teams:
  - name: demo
    tiers: [local, cloud]
    budgets: [{limit: 50, window: month, per_request: 2}]
    limits: {concurrent: 5, requests_per_minute: 60}
    apps:
      - name: bot
        budgets: [{limit: 5, window: day}]
        limits: {requests_per_minute: 30}
        features:
          - {name: faq, route: dear}
"""
CLEAN = TEXT.replace(", fallbacks: [small]", "")


def found(text: str) -> list[str]:
    return [str(warning).removeprefix("policy.yaml:") for warning in read(text).warnings]


def test_a_policy_in_which_everything_can_happen_has_no_findings() -> None:
    assert found(CLEAN) == []


def test_the_example_and_the_starter_raise_no_false_alarm() -> None:
    assert read(EXAMPLE.read_text(), KEYS).warnings == ()
    assert parse_policy(starter_text(), STARTER, {}, AT).warnings == ()


@pytest.mark.parametrize(
    ("old", "new", "finding"),
    [
        ("window: month, per_request: 2}]", "window: month}, {limit: 60, window: month}]",
         ("19:51: teams.demo.budgets[1].limit: team:demo has a budget per month already, on line 19: "
         "the lower one counts; keep one of them")),
        ("limit: 50, window: month", "limit: 500, window: month",
         ("19:23: teams.demo.budgets[0].limit: is never reached: org may spend 100.00 per month; "
         "write less than 100.00, or leave it out")),
        ("limit: 5, window: day", "limit: 51, window: day",
         ("23:27: teams.demo.apps.bot.budgets[0].limit: is never reached: team:demo may spend 50.00 per month; "
         "write less than 50.00, or leave it out")),
        ("per_request: 2}", "per_request: 200}",
         ("19:55: teams.demo.budgets[0].per_request: is never reached: all requests together may spend 50.00; "
         "write at most 50.00, or leave it out")),
        ("requests_per_minute: 30", "requests_per_minute: 600",
         ("24:39: teams.demo.apps.bot.limits.requests_per_minute: is never reached: team:demo is limited to 60; "
         "write less than 60, or leave it out")),
        ("concurrent: 5", "concurrent: 50",
         ("20:26: teams.demo.limits.concurrent: is never reached: org is limited to 10; "
         "write less than 10, or leave it out")),
        ("strong: large}\n  - {name: dear", "strong: large, fallbacks: [small]}\n  - {name: dear",
         '11:58: routes.auto.fallbacks: "small" has been tried before it gets here; leave it out'),
        ("strong: large}\n  - {name: dear", "strong: large, fallbacks: [other]}\n  - {name: dear",
         ('11:58: routes.auto.fallbacks: is never reached: no team may use tier "spare" of "other"; '
         "give a team the tier, or leave the fallback out")),
        ("tiers: [local, cloud]\n    budgets", "tiers: [local]\n    budgets",
         ('26:32: teams.demo.apps.bot.features.faq.route: no model of route "dear" is in its tiers (local); '
         "allow one of cloud, or name another route")),
    ],
)  # fmt: skip
def test_what_can_never_happen_is_told_with_its_place_and_a_hint(old: str, new: str, finding: str) -> None:
    assert old in CLEAN
    assert found(CLEAN.replace(old, new)) == [finding]


def test_a_route_over_a_model_without_a_price_is_told_at_each_place_that_names_it() -> None:
    told = found(CLEAN.replace("model: gpt-4.1,", "model: mystery,"))
    assert [line.split(": ")[1] for line in told] == [
        "models.large.price",
        "routes.auto.strong",
        "routes.dear.weak",
        "routes.dear.strong",
    ]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("limit: 50, window: month", "limit: 500, window: quarter"),
        ("limit: 5, window: day", "limit: 60, window: quarter"),
        ("{scope: org, limit: 100, window: month}", "{scope: org, limit: 10, window: month, steps: {100%: alert}}"),
        ("{scope: org, limit: 100, window: month}", "{scope: 'key:abc', limit: 1, window: month}"),
        ("concurrent: 5", "concurrent: 10"),
        ("limit: 50,", "limit: 100,"),
        ("window: month}\nteams", "window: month}\n  - {scope: org, limit: 2, window: month, each: user}\nteams"),
    ],
)
def test_what_may_bind_some_day_raises_no_alarm(old: str, new: str) -> None:
    assert old in CLEAN
    assert found(CLEAN.replace(old, new)) == []
