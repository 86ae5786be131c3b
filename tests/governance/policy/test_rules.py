from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance.attribution import Attribution
from governance.errors import UnknownTeam
from governance.identity import KeyTerms
from governance.limits import Budget, Rate
from governance.money import Nanodollars
from governance.policy.rules import REMEMBERED, Grant, OutputRule, Rules, compile_rules
from governance.policy.sections import LimitsSection, OutputSection, ScopedBudget, TeamSection
from governance.windows import WindowKind


def usd(dollars: int) -> Nanodollars:
    return Nanodollars(dollars * 10**9)


@pytest.fixture(scope="module")
def rules() -> Rules:
    """The governing sections of the example policy, and one budget of a key."""
    support = TeamSection.model_validate(
        {
            "name": "support",
            "tiers": ["standard", "economy", "local"],
            "budgets": [{"limit": 500, "window": "month"}, {"limit": 40, "window": "day"}],
            "limits": {"requests_per_minute": 600, "concurrent": 40},
            "segments": {"enterprise": "^ent-", "free": ".*"},
            "hash_user": True,
            "apps": [
                {
                    "name": "bot",
                    "tiers": ["local", "economy"],
                    "headers": ["feature", "session"],
                    "defaults": {"environment": "prod"},
                    "output": {"stop": ["END"]},
                    "budgets": [{"limit": 15, "window": "day"}],
                    "limits": {"concurrent": 5},
                    "features": [
                        {"name": "faq", "route": "cheap", "output": {"max_tokens": {"ceiling": 256}}},
                        {"name": "triage", "tiers": ["economy"], "budgets": [{"limit": 3, "window": "day"}]},
                    ],
                }
            ],
        }
    )
    research = TeamSection.model_validate({"name": "research", "apps": [{"name": "notebooks"}]})
    return compile_rules(
        tiers=("local", "economy", "standard", "frontier"),
        timezone=ZoneInfo("Europe/London"),
        output=OutputSection.model_validate({"max_tokens": {"default": 1024, "ceiling": 4096}, "stop": []}),
        limits=LimitsSection(concurrent=512),
        budgets=[
            ScopedBudget(scope="org", limit=usd(10_000), window=WindowKind.MONTH),
            ScopedBudget(scope="key:k1", limit=usd(1), window=WindowKind.HOUR, per_request=Nanodollars(5)),
            ScopedBudget(scope="team:research", limit=usd(2_000), window=WindowKind.MONTH),
        ],
        teams=[support, research],
    )


ORG = Budget("org", usd(10_000), WindowKind.MONTH)
TEAM = (Budget("team:support", usd(500), WindowKind.MONTH), Budget("team:support", usd(40), WindowKind.DAY))
APP = Budget("app:support/bot", usd(15), WindowKind.DAY)
TRIAGE = Budget("feature:support/bot/triage", usd(3), WindowKind.DAY)


@pytest.mark.parametrize(
    ("feature", "tiers", "route", "output", "budgets"),
    [
        ("unattributed", ("local", "economy"), None, OutputRule(1024, 4096, ("END",)), (ORG, *TEAM, APP)),
        ("never heard of", ("local", "economy"), None, OutputRule(1024, 4096, ("END",)), (ORG, *TEAM, APP)),
        ("faq", ("local", "economy"), "cheap", OutputRule(256, 256, ("END",)), (ORG, *TEAM, APP)),
        ("triage", ("economy",), None, OutputRule(1024, 4096, ("END",)), (ORG, *TEAM, APP, TRIAGE)),
    ],
)
def test_a_request_is_under_every_scope_it_is_in(
    rules: Rules,
    feature: str,
    tiers: tuple[str, ...],
    route: str | None,
    output: OutputRule,
    budgets: tuple[Budget, ...],
) -> None:
    grant = rules.grant(Attribution("support", "bot", feature=feature), "k0")
    assert (grant.tiers, grant.route, grant.output, grant.budgets) == (tiers, route, output, budgets)
    assert grant.rates == (
        Rate("org", concurrent=512),
        Rate("team:support", requests_per_minute=600, concurrent=40),
        Rate("app:support/bot", concurrent=5),
    )


def test_a_team_that_names_no_tiers_has_all_of_them(rules: Rules) -> None:
    grant = rules.grant(Attribution("research", "notebooks"), "k0")
    assert grant.tiers == ("local", "economy", "standard", "frontier")
    assert grant.output == OutputRule(1024, 4096, ())
    assert [budget.scope for budget in grant.budgets] == ["org", "team:research"]


def test_a_key_may_have_budgets_of_its_own(rules: Rules) -> None:
    grant = rules.grant(Attribution("research", "notebooks"), "k1")
    assert grant.budgets[-1] == Budget("key:k1", usd(1), WindowKind.HOUR, Nanodollars(5))


