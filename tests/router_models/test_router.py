import pytest

from router_models.config import RouteRule
from router_models.errors import NoRoute, NotAllowed, NothingAvailable, ZoneRefused, ZoneUnavailable
from router_models.router import Candidate, Route, cheaper, choose_route, pinned

RULE = RouteRule(name="auto", weak="small", strong="large", fallbacks=("spare", "small"))
OK, TIER, ZONE, DOWN = "ok", "tier", "zone", "down"


def candidate(name: str, state: str) -> Candidate:
    return Candidate(
        name, allowed=state != TIER, in_zone=state != ZONE, trouble="is still loading" if state == DOWN else ""
    )


def candidates(small: str, large: str, spare: str) -> dict[str, Candidate]:
    return {
        "small": candidate("small", small),
        "large": candidate("large", large),
        "spare": candidate("spare", spare),
    }


@pytest.mark.parametrize(
    ("small", "large", "spare", "zone", "model", "reason"),
    [
        (OK, OK, OK, None, "small", "weak"),
        (OK, DOWN, TIER, "onprem", "small", "weak"),
        (TIER, OK, OK, None, "large", "tier:small"),
        (ZONE, OK, OK, "onprem", "large", "zone:onprem"),
        (DOWN, OK, OK, None, "large", "unavailable:small"),
        (DOWN, TIER, OK, None, "spare", "unavailable:small"),
        (ZONE, DOWN, OK, "eu", "spare", "zone:eu"),
    ],
)
def test_the_first_model_that_may_and_can_answers(
    small: str, large: str, spare: str, zone: str | None, model: str, reason: str
) -> None:
    assert choose_route(RULE, candidates(small, large, spare), zone) == Route(model, reason, "auto")


@pytest.mark.parametrize(
    ("states", "zone", "error"),
    [
        ((TIER, TIER, TIER), None, NotAllowed),
        ((TIER, TIER, TIER), "onprem", NotAllowed),
        ((ZONE, TIER, ZONE), "onprem", ZoneRefused),
        ((ZONE, DOWN, TIER), "onprem", ZoneUnavailable),
        ((DOWN, DOWN, TIER), None, NothingAvailable),
    ],
)
def test_when_no_model_is_left_the_error_says_what_would_help(
    states: tuple[str, str, str], zone: str | None, error: type[NoRoute]
) -> None:
    with pytest.raises(NoRoute) as refusal:
        choose_route(RULE, candidates(*states), zone)
    assert type(refusal.value) is error
    assert refusal.value.route == "auto"
    assert refusal.value.models == ("small", "large", "spare")
    assert getattr(refusal.value, "zone", zone) == zone


def test_a_route_may_have_one_model_for_both() -> None:
    rule = RouteRule(name="auto", weak="small", strong="small")
    assert rule.models == ("small",)
    assert choose_route(rule, {"small": candidate("small", OK)}).reason == "weak"


def test_a_model_asked_for_by_name_is_the_only_one_tried() -> None:
    assert pinned(candidate("large", OK), "onprem") == Route("large", "pinned", "large")


@pytest.mark.parametrize(
    ("state", "zone", "error"),
    [
        (TIER, None, NotAllowed),
        (ZONE, "eu", ZoneRefused),
        (DOWN, "eu", ZoneUnavailable),
        (DOWN, None, NothingAvailable),
    ],
)
def test_a_pinned_model_is_refused_for_the_same_reasons(state: str, zone: str | None, error: type[NoRoute]) -> None:
    with pytest.raises(error):
        pinned(candidate("large", state), zone)


def test_why_nothing_can_be_called_is_told_of_the_allowed_models_alone() -> None:
    with pytest.raises(NothingAvailable, match=r'^no model of "auto" can be called now: "large" is still loading$'):
        choose_route(RULE, candidates(TIER, DOWN, TIER), None)


SPARE = Route("large", "weak", "auto")
BELOW = ("b1", "b2"), ("c1",), ("d1",)


@pytest.mark.parametrize(
    ("steps", "down", "model"),
    [
        (0, (), "large"),
        (1, (), "b1"),
        (1, ("b1",), "b2"),
        (1, ("b1", "b2"), "c1"),
        (2, (), "c1"),
        (2, ("c1",), "d1"),
        (9, (), "d1"),
        (1, ("b1", "b2", "c1", "d1"), "large"),
    ],
)
def test_a_route_moves_down_tier_by_tier_as_far_as_there_is_one(steps: int, down: tuple[str, ...], model: str) -> None:
    tiers = [[candidate(name, DOWN if name in down else OK) for name in tier] for tier in BELOW]
    reason = "weak" if model == "large" else "budget:downgrade"
    assert cheaper(SPARE, tiers, steps) == Route(model, reason, "auto")


@pytest.mark.parametrize("state", [TIER, ZONE, DOWN])
def test_no_need_to_save_opens_a_model_that_may_not_or_cannot_answer(state: str) -> None:
    assert cheaper(SPARE, [[candidate("b1", state)]], 1) == SPARE
