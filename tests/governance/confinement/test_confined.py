"""Where a request may go, from its labels and its caller's wish."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance.confinement.confined import ALLOW, REFUSE, UNCONFINED, UNREAD, UNRULED, Confined, Confinement
from governance.errors import Unconfinable

ZONES = ("cloud", "region", "onprem")
RULE = Confinement(
    rules={"card": "onprem", "iban": "region", "private_key": REFUSE, "email": ALLOW, "phone": "island"}, zones=ZONES
)


def test_what_has_no_label_may_go_anywhere() -> None:
    assert RULE.confine([]) == UNCONFINED
    assert UNRULED.confine(["card", UNREAD]) == Confined(labels=("card", UNREAD))


def test_a_label_that_is_allowed_or_unruled_is_told_and_confines_nothing() -> None:
    confined = RULE.confine(["secret", "email"])
    assert (confined.zone, confined.labels) == (None, ("email", "secret"))
    assert confined.permits("cloud")


def test_a_refused_label_refuses_whatever_else_was_found_and_names_itself_alone() -> None:
    with pytest.raises(Unconfinable) as refused:
        RULE.confine(["private_key", "card"], "onprem")
    assert refused.value.kinds == ("private_key",)


def test_a_zone_permits_those_that_are_stricter_and_none_that_is_wider() -> None:
    confined = RULE.confine(["iban"])
    assert [confined.permits(zone) for zone in (*ZONES, "island", "")] == [False, True, True, False, False]
    assert confined.zone == "region"


def test_of_two_labels_the_stricter_one_decides() -> None:
    assert RULE.confine(["iban", "card"]) == RULE.confine(["card", "iban"])
    assert RULE.confine(["iban", "card"]).within == {"onprem"}


def test_zones_without_a_common_one_leave_nowhere_to_go() -> None:
    with pytest.raises(Unconfinable) as refused:
        RULE.confine(["card", "phone"])
    assert refused.value.kinds == ("card", "phone")


def test_a_zone_that_is_in_no_order_stands_alone() -> None:
    assert RULE.confine(["phone"]) == Confined("island", frozenset({"island"}), ("phone",))


def test_a_caller_may_confine_more_and_never_less() -> None:
    assert RULE.confine(["iban"], "onprem").within == {"onprem"}
    assert RULE.confine(["card"], "cloud").within == {"onprem"}
    assert RULE.confine([], "cloud").within == set(ZONES)
    with pytest.raises(Unconfinable):
        RULE.confine(["iban"], "elsewhere")


def test_a_request_on_record_is_confined_as_it_was() -> None:
    assert RULE.to(None) == UNCONFINED
    assert RULE.to("region").within == RULE.confine(["iban"]).within


LABELS = ("card", "iban", "email", "phone", UNREAD)
PLACES = (*ZONES, "island", "moon")


@given(
    rules=st.dictionaries(st.sampled_from(LABELS), st.sampled_from((ALLOW, REFUSE, *PLACES))),
    zones=st.permutations(ZONES).flatmap(lambda order: st.integers(0, 3).map(lambda count: tuple(order[:count]))),
    labels=st.sets(st.sampled_from(LABELS)),
    more=st.sampled_from(LABELS),
    wished=st.none() | st.sampled_from(PLACES),
)
def test_one_more_label_never_widens_where_a_request_may_go(
    rules: dict[str, str], zones: tuple[str, ...], labels: set[str], more: str, wished: str | None
) -> None:
    rule = Confinement(rules=rules, zones=zones)

    def allowed(found: set[str], wish: str | None) -> set[str]:
        try:
            confined = rule.confine(found, wish)
        except Unconfinable:
            return set()
        assert confined.zone is None or confined.permits(confined.zone)
        return {zone for zone in PLACES if confined.permits(zone)}

    before = allowed(labels, wished)
    assert allowed(labels | {more}, wished) <= before
    assert before <= allowed(labels, None)