def test_a_grant_as_it_is_written_is_nobodys_in_particular() -> None:
    budgets = [{"limit": 2, "window": "day", "each": "user"}]
    team = TeamSection.model_validate({"name": "a", "budgets": budgets, "apps": [{"name": "b"}]})
    rules = compile_rules(
        tiers=["local"], timezone=ZoneInfo("UTC"), output=None, limits=None, budgets=[], teams=[team], loop=None
    )
    assert [budget.each for budget in rules.written("a", "b", "unattributed", "k0").budgets] == ["user"]
    assert rules.grant(Attribution("a", "b"), "k0").budgets == ()
    assert [budget.scope for budget in rules.grant(Attribution("a", "b", user="u"), "k0").budgets] == ["team:a?user=u"]


@pytest.mark.parametrize(("team", "app"), [("support", "notebooks"), ("gone", "bot"), ("", "")])
def test_a_key_that_outlived_its_team_or_app_has_no_grant(rules: Rules, team: str, app: str) -> None:
    assert rules.app(team, app) is None
    with pytest.raises(UnknownTeam) as refusal:
        rules.grant(Attribution(team, app), "k0")
    assert (refusal.value.team, refusal.value.app) == (team, app)


def test_an_app_says_who_may_set_what(rules: Rules) -> None:
    bot, notebooks = rules.app("support", "bot"), rules.app("research", "notebooks")
    assert bot is not None
    assert notebooks is not None
    assert (bot.settable, bot.defaults, bot.hash_user) == ({"feature", "session"}, {"environment": "prod"}, True)
    assert (notebooks.settable, notebooks.defaults, notebooks.hash_user) == (set(), {}, False)
    assert [(app.team, app.app) for app in rules.apps()] == [("support", "bot"), ("research", "notebooks")]


def test_the_first_pattern_found_in_a_user_names_the_segment(rules: Rules) -> None:
    bot, notebooks = rules.app("support", "bot"), rules.app("research", "notebooks")
    assert bot is not None
    assert notebooks is not None
    assert [bot.segment_of(user) for user in ("ent-7", "someone")] == ["enterprise", "free"]
    assert notebooks.segment_of("ent-7") is None


def test_every_budget_is_known_once(rules: Rules) -> None:
    assert sorted((budget.scope, budget.limit.nanos // 10**9) for budget in rules.budgets()) == [
        ("app:support/bot", 15),
        ("feature:support/bot/triage", 3),
        ("key:k1", 1),
        ("org", 10_000),
        ("team:research", 2_000),
        ("team:support", 40),
        ("team:support", 500),
    ]


NAMES = st.sampled_from(["local", "cloud", "frontier"])


@given(st.lists(NAMES, unique=True), st.none() | st.lists(NAMES, unique=True), st.none() | st.lists(NAMES, unique=True))
def test_a_keys_terms_never_widen_a_grant(
    tiers: list[str], key_tiers: list[str] | None, key_models: list[str] | None
) -> None:
    grant = Grant(tuple(tiers), None, OutputRule(), (), ())
    terms = KeyTerms(
        tiers=None if key_tiers is None else tuple(key_tiers), models=None if key_models is None else tuple(key_models)
    )
    narrowed = grant.narrowed(terms)
    for model in ("local", "cloud", "frontier", "other"):
        for tier in ("local", "cloud", "frontier", "other"):
            wanted = (key_tiers is None or tier in key_tiers) and (key_models is None or model in key_models)
            assert narrowed.permits(model, tier) == (grant.permits(model, tier) and wanted)


@given(
    asked=st.lists(
        st.tuples(
            st.sampled_from(["faq", "triage", "unattributed"]),
            st.sampled_from(["s1", "s2", "unattributed"]),
            st.sampled_from(["k1", "k2"]),
            st.sampled_from([None, KeyTerms(tiers=("local",)), KeyTerms(models=("gpt",))]),
        ),
        max_size=12,
    )
)
def test_whatever_was_granted_before_a_grant_is_what_the_policy_says(
    asked: list[tuple[str, str, str, KeyTerms | None]],
) -> None:
    used = each_session()
    for feature, session, key_id, terms in asked:
        who = Attribution("support", "bot", feature, session=session)
        found = used.grant(who, key_id, terms)
        assert found == each_session().grant(who, key_id, terms)
        assert used.grant(who, key_id, terms) is found


def each_session() -> Rules:
    bot = {
        "name": "bot",
        "budgets": [{"limit": 2, "window": "session"}, {"limit": 5, "window": "day", "each": "model"}],
        "features": [{"name": "faq"}, {"name": "triage", "tiers": ["local"]}],
    }
    return compile_rules(
        tiers=("local", "economy"),
        timezone=ZoneInfo("Europe/London"),
        output=None,
        limits=None,
        budgets=[ScopedBudget(scope="key:k1", limit=usd(1), window=WindowKind.HOUR)],
        teams=[TeamSection.model_validate({"name": "support", "apps": [bot]})],
    )


def test_only_so_many_grants_are_remembered() -> None:
    rules = each_session()
    first = rules.grant(Attribution("support", "bot", session="first"), "k2")
    for number in range(REMEMBERED):
        rules.grant(Attribution("support", "bot", session=str(number)), "k2")
    again = rules.grant(Attribution("support", "bot", session="first"), "k2")
    assert again is not first
    assert again == first
