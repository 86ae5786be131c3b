"""Every kind of mistake is told with its place: a small valid policy, one mistake, and the line it must give."""

import pytest

from gateway.policy.problems import PolicyInvalid, describe
from tests.support.policy_texts import EXAMPLE, SMALL, read

PARTS = """\
version: 1
providers: {engine: {kind: engine, machine_usd_per_hour: 0.20}}
tiers: [local]
models: [{name: small, provider: engine, model: m, tier: local, price: measured}]
"""


@pytest.mark.parametrize(
    ("right", "wrong", "told"),
    [
        ("version: 1", "version: 2", "1:10: version: should be 1"),
        ("version: 1\n", "", '1:1: needs "version"'),
        ("tiers: [local]", "tiers: local", "12:12: teams.demo.tiers: should be a list"),
        (
            "kind: engine",
            "kind: engin",
            '3:18: providers.engine.kind: unknown kind "engin"; did you mean "engine"?',
        ),
        ("kind: engine, ", "", '3:11: providers.engine: needs "kind"'),
        (
            "machine_usd_per_hour: 0.20",
            "machine_usd_per_hour: -1",
            "3:48: providers.engine.machine_usd_per_hour: is no amount in USD: it is negative",
        ),
        (
            ", machine_usd_per_hour: 0.20",
            "",
            "6:73: models.small.price: cannot be measured; give the provider machine_usd_per_hour",
        ),
        ("kind: engine", "kind: vllm, zone: a", '3:11: providers.engine: needs "base_url"'),
        (
            "kind: engine",
            "kind: vllm, zone: a, base_url: nowhere",
            "3:43: providers.engine.base_url: should be a valid URL, relative URL without a base",
        ),
        (
            "kind: engine",
            "kind: openai, zone: cloud",
            '6:73: models.small.price: only a machine of your own can be measured; write "list" or the prices',
        ),
        (
            "kind: engine",
            "kind: gemini, zone: cloud",
            '6:73: models.small.price: only a machine of your own can be measured; write "list" or the prices',
        ),
        (
            "engine: {",
            "google: {kind: gemini, zone: a, batch: true}\n  engine: {",
            "3:35: providers.google.batch: unknown field",
        ),
        (
            "provider: engine, model: smollm2",
            "provider: engin, model: s",
            "6:29: models.small.provider: unknown provider",
        ),
        (
            "tier: local",
            "tier: locla",
            '6:59: models.small.tier: unknown tier "locla"; did you mean "local"?',
        ),
        ("price: measured", "price: mesured", "6:73: models.small.price: should be 'measured' or 'list'; did you mean"),
        ("price: measured", "price: guessed", "6:73: models.small.price: should be 'measured' or 'list'"),
        (
            "output: 2.50",
            "output: 10001",
            "7:88: models.large.price.output: should be USD for a million tokens, at most 10000",
        ),
        (", output: 2.50", "", '7:5: models.large: the price of a chat model needs "output"'),
        (
            "output: 2.50",
            "ouptut: 2.50",
            '7:80: models.large.price.ouptut: unknown field; did you mean "output"?',
        ),
        (
            "output: 2.50",
            "output: cheap",
            "7:88: models.large.price.output: should be an amount in USD, written as",
        ),
        (
            "models:\n",
            "models:\n  - {name: small, provider: engine, model: m, tier: local, price: measured}\n",
            '7:12: models.small.name: "small" is given twice',
        ),
        (
            "routes:\n",
            "routes:\n  - {name: small, weak: small, strong: small}\n",
            '9:12: routes.small.name: "small" is the name of a model too',
        ),
        (
            "strong: large",
            "strong: larg",
            '9:39: routes.auto.strong: unknown model "larg"; did you mean "large"?',
        ),
        (
            "tier: cloud, ",
            "tier: cloud, kind: embedding, ",
            '9:39: routes.auto.strong: "large" makes another kind of answer than the weak model',
        ),
        ("tier: local, price", "tier: !x local, price", "6:59: models.small.tier: has a tag that is not allowed here"),
        ("strong: large", "strong: 7", "9:39: routes.auto.strong: should be text, in quotes if need be"),
        (", strong: large", "", '9:5: routes.auto: needs "strong"'),
        ("name: demo", "name: a/b", "11:11: teams.a/b.name: should match pattern"),
        (
            "tiers: [local]",
            "tiers: [cluod]",
            '12:13: teams.demo.tiers: unknown tier "cluod"; did you mean "cloud"?',
        ),
        ("limit: 5", "limit: 0", "14:17: teams.demo.budgets[0].limit: should be more than 0"),
        ("limit: 5", "limit: five", "14:17: teams.demo.budgets[0].limit: should be an amount in USD"),
        ("limit: 5, ", "", '14:9: teams.demo.budgets[0]: needs "limit"'),
        (
            "window: day",
            "window: year",
            "14:28: teams.demo.budgets[0].window: should be 'minute', 'hour', 'day'",
        ),
        (
            "window: day",
            "window: day, steps: {70: alert}",
            "14:41: teams.demo.budgets[0].steps.70: should be a percentage from 1% to 100%, such as 85%",
        ),
        (
            "window: day",
            "window: day, steps: {70%: shout}",
            "14:46: teams.demo.budgets[0].steps.70%: should be 'alert', 'downgrade', 'tighten', 'queue' or",
        ),
        (
            "      - name: bot\n",
            "      - name: bot\n        tiers: [cloud]\n",
            '17:17: teams.demo.apps.bot.tiers: tier "cloud" is not among those of "demo"',
        ),
        (
            "      - name: bot\n",
            "      - name: bot\n        headers: [team]\n",
            "17:19: teams.demo.apps.bot.headers: should be 'feature', 'workflow', 'segment', 'environment' or",
        ),
        (
            "name: faq, route: auto",
            "name: faq, route: atuo",
            '18:32: teams.demo.apps.bot.features.faq.route: unknown route "atuo"; did you mean "auto"?',
        ),
        (
            "name: faq, route: auto",
            "name: faq, tiers: [cloud]",
            '18:33: teams.demo.apps.bot.features.faq.tiers: tier "cloud" is not among those of "demo"',
        ),
        (
            "name: faq, route: auto",
            "name: faq, output: {max_tokens: {default: 9, ceiling: 8}}",
            "18:46: teams.demo.apps.bot.features.faq.output.max_tokens: ceiling 8 is below default 9",
        ),
        (
            "teams:",
            "timezone: Europe/Lodnon\nteams:",
            "10:11: timezone: should be a time zone of the IANA list",
        ),
        ("teams:", "currency: EUR\nteams:", "10:11: currency: should be 'USD'"),
        ("teams:", "baseline: opsu\nteams:", '10:11: baseline: unknown model "opsu"; known: large, small'),
        ("teams:", "team: []\nteams:", '10:1: team: unknown field; did you mean "teams"?'),
        (
            "teams:",
            "unknown_model: {price_as: x}\nteams:",
            '10:27: unknown_model.price_as: unknown model "x"',
        ),
        (
            "teams:",
            "cache: {exact: {ttl: 24}}\nteams:",
            "10:22: cache.exact.ttl: should be a duration such as 30s",
        ),
        (
            "teams:",
            "cache: {semantic: {enabled: [bot/fqa], max_error: 0.01, ttl: 7d}}\nteams:",
            '10:30: cache.semantic.enabled: unknown app/feature "bot/fqa"; did you mean "bot/faq"?',
        ),
        (
            "teams:",
            "context: {trim: {mode: of}}\nteams:",
            "10:24: context.trim.mode: should be 'off', 'warn', 'trim' or",
        ),
        (
            "teams:",
            "budgets: [{scope: team:dmo, limit: 1, window: day}]\nteams:",
            '10:19: budgets[0].scope: unknown scope "team:dmo"; did you mean "team:demo"?',
        ),
        (
            "teams:",
            "sensitivity: {confine: {card: onperm}}\nteams:",
            '10:31: sensitivity.confine.card: unknown zone "onperm"; did you mean "onprem"?',
        ),
        (
            "teams:",
            "guardrails: [{name: g, on: input, pattern: '(a+)+', action: block}]\nteams:",
            "10:44: guardrails.g.pattern: may take too long: it repeats what can match in several ways; make the",
        ),
        (
            "teams:",
            "guardrails: [{name: g, on: input, pattern: '(', action: block}]\nteams:",
            "10:44: guardrails.g.pattern: is no regular expression: missing )",
        ),
        (
            "teams:",
            "guardrails: [{name: g, on: input, action: block}]\nteams:",
            "10:14: guardrails.g: give one of detect, pattern, max_chars, schema, topics and injection",
        ),
        ("tiers: [local, cloud]", "tiers: [local, local, cloud]", '4:16: tiers: "local" is given twice'),
        (
            "window: day",
            "window: day, window: month",
            "14:33: teams.demo.budgets[0].window: is given twice",
        ),
        ("teams:", "teams: [", "11:3: stands between brackets and cannot: is a bracket above"),
    ],
)
def test_a_mistake_is_told_with_its_place_and_what_would_be_right(right: str, wrong: str, told: str) -> None:
    text = SMALL.replace(right, wrong, 1)
    assert text != SMALL
    with pytest.raises(PolicyInvalid) as invalid:
        read(text)
    assert str(invalid.value).startswith(f"policy.yaml:{told}"), str(invalid.value)
    assert len(invalid.value.problems) == 1, str(invalid.value)


