"""Each move that the record may advise, and why."""

from random import Random

import pytest

from cache.config import SemanticSection
from cache.learning.lookups import Action, Decision, Observation
from gateway.caching.advice import ENOUGH, Advice, advise, advised
from gateway.caching.learned import WRONG, evidence_of
from governance.lookups.records import Lookup
from tests.support.recorded_lookups import found as lookup
from tests.support.recorded_lookups import missed, word


def section(**lists: list[str]) -> SemanticSection:
    return SemanticSection.model_validate({"max_error": 0.05, "ttl": "1d", **lists})


def advice(found: list[Lookup], policy: SemanticSection) -> Advice:
    (one,) = advise(found, policy, Random(0))
    return one


AGREED = [lookup(Action.EXPLORE)] * 400


@pytest.mark.parametrize(
    ("found", "lists", "move", "why"),
    [
        (AGREED[: ENOUGH - 101], {"observe": ["bot/faq"]}, "", "Wait: 399 of the 500 look-ups"),
        ([*AGREED, *[missed()] * 400], {"observe": ["bot/faq"]}, "enable", "Serve it: 50.0% of look-ups can be"),
        ([*AGREED[:5], *[missed()] * 600], {"observe": ["bot/faq"]}, "", "Leave it as it is."),
        ([*AGREED, *[missed()] * 400], {}, "", "Leave it as it is."),
        ([lookup(Action.SERVE, explored=0.02)] * 600, {"enabled": ["bot/faq"]}, "", "Leave it as it is."),
        ([*AGREED, *[missed()] * 400], {"enabled": ["bot/faq"]}, "", "Leave it as it is."),
        (
            [*AGREED[:3], *[missed()] * 597],
            {"enabled": ["bot/faq"]},
            "observe",
            "Only watch it: 0.5% of look-ups could",
        ),
        ([lookup(Action.EXPLORE, same=False, risk=0.3)] * 600, {"observe": ["bot/faq"]}, "", "Leave it as it is."),
    ],
    ids=[
        "too few",
        "worth it",
        "hardly any",
        "neither",
        "is served",
        "was just enabled",
        "is hardly served",
        "mostly wrong",
    ],
)
def test_each_move_has_its_reason(found: list[Lookup], lists: dict[str, list[str]], move: str, why: str) -> None:
    one = advice(found, section(**lists))
    assert (one.move, one.why.startswith(why)) == (move, True), one.why
    assert one.lookups == len(found)
    assert one.own.max_error == 0.05


def test_hits_prove_nothing_of_their_errors() -> None:
    assert advice([lookup(Action.SERVE, explored=0.02)] * 600, section(enabled=["bot/faq"])).own.hit_rate.value == 0.0


def test_what_people_said_and_what_nobody_can_read_is_no_look_up() -> None:
    narrow = evidence_of(Observation(Decision(Action.ASK, None, (), 0.5, 0.1, 1.0, features=(1.0,))))
    found = [*AGREED, word("lesson", WRONG), word("asked", b"of an older release"), word("asked", narrow)]
    assert advice(found, section()).lookups == len(AGREED)


def test_what_another_embedding_found_says_nothing_of_what_this_one_finds() -> None:
    assert advice([*[lookup(Action.EXPLORE, embedding="old")] * 700, *AGREED], section()).lookups == len(AGREED)


def test_a_feature_of_several_teams_moves_only_where_all_may() -> None:
    policy = section(observe=["bot/faq", "bot/triage"])
    good = [*AGREED, *[missed()] * 400]
    both = [*good, *[lookup(Action.EXPLORE, feature="blue/bot/faq")] * 3]
    assert advised(policy, advise(both, policy, Random(0))) == {"enabled": (), "observe": ("bot/faq", "bot/triage")}
    assert advised(policy, advise(good, policy, Random(0))) == {"enabled": ("bot/faq",), "observe": ("bot/triage",)}


def test_a_feature_that_is_to_be_watched_leaves_the_others_where_they_were() -> None:
    policy = section(enabled=["bot/faq", "bot/triage"])
    lists = advised(policy, advise([missed()] * 600, policy, Random(0)))
    assert lists == {"enabled": ("bot/triage",), "observe": ("bot/faq",)}
