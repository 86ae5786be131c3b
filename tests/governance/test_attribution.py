"""Who may say whom a request's cost belongs to."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance.attribution import DIMENSIONS, LONGEST, UNATTRIBUTED, Attribution, Offered, attribute
from governance.identity import Caller

CALLER = Caller("k1", team="support", app="support-bot")
ALL = frozenset(DIMENSIONS)


def resolve(
    offered: Offered,
    *,
    caller: Caller = CALLER,
    settable: frozenset[str] = ALL,
    defaults: dict[str, str] | None = None,
    hash_user: bool = False,
) -> Attribution:
    return attribute(
        caller,
        offered,
        settable=settable,
        defaults=defaults or {},
        segment_of=lambda user: "enterprise" if user.startswith("ent-") else None,
        hash_user=hash_user,
    )


def test_nothing_said_is_unattributed() -> None:
    assert resolve(Offered({}, {})) == Attribution("support", "support-bot")


@pytest.mark.parametrize(("bound", "header", "metadata", "default"), list(itertools.product([True, False], repeat=4)))
def test_the_strongest_source_wins(bound: bool, header: bool, metadata: bool, default: bool) -> None:
    found = resolve(
        Offered({"feature": "header"} if header else {}, {"feature": "metadata"} if metadata else {}),
        caller=Caller("k1", "support", "support-bot", feature="bound" if bound else None),
        defaults={"feature": "default"} if default else {},
    )
    sources = {"bound": bound, "header": header, "metadata": metadata, "default": default, UNATTRIBUTED: True}
    assert found.feature == next(name for name, present in sources.items() if present)


@given(st.dictionaries(st.sampled_from(DIMENSIONS), st.text()), st.dictionaries(st.sampled_from(DIMENSIONS), st.text()))
def test_no_caller_moves_its_cost_to_another_team_or_app(headers: dict[str, str], metadata: dict[str, str]) -> None:
    found = resolve(Offered(headers, metadata), defaults=metadata)
    assert (found.team, found.app) == ("support", "support-bot")


@given(st.dictionaries(st.sampled_from(DIMENSIONS), st.text()), st.dictionaries(st.sampled_from(DIMENSIONS), st.text()))
def test_a_dimension_the_policy_does_not_open_cannot_be_set(headers: dict[str, str], metadata: dict[str, str]) -> None:
    found = resolve(Offered(headers, metadata), settable=frozenset())
    assert found == Attribution("support", "support-bot")


@given(st.text())
def test_what_is_kept_prints_and_is_short(text: str) -> None:
    kept = resolve(Offered({"session": text}, {})).session
    assert kept.isprintable()
    assert kept == kept.strip()
    assert 0 < len(kept) <= LONGEST


def test_control_and_bidirectional_characters_are_dropped() -> None:
    assert resolve(Offered({"workflow": " in\x00voi\u202ece\r\n "}, {})).workflow == "invoice"


def test_an_empty_header_leaves_the_word_to_the_metadata() -> None:
    assert resolve(Offered({"workflow": " \t"}, {"workflow": "nightly"})).workflow == "nightly"


def test_an_end_user_is_mapped_to_a_segment_unless_the_caller_may_name_one() -> None:
    user = Offered({"segment": "gold"}, {}, user="ent-42")
    assert resolve(user).segment == "gold"
    assert resolve(user, settable=frozenset()).segment == "enterprise"
    assert resolve(Offered({}, {}, user="42"), defaults={"segment": "free"}).segment == "free"


def test_a_hashed_end_user_still_has_its_segment_and_cannot_be_joined_across_teams() -> None:
    offered = Offered({}, {}, user="ent-42")
    here = resolve(offered, hash_user=True)
    there = resolve(offered, hash_user=True, caller=Caller("k2", "research", "support-bot"))
    assert here.segment == "enterprise"
    assert here.user is not None
    assert here.user.startswith("sha256:")
    assert here.user != there.user
    assert here.user == resolve(offered, hash_user=True).user


def test_what_a_key_is_bound_to_is_cleaned_as_any_other_value_and_stays_bound() -> None:
    caller = Caller("k1", "support", "support-bot", feature="fa\0q\n")
    assert resolve(Offered({"feature": "other"}, {}), caller=caller).feature == "faq"
    nothing = Caller("k1", "support", "support-bot", feature="\u200b")
    assert resolve(Offered({"feature": "other"}, {}), caller=nothing).feature == UNATTRIBUTED