def test_all_mistakes_are_told_at_once_in_their_order() -> None:
    text = EXAMPLE.read_text("utf-8")
    for right, wrong in (
        ("price: list}   #", "prise: list}   #"),
        ("weak: smollm2", "weak: smolm2"),
        ("mode: off", "mode: offf"),
        ("limit: 500", "limit: -500"),
        ("'^ent-'", "'(a+)+'"),
    ):
        assert right in text
        text = text.replace(right, wrong, 1)
    with pytest.raises(PolicyInvalid) as invalid:
        read(text)
    assert [(problem.line, problem.path) for problem in invalid.value.problems] == [
        (33, "models.gpt-mini"),
        (33, "models.gpt-mini.prise"),
        (44, "routes.auto.weak"),
        (68, "context.trim.mode"),
        (92, "teams.support.budgets[0].limit"),
        (95, "teams.support.segments.enterprise"),
    ]


def test_a_secret_never_appears_in_a_problem() -> None:
    text = PARTS.replace(
        "engine: {", "p: {kind: openai, zone: a, base_url: '${SECRET}', api_key: '${SECRET}', x: 1}, engine: {"
    )
    with pytest.raises(PolicyInvalid) as invalid:
        read(text, {"SECRET": "hunter2"})
    assert len(invalid.value.problems) == 2
    assert "hunter2" not in str(invalid.value)


def test_a_path_names_items_where_they_have_names() -> None:
    data = {"teams": [{"name": "a", "apps": [{}, {"name": 7}], "tiers": ["x"]}]}
    assert describe(("teams", 0, "apps", 0), data) == "teams.a.apps[0]"
    assert describe(("teams", 0, "apps", 1, "name"), data) == "teams.a.apps[1].name"
    assert describe(("teams", 0, "tiers", 0), data) == "teams.a.tiers"
    assert describe(("gone", 3, "x"), data) == "gone[3].x"
    assert describe((), data) == ""
