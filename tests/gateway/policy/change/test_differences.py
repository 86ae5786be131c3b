import re

import pytest

from gateway.policy.change.differences import differences
from tests.support.policy_texts import EXAMPLE, KEYS, SMALL, read

TEXT = EXAMPLE.read_text()


def told(old: str, new: str) -> list[str]:
    return [str(change) for change in differences(read(old, KEYS), read(new, KEYS))]


def test_a_policy_does_not_differ_from_itself() -> None:
    assert told(TEXT, TEXT) == []


@pytest.mark.parametrize(
    ("old", "new", "lines"),
    [
        ("{limit: 40, window: day, steps: {100%: block}}", "{limit: 50, window: day, steps: {100%: block}}",
         ["~ budget team:support per day: 40.00 USD (100% block) -> 50.00 USD (100% block)"]),
        ("      - {limit: 40, window: day, steps: {100%: block}}\n", "",
         ["- budget team:support per day: 40.00 USD (100% block)"]),
        ("{limit: 40, window: day, steps: {100%: block}}", "{limit: 40, window: day, each: user}",
         ["- budget team:support per day: 40.00 USD (100% block)",
          "+ budget team:support per day for each user: 40.00 USD"]),
        ("requests_per_minute: 600", "requests_per_minute: 60",
         ["~ limits teams.support.limits.requests_per_minute: 600 -> 60"]),
        ("shared_by: app}    #", "shared_by: team}    #", ["~ cache cache.exact.shared_by: app -> team"]),
        ("fallbacks: [gpt, gpt-mini]", "fallbacks: [gpt]", ["~ route routes.auto.fallbacks: gpt, gpt-mini -> gpt"]),
        ("input: 15.00", "input: 16.00", ["~ price models.opus.price.input: 15.00 -> 16.00"]),
        ("tier: standard, price: list}", "tier: standard, price: list, discount: 15%}",
         ["+ price models.gpt.discount: 15%"]),
        ("    batch: true ", "    batch_discount: 40%\n    batch: true ",
         ["+ price providers.openai.batch_discount: 40%"]),
        ("output: 75.00}", "output: 75.00, from: 2026-01-01, tiers: [{above: 5, input: 9}]}",
         ["+ price models.opus.price.from: 2026-01-01", "+ price models.opus.price.tiers.0.above: 5",
          "+ price models.opus.price.tiers.0.input: 9.00"]),
        ("timezone: Europe/London", "timezone: UTC", ["~ timezone timezone: Europe/London -> UTC"]),
        ("on_store_error:", "holds: {prompt: calibrated}\non_store_error:",
         ["~ holds holds.prompt: bound -> calibrated"]),
        ("on_store_error:", "reliability: {retries: 3, timeouts: {idle: 30s}}\non_store_error:",
         ["~ reliability reliability.retries: 2 -> 3", "+ reliability reliability.timeouts.idle: 30"]),
        ("action: redact", "action: flag", ["~ guardrails guardrails.no-secrets-out.action: redact -> flag"]),
        ("      - {name: notebooks, headers: [workflow, session]}\n", "", ["- app research/notebooks"]),
        ("        tiers: [local, economy]\n", "        tiers: [local]\n",
         ["- access support/support-bot to gpt-mini", "- access support/support-bot to qwen3-8b",
          "~ tiers teams.support.apps.support-bot.tiers: local, economy -> local"]),
    ],
)  # fmt: skip
def test_an_edit_is_told_in_words_and_nothing_else_is(old: str, new: str, lines: list[str]) -> None:
    assert old in TEXT
    assert told(TEXT, TEXT.replace(old, new)) == lines
    assert len(told(TEXT.replace(old, new), TEXT)) == len(lines)


def test_what_comes_or_goes_whole_is_one_line_and_not_one_for_each_of_its_parts() -> None:
    team = "  - {name: fresh, tiers: [local], hash_user: true, limits: {concurrent: 3}}\n"
    assert told(SMALL, SMALL + team) == ["+ team fresh"]
    model = "models:\n  - {name: m, provider: engine, model: m, tier: local, price: measured}\n"
    assert told(SMALL, SMALL.replace("models:\n", model)) == ["+ access demo/bot to m", "+ model m"]


def test_a_secret_is_never_told() -> None:
    other = {"OPENAI_API_KEY": "sk-other", "ANTHROPIC_API_KEY": KEYS["ANTHROPIC_API_KEY"]}
    changes = differences(read(TEXT, KEYS), read(TEXT, other))
    assert [str(change) for change in changes] == ["~ provider providers.openai.api_key: a secret -> a secret"]


SECTIONS = re.findall(r"^(\w+):", TEXT, re.MULTILINE)
REPLACEABLE = [
    name
    for name in SECTIONS
    if name not in {"version", "currency", "unknown_model", "providers", "tiers", "models", "routes", "teams"}
]


@pytest.mark.parametrize("name", REPLACEABLE)
def test_a_section_that_is_left_out_is_told(name: str) -> None:
    without = re.sub(rf"^{name}:.*\n(?:[ #].*\n|\n)*", "", TEXT, flags=re.MULTILINE)
    assert without != TEXT
    assert told(TEXT, without)


def test_of_where_alerts_go_only_the_host_is_told() -> None:
    old, new = (f"{SMALL}alerts: {{webhook: '${{{name}}}'}}\n" for name in ("OLD", "NEW"))
    env = {"OLD": "https://hooks.example.com/services/T0/secret", "NEW": "https://alerts.example.com/x?token=secret"}
    changes = differences(read(old, env), read(new, env))
    assert [str(change) for change in changes] == [
        "~ alerts alerts.webhook: https://hooks.example.com/… -> https://alerts.example.com/…"
    ]
