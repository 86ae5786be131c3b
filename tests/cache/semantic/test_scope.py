from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cache.semantic.question import question_of
from cache.semantic.scope import entry_of, scope_of

WORDS = st.text(min_size=1, max_size=12).filter(lambda text: bool(text.strip()))
ASKED: dict[str, Any] = {
    "model": "auto",
    "messages": [
        {"role": "system", "content": "You answer for a bank."},
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": "hello"},
        {"role": "user", "content": "When are you open?"},
    ],
    "tools": [{"type": "function", "function": {"name": "hours"}}],
    "response_format": {"type": "json_object"},
    "temperature": 0,
}
PLACE = {
    "partition": "app", "feature": "t/a/f", "model_class": "m", "endpoint": "chat", "epoch": "1",
}  # fmt: skip


def scope(body: dict[str, Any], **place: str) -> bytes:
    question = question_of(body)
    assert question is not None
    return scope_of(question, **(PLACE | place))


def turned(index: int, content: str) -> dict[str, Any]:
    messages = [dict(message) for message in ASKED["messages"]]
    messages[index]["content"] = content
    return ASKED | {"messages": messages}


@given(WORDS)
def test_only_the_words_of_the_last_turn_may_differ(words: str) -> None:
    assert scope(turned(3, words)) == scope(ASKED)


@given(st.sampled_from([0, 1, 2]), WORDS)
def test_another_instruction_or_another_earlier_turn_is_another_scope(index: int, words: str) -> None:
    assert (scope(turned(index, words)) == scope(ASKED)) == (words == ASKED["messages"][index]["content"])


@given(st.sampled_from(sorted(PLACE)), WORDS)
def test_another_group_feature_model_path_or_epoch_is_another_scope(name: str, words: str) -> None:
    assert (scope(ASKED, **{name: words}) == scope(ASKED)) == (words == PLACE[name])


@pytest.mark.parametrize(
    "change",
    [
        {"tools": [{"type": "function", "function": {"name": "balance"}}]},
        {"tools": []},
        {"response_format": {"type": "text"}},
        {"temperature": 0.1},
        {"max_tokens": 5},
        {"a_field_of_tomorrow": True},
    ],
)
def test_another_tool_schema_or_sampling_is_another_scope(change: dict[str, Any]) -> None:
    assert scope(ASKED | change) != scope(ASKED)


def test_a_turn_more_or_less_is_another_scope() -> None:
    assert scope(ASKED | {"messages": ASKED["messages"][1:]}) != scope(ASKED)
    assert scope(ASKED | {"messages": [ASKED["messages"][0], *ASKED["messages"]]}) != scope(ASKED)


@given(WORDS, WORDS)
def test_entries_are_named_by_their_scope_and_their_words(one: str, other: str) -> None:
    assert (entry_of(scope(ASKED), one) == entry_of(scope(ASKED), other)) == (one == other)
    assert entry_of(scope(ASKED), one) != entry_of(scope(ASKED, feature="t/a/g"), one)
