"""What a policy makes of sensitive text: never more than each of its rules alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance.confinement.confined import Confined, Confinement
from governance.errors import Unconfinable

ZONES = ("cloud", "eu", "onprem")
RULE = Confinement(
    frozenset({"card", "iban", "email", "secret"}),
    {"card": "onprem", "iban": "eu", "secret": "refuse", "phone": "moon"},
    ZONES,
)


def test_what_is_allowed_is_a_label_and_confines_nothing() -> None:
    assert RULE.confine(["email"]) == Confined(labels=("email",))
    assert RULE.confine([]).permits("anywhere")


def test_a_zone_may_be_left_only_for_a_stricter_one() -> None:
    confined = RULE.confine(["iban"])
    assert [confined.permits(zone) for zone in (*ZONES, "moon")] == [False, True, True, False]


def test_the_strictest_of_several_labels_holds() -> None:
    assert RULE.confine(["iban", "card"]).within == {"onprem"}


def test_a_caller_may_only_raise() -> None:
    assert RULE.confine(["iban"], "onprem").within == {"onprem"}
    assert RULE.confine(["card"], "cloud").within == {"onprem"}
    assert RULE.confine([], "onprem").zone == "onprem"


def test_a_kind_that_is_refused_goes_nowhere_and_is_named_without_its_text() -> None:
    with pytest.raises(Unconfinable, match="secret") as refused:
        RULE.confine(["email", "secret"])
    assert (refused.value.kinds, refused.value.zones) == (("secret",), ())


def test_zones_without_a_place_in_common_are_nowhere() -> None:
    with pytest.raises(Unconfinable) as refused:
        RULE.confine(["card", "phone"])
    assert refused.value.zones == ("moon", "onprem")


def test_zones_that_have_no_order_stand_alone() -> None:
    alone = Confinement(rules={"card": "onprem", "iban": "eu"})
    assert alone.confine(["card"]).within == {"onprem"}
    with pytest.raises(Unconfinable):
        alone.confine(["card", "iban"])


LABELS = st.sets(st.sampled_from(["card", "iban", "email", "phone"]))


@given(LABELS, LABELS, st.none() | st.sampled_from(ZONES))
def test_another_label_never_opens_a_zone(labels: set[str], more: set[str], wished: str | None) -> None:
    def permitted(found: set[str]) -> set[str]:
        try:
            confined = RULE.confine(found, wished)
        except Unconfinable:
            return set()
        return {zone for zone in (*ZONES, "moon") if confined.permits(zone)}

    assert permitted(labels | more) <= permitted(labels)
