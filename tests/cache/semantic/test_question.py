from typing import Any

import pytest

from cache.semantic.question import question_of

ASKED: dict[str, Any] = {
    "model": "auto",
    "messages": [{"role": "system", "content": "be brief"}, {"role": "user", "content": "When are you open?"}],
}


def with_last(content: object, **more: object) -> dict[str, Any]:
    return ASKED | {"messages": [ASKED["messages"][0], {"role": "user", "content": content}]} | more


def test_the_last_turn_is_the_question_and_the_rest_does_not_hold_it() -> None:
    question = question_of(ASKED)
    assert question is not None
    assert (question.text, question.earlier) == ("When are you open?", 0)
    assert "When are you open?" not in repr(question.rest)
    assert "be brief" in repr(question.rest)


def test_text_in_parts_is_the_same_question() -> None:
    plain, parts = question_of(ASKED), question_of(with_last([{"type": "text", "text": "When are you open?"}]))
    assert plain == parts


def test_turns_before_the_last_are_counted_and_instructions_are_not() -> None:
    talk = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]
    question = question_of(ASKED | {"messages": [ASKED["messages"][0], *talk, ASKED["messages"][1]]})
    assert question is not None
    assert question.earlier == 2


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"messages": []},
        {"messages": "hello"},
        {"messages": ["hello"]},
        {"messages": [{"role": "assistant", "content": "hello"}]},
        {"messages": [{"role": "tool", "content": "4", "tool_call_id": "1"}]},
        with_last(" \n"),
        with_last(None),
        with_last([]),
        with_last([{"type": "image_url", "image_url": {"url": "data:"}}]),
        with_last([{"type": "text", "text": "what is this?"}, {"type": "image_url", "image_url": {"url": "data:"}}]),
        with_last([{"type": "text", "text": "hi", "cache_control": {"type": "ephemeral"}}]),
        with_last("hi", temperature=0.7),
        with_last("hi", temperature="cold"),
        with_last("hi", n=2),
        with_last("hi", seed=0),
        with_last("hi", logprobs=True),
        with_last("hi", audio={"voice": "alloy"}),
    ],
)
def test_a_request_that_wants_more_than_one_text_for_its_words_is_not_compared_by_meaning(body: dict[str, Any]) -> None:
    assert question_of(body) is None


@pytest.mark.parametrize("more", [{}, {"temperature": 0}, {"temperature": 0.3}, {"n": 1}, {"logprobs": False}])
def test_one_that_wants_one_answer_is(more: dict[str, object]) -> None:
    assert question_of(ASKED | more) is not None
