"""A request within its bounds."""

from typing import Any

import pytest

from gateway.steps.shaping import UNBOUNDED_MAX_TOKENS, Shaped, shape
from gateway.wire.body import shaped as read
from gateway.wire.request.chat_body import ChatFields
from governance.attribution import Attribution
from governance.policy.rules import OutputRule


def shaped(rule: OutputRule, *, user: str | None = None, **fields: Any) -> Shaped:
    body = {"model": "m", "messages": [{"role": "user", "content": "x"}]} | fields
    return shape(body, read(body, ChatFields), rule, Attribution(team="t", app="a", user=user))


@pytest.mark.parametrize(
    ("rule", "asked", "allowed"),
    [
        (OutputRule(), {}, UNBOUNDED_MAX_TOKENS),
        (OutputRule(), {"max_tokens": 9000}, 9000),
        (OutputRule(default=50), {}, 50),
        (OutputRule(default=50), {"max_tokens": 70}, 70),
        (OutputRule(ceiling=60), {}, 60),
        (OutputRule(ceiling=60), {"max_completion_tokens": 70}, 60),
        (OutputRule(default=50, ceiling=60), {"max_tokens": 55}, 55),
        (OutputRule(), {"max_tokens": 70, "max_completion_tokens": 40}, 40),
    ],
)
def test_no_answer_is_longer_than_asked_or_allowed(rule: OutputRule, asked: dict[str, Any], allowed: int) -> None:
    assert shaped(rule, **asked).max_tokens == allowed


def test_the_callers_own_bound_is_left_to_the_provider_to_set_again() -> None:
    assert not {"max_tokens", "max_completion_tokens"} & set(
        shaped(OutputRule(), max_tokens=9, max_completion_tokens=9).body
    )


def test_the_field_used_makes_no_two_requests_of_one() -> None:
    one, other = shaped(OutputRule(), max_tokens=20), shaped(OutputRule(), max_completion_tokens=20)

    assert one.fingerprinted == other.fingerprinted


def test_several_choices_cost_several_times_as_much() -> None:
    assert shaped(OutputRule(), max_tokens=10, n=3).most_output == 30


@pytest.mark.parametrize(("own", "all_of_them"), [(None, ["END"]), ("x", ["x", "END"]), (["END", "y"], ["END", "y"])])
def test_the_policys_stops_are_added_to_the_callers(own: object, all_of_them: list[str]) -> None:
    asked: dict[str, Any] = {} if own is None else {"stop": own}

    assert shaped(OutputRule(stop=("END",)), **asked).body["stop"] == all_of_them


def test_what_is_ours_does_not_go_to_a_provider() -> None:
    body = shaped(OutputRule(), user="sha256:1", metadata={"team": "x"}, cache={"ttl": 1}).body

    assert not {"metadata", "cache"} & set(body)


def test_a_hashed_user_stays_hashed_on_the_way_to_a_provider() -> None:
    body = {"model": "m", "messages": [{"role": "user", "content": "x"}], "user": "ann@example.com"}

    assert (
        shape(body, read(body, ChatFields), OutputRule(), Attribution("t", "a", user="sha256:1")).body["user"]
        == "sha256:1"
    )


def test_a_user_of_nothing_that_prints_is_not_sent_at_all() -> None:
    assert "user" not in shaped(OutputRule(), user=None, max_tokens=3).body
    body = {"model": "m", "messages": [{"role": "user", "content": "x"}], "user": "\u200b"}
    assert "user" not in shape(body, read(body, ChatFields), OutputRule(), Attribution("t", "a")).body
