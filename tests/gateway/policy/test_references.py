import pytest

from gateway.policy.positions import parse
from gateway.policy.problems import Reporter
from gateway.policy.references import check_references, select
from tests.support.policy_texts import SMALL


def problems(text: str) -> list[str]:
    return [str(problem) for problem in check_references(Reporter("p", parse(text)))]


def test_a_pattern_selects_parts_with_their_paths() -> None:
    data = {"teams": [{"tiers": ["a"]}, {"tiers": ["b", "c"]}, "no team"], "x": {"y": {"z": 1}}}
    assert list(select(data, "teams.*.tiers.*")) == [
        (("teams", 0, "tiers", 0), "a"),
        (("teams", 1, "tiers", 0), "b"),
        (("teams", 1, "tiers", 1), "c"),
    ]
    assert list(select(data, "x.*.z")) == [(("x", "y", "z"), 1)]
    assert list(select(data, "nothing.*")) == []


def test_a_policy_without_mistakes_has_no_problems() -> None:
    assert problems(SMALL) == []


@pytest.mark.parametrize(
    "text",
    [
        "",
        "7",
        "[]",
        "teams: 7",
        "teams: {a: {apps: x}}",
        "models: [7, {name: []}]",
        "tiers: {a: b}",
        "tiers: [{}, []]\nteams: [{tiers: [x], apps: [{tiers: [{}, []]}]}]",
        "routes: [{name: []}, {name: {}}]",
    ],
)
def test_a_document_of_any_shape_can_be_checked(text: str) -> None:
    problems(text)


def test_the_same_name_may_be_used_in_two_teams() -> None:
    other = "  - name: other\n    apps: [{name: bot, features: [{name: faq}]}]\n"
    assert problems(SMALL + other) == []


def test_budgets_may_be_written_for_any_scope_of_the_document_and_for_any_key() -> None:
    scopes = ["org", "team:demo", "app:demo/bot", "feature:demo/bot/faq", "key:0123abcd"]
    budgets = "".join(f"  - {{scope: '{scope}', limit: 1, window: day}}\n" for scope in scopes)
    assert problems(f"{SMALL}budgets:\n{budgets}") == []
    assert len(problems(f"{SMALL}budgets:\n{budgets.replace('bot', 'bto')}")) == 2


def test_a_zone_of_confinement_is_that_of_a_provider_or_on_the_premises() -> None:
    confine = "sensitivity: {confine: {card: onprem, email: allow, secret: refuse, iban: eu}}\n"
    assert problems(SMALL + confine) == [
        'p:19:75: sensitivity.confine.iban: unknown zone "eu"; known: allow, onprem, refuse'
    ]
    assert problems(SMALL.replace("kind: engine", "kind: engine, zone: eu") + confine) == []


@pytest.mark.parametrize(
    ("equal", "said"),
    [
        ("same_as: small", []),
        ("same_as: nobody", ['unknown model "nobody"; known: large, other, small']),
        ("same_as: other", ['"other" is itself the same as another model; name that one']),
        ("kind: embedding, same_as: small", ['"small" makes another kind of answer']),
    ],
)
def test_a_deployment_is_the_same_as_a_model_that_can_stand_for_it(equal: str, said: list[str]) -> None:
    other = "  - {name: other, provider: engine, model: x, tier: local, price: {input: 1, output: 1}, %s}\n"
    found = problems(SMALL.replace("routes:\n", other % equal + "routes:\n"))
    assert [problem.split("same_as: ")[1] for problem in found] == said


def test_what_is_hedged_is_a_route_or_a_model() -> None:
    hedge = "reliability: {hedge: {after: 2s, models: [auto, small, nobody]}}\n"
    assert problems(SMALL + hedge) == [
        'p:19:56: reliability.hedge.models: unknown model or route "nobody"; known: auto, large, small'
    ]
