"""Whatever a client or a provider sends, it is translated or refused by name; nothing breaks."""

from contextlib import suppress
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from gateway.dialects.responses.answering import Answer
from gateway.dialects.responses.asking import to_chat
from gateway.dialects.responses.calling import to_responses
from gateway.dialects.responses.hearing import Hearing
from gateway.errors import BadRequest

NONSENSE = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 2),
    st.text(max_size=5),
    st.just([]),
    st.just({}),
    st.just([{}]),
    st.just([1]),
)
TOOL = {"type": "function", "name": "f", "parameters": {}, "strict": True}
GRAMMAR = {"type": "grammar", "syntax": "lark", "definition": "x"}
BODY: dict[str, Any] = {
    "model": "m",
    "instructions": "Be brief.",
    "input": [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "?"}]},
        {"type": "message", "role": "user", "content": [{"type": "input_image", "image_url": "u", "detail": "low"}]},
        {"type": "message", "role": "user", "content": [{"type": "input_file", "file_data": "d"}]},
        {"type": "reasoning", "id": "rs", "summary": [{"type": "summary_text", "text": "t"}], "encrypted_content": "x"},
        {
            "type": "message",
            "role": "assistant",
            "phase": "commentary",
            "content": [{"type": "output_text", "text": "a"}],
        },
        {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"},
        {"type": "reasoning", "summary": []},
        {"type": "custom_tool_call", "call_id": "d", "name": "g", "input": "x"},
        {"type": "function_call_output", "call_id": "c", "output": [{"type": "input_text", "text": "1"}]},
        {"type": "custom_tool_call_output", "call_id": "d", "output": "2"},
    ],
    "tools": [TOOL, {"type": "custom", "name": "g", "format": GRAMMAR}],
    "tool_choice": {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": "f"}]},
    "text": {"format": {"type": "json_schema", "name": "n", "schema": {}}, "verbosity": "low"},
    "reasoning": {"effort": "low", "summary": "auto"},
    "include": ["reasoning.encrypted_content", "message.output_text.logprobs"],
    "stream": True,
    "stream_options": {"include_obfuscation": False},
    "max_output_tokens": 5,
    "top_logprobs": 1,
}
AT = {"output_index": 0, "content_index": 0, "summary_index": 0, "annotation_index": 0}
MESSAGE = {
    "id": "msg",
    "type": "message",
    "phase": "p",
    "content": [
        {"type": "output_text", "text": "Hi", "annotations": [{"type": "file_path", "index": 0}], "logprobs": [{}]}
    ],
}
THOUGHT = {
    "type": "reasoning",
    "id": "rs",
    "summary": [{"type": "summary_text", "text": "t"}],
    "encrypted_content": "x",
}
RESPONSE = {
    "id": "resp",
    "created_at": 1.0,
    "model": "m",
    "status": "incomplete",
    "incomplete_details": {"reason": "max_output_tokens"},
    "error": {"code": "c", "message": "m", "type": "t"},
    "output": [MESSAGE, THOUGHT, {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}],
    "usage": {"input_tokens": 1, "input_tokens_details": {"cached_tokens": 1}, "output_tokens": 1},
}
EVENTS: list[dict[str, Any]] = [
    {"type": "response.created", "response": RESPONSE},
    *({"type": "response.output_item.added", "item": item} | AT for item in (MESSAGE, THOUGHT)),
    {"type": "response.output_item.done", "item": THOUGHT} | AT,
    {"type": "response.output_text.delta", "delta": "Hi", "logprobs": [{}]} | AT,
    {"type": "response.output_text.done", "text": "Hi", "logprobs": [{}]} | AT,
    {"type": "response.reasoning_summary_text.delta", "delta": "Hi"} | AT,
    {"type": "response.function_call_arguments.delta", "delta": "{}"} | AT,
    {"type": "response.output_text.annotation.added", "annotation": {"type": "x", "x": 1}} | AT,
    {"type": "response.incomplete", "response": RESPONSE},
    {"type": "response.failed", "response": RESPONSE},
    {"type": "error", "error": {"code": "c", "message": "m"}},
]


def places(value: object, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the way to every value inside `value`."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [way for name, part in inner for way in ((*path, name), *places(part, (*path, name)))]


def put(value: Any, path: tuple[Any, ...], part: object) -> Any:
    """Return `value` with `part` at `path`."""
    if not path:
        return part
    copy: Any = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = put(value[path[0]], path[1:], part)
    return copy


def test_the_request_of_these_tests_is_a_good_one() -> None:
    assert to_responses(to_chat(BODY)) == BODY | {"store": False}


@given(st.sampled_from(places(BODY)), NONSENSE)
def test_a_request_with_a_wrong_value_is_translated_or_refused(path: tuple[Any, ...], wrong: object) -> None:
    with suppress(BadRequest):
        to_responses(to_chat(put(BODY, path, wrong)))


@given(st.sampled_from(places(to_chat(BODY))), NONSENSE)
def test_a_chat_with_a_wrong_value_is_translated_or_refused(path: tuple[Any, ...], wrong: object) -> None:
    with suppress(BadRequest):
        to_responses(put(to_chat(BODY), path, wrong))


@given(st.sampled_from(EVENTS), NONSENSE, st.data())
def test_an_event_with_a_wrong_value_breaks_nothing(event: dict[str, Any], wrong: object, data: st.DataObject) -> None:
    hearing = Hearing()
    for one in (EVENTS[data.draw(st.integers(0, 2))], put(event, data.draw(st.sampled_from(places(event))), wrong)):
        hearing.hear("", one)


PIECE = {"index": 0, "id": "rs", "summary": [{"index": 0, "type": "summary_text", "text": "t"}]}
CHUNK: dict[str, Any] = {
    "id": "c",
    "created": 1,
    "model": "m",
    "choices": [
        {
            "index": 0,
            "delta": {
                "content": "a",
                "refusal": "b",
                "phase": "p",
                "reasoning_content": "t",
                "reasoning_items": [PIECE],
                "annotations": [{"type": "url_citation", "url_citation": {}}],
                "tool_calls": [
                    {"index": 0, "id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
                ],
            },
            "logprobs": {"content": [{}]},
            "finish_reason": "stop",
        }
    ],
    "usage": {"prompt_tokens": 1, "completion_tokens": 1, "prompt_tokens_details": {"cached_tokens": 1}},
    "error": {"message": "m", "code": "c"},
}


@given(st.sampled_from(places(CHUNK)), NONSENSE)
def test_a_chunk_with_a_wrong_value_ends_in_an_event_that_says_how(path: tuple[Any, ...], wrong: object) -> None:
    answer = Answer("resp_1", {"model": "m", "input": "?"})

    events = [*answer.feed(put(CHUNK, path, wrong)), *answer.feed({"choices": []}), *answer.end()]

    assert events[-1][0] in {"response.completed", "response.incomplete", "response.failed", "error"}
    assert [data["sequence_number"] for _, data in events] == list(range(len(events)))
