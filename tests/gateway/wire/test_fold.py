"""Chunks fold into the completion they stand for, and a completion unfolds into chunks that fold back."""

import time
from copy import deepcopy
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from gateway.wire.fold import Fold
from gateway.wire.unfold import unfold, usage_chunk


def fold(chunks: list[dict[str, Any]]) -> dict[str, Any]:
    folded = Fold()
    for chunk in chunks:
        folded.add(chunk)
    return folded.completion()


def chunk(index: int = 0, finish: str | None = None, **delta: Any) -> dict[str, Any]:
    return {"id": "c", "choices": [{"index": index, "delta": delta, "logprobs": None, "finish_reason": finish}]}


def test_text_is_joined_and_the_end_kept() -> None:
    completion = fold(
        [chunk(role="assistant", content=""), chunk(content="He"), chunk(content="llo"), chunk(finish="stop")]
    )

    assert completion["choices"] == [
        {"message": {"role": "assistant", "content": "Hello"}, "index": 0, "logprobs": None, "finish_reason": "stop"}
    ]
    assert completion["object"] == "chat.completion"


def test_parallel_tool_calls_are_merged_by_index() -> None:
    def call(index: int, **function: str) -> dict[str, Any]:
        return {"index": index, "function": function}

    completion = fold(
        [
            chunk(
                role="assistant",
                content=None,
                tool_calls=[call(0, name="a", arguments="") | {"id": "1", "type": "function"}],
            ),
            chunk(tool_calls=[call(1, name="b", arguments="") | {"id": "2", "type": "function"}]),
            chunk(tool_calls=[call(0, arguments='{"x"'), call(1, arguments="{}")]),
            chunk(tool_calls=[call(0, arguments=":1}")]),
            chunk(finish="tool_calls"),
        ]
    )

    message = completion["choices"][0]["message"]
    assert message["content"] is None
    assert message["tool_calls"] == [
        {"function": {"name": "a", "arguments": '{"x":1}'}, "id": "1", "type": "function"},
        {"function": {"name": "b", "arguments": "{}"}, "id": "2", "type": "function"},
    ]


def test_thoughts_are_merged_by_index_as_far_down_as_they_have_one() -> None:
    def thought(**said: Any) -> dict[str, Any]:
        return chunk(reasoning_items=[{"index": 0} | said])

    def summary(index: int, text: str) -> dict[str, Any]:
        return thought(summary=[{"index": index, "type": "summary_text", "text": text}])

    completion = fold(
        [
            thought(id="rs", summary=[]),
            summary(0, "On"),
            summary(0, "e"),
            summary(1, "Two"),
            thought(encrypted_content="x"),
        ]
    )

    assert completion["choices"][0]["message"]["reasoning_items"] == [
        {
            "id": "rs",
            "summary": [{"type": "summary_text", "text": "One"}, {"type": "summary_text", "text": "Two"}],
            "encrypted_content": "x",
        }
    ]


def test_choices_that_come_interleaved_are_kept_apart() -> None:
    completion = fold(
        [chunk(1, content="b"), chunk(0, content="a"), chunk(1, finish="stop"), chunk(0, finish="length")]
    )

    assert [(c["index"], c["message"]["content"], c["finish_reason"]) for c in completion["choices"]] == [
        (0, "a", "length"),
        (1, "b", "stop"),
    ]


def test_logprobs_are_put_end_to_end() -> None:
    first, second = ({"content": [{"token": token}], "refusal": None} for token in "ab")
    part = {"index": 0, "delta": {"content": "x"}, "finish_reason": None}

    completion = fold([{"choices": [part | {"logprobs": first}]}, {"choices": [part | {"logprobs": second}]}])

    assert completion["choices"][0]["logprobs"] == {"content": [{"token": "a"}, {"token": "b"}], "refusal": None}


def test_logprobs_of_a_long_answer_take_time_in_step_with_it() -> None:
    folded, began = Fold(), time.process_time()
    for _ in range(20_000):
        folded.add({"choices": [{"index": 0, "delta": {"content": "x"}, "logprobs": {"content": [{"token": "x"}]}}]})

    assert time.process_time() - began < 1


def test_fields_nobody_has_heard_of_survive() -> None:
    completion = fold([{"service_tier": "flex", **chunk(novel={"a": ["x"]})}, chunk(novel={"b": "y"}, finish="stop")])

    assert completion["service_tier"] == "flex"
    assert completion["choices"][0]["message"]["novel"] == {"a": ["x"], "b": "y"}


def test_a_choice_that_never_ended_is_not_finished() -> None:
    folded = Fold()
    folded.add(chunk(0, finish="stop"))
    folded.add(chunk(1, content="..."))

    assert not folded.finished
    assert folded.texts == ["", "..."]


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=300)
calls = st.lists(
    st.fixed_dictionaries(
        {
            "id": st.just("i"),
            "type": st.just("function"),
            "function": st.fixed_dictionaries({"name": st.just("f"), "arguments": texts}),
        }
    ),
    max_size=3,
)
messages = st.one_of(
    st.fixed_dictionaries({"role": st.just("assistant"), "content": texts}),
    st.fixed_dictionaries({"role": st.just("assistant"), "content": st.none(), "tool_calls": calls.filter(bool)}),
)


@given(st.lists(messages, min_size=1, max_size=3), st.sampled_from(["stop", "length", "tool_calls"]))
def test_what_is_unfolded_folds_back(said: list[dict[str, Any]], finish: str) -> None:
    choices = [
        {"index": index, "message": message, "logprobs": None, "finish_reason": finish}
        for index, message in enumerate(said)
    ]
    completion = {
        "id": "c",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": choices,
        "usage": {"t": 1},
    }

    replayed = list(unfold(completion))

    assert fold(replayed) | {"usage": {"t": 1}} == completion
    assert usage_chunk(completion, {"cost_usd": "0.00"}) == {
        "id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [],
        "usage": {"t": 1, "cost_usd": "0.00"},
    }  # fmt: skip


def test_all_that_a_model_makes_is_said_wherever_it_stands() -> None:
    deep: Any = "deep"
    for _ in range(5000):
        deep = [deep]
    folded = Fold()
    folded.add(chunk(content=[{"type": "thinking", "thinking": [{"type": "text", "text": "a"}]}, {"type": "x"}]))
    folded.add(chunk(function_call={"name": "b", "arguments": "c"}))
    folded.add(chunk(tool_calls=[{"index": 0, "id": "1", "type": "custom", "custom": {"name": "d", "input": "e"}}]))
    folded.add({"choices": [{"index": 1, "delta": {"content": deep}}]})

    assert folded.texts == ["abcde", "deep"]


def test_what_is_empty_takes_nothing_back() -> None:
    named = chunk(tool_calls=[{"index": 0, "id": "1", "function": {"name": "f", "arguments": ""}}])
    unnamed = chunk(tool_calls=[{"index": 0, "id": "", "function": {"name": "", "arguments": "{}"}}]) | {"id": ""}

    completion = fold([named, unnamed])

    assert completion["id"] == "c"
    assert completion["choices"][0]["message"]["tool_calls"] == [
        {"id": "1", "function": {"name": "f", "arguments": "{}"}}
    ]


def test_folding_changes_no_chunk() -> None:
    first = chunk(audio={"transcript": "a"}, tool_calls=[{"index": 0, "function": {"arguments": "{"}}])
    kept = deepcopy(first)

    fold([first, chunk(audio={"transcript": "b"}, tool_calls=[{"index": 0, "function": {"arguments": "}"}}])])

    assert first == kept
