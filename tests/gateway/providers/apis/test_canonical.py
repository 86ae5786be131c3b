"""Chunks of those who speak the OpenAI API, each in its own way."""

from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from gateway.providers.apis.canonical import Canonical
from gateway.wire.fold import Fold

JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2) | st.sampled_from(["", "a", "error", "eos"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["choices", "delta", "tool_calls", "function", "index", "id", "name", "arguments", "content", "type",
                 "text", "thinking", "finish_reason", "error", "object", "usage", "x_groq", "message"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)  # fmt: skip
CHUNKS = st.lists(st.dictionaries(st.sampled_from(["choices", "usage", "x_groq", "error", "object"]), JSON), max_size=4)


def hear(*values: dict[str, Any]) -> list[dict[str, Any]]:
    canonical = Canonical()
    return [chunk.value for value in values for chunk in canonical.hear(msgspec.json.encode(value), value)]


def delta(index: int = 0, **said: Any) -> dict[str, Any]:
    return {"choices": [{"index": index, "delta": said, "finish_reason": None}]}


def call(name: str | None, arguments: Any, **more: Any) -> dict[str, Any]:
    return more | {"function": ({} if name is None else {"name": name}) | {"arguments": arguments}}


def calls(*values: dict[str, Any]) -> list[tuple[str, str]]:
    fold = Fold()
    for value in hear(*values):
        fold.add(value)
    made = fold.completion()["choices"][0]["message"]["tool_calls"]
    return [(one["function"]["name"], one["function"]["arguments"]) for one in made]


@given(CHUNKS)
def test_nonsense_is_heard_as_well_as_it_can_be(values: list[dict[str, Any]]) -> None:
    fold = Fold()
    for value in hear(*values):
        fold.add(value)
    fold.completion()


@given(st.text(), st.integers(0, 3))
def test_bytes_stay_as_they_came_where_nothing_is_amiss(text: str, index: int) -> None:
    value = delta(index, role="assistant", content=text, tool_calls=[call("f", text, index=0, id="1", type="function")])
    payload = b" " + msgspec.json.encode(value)
    (chunk,) = Canonical().hear(payload, value)
    assert chunk.payload is payload
    assert chunk.value is value


def test_what_is_put_right_is_put_right_in_the_bytes_as_well() -> None:
    value = delta(content=[{"type": "text", "text": "Hi"}])
    (chunk,) = Canonical().hear(msgspec.json.encode(value), value)
    assert msgspec.json.decode(chunk.payload) == chunk.value == delta(content="Hi")


def test_calls_that_share_an_index_are_told_apart_by_name_and_id() -> None:
    first, second = call("f", "{}", index=0, id="1"), call("g", "{}", index=0, id="2")
    assert calls(delta(tool_calls=[first]), delta(tool_calls=[second])) == [("f", "{}"), ("g", "{}")]


def test_what_follows_goes_to_the_call_that_its_index_meant_last() -> None:
    first, second = call("f", "{", index=0, id="1"), call("g", "[", index=0, id="2")
    more = call(None, "]", index=0)
    assert calls(delta(tool_calls=[first, second]), delta(tool_calls=[more])) == [("f", "{"), ("g", "[]")]


def test_calls_without_index_and_id_begin_with_a_name() -> None:
    pieces = [call("f", "{"), call(None, "}"), call("f", "{}")]
    assert calls(*(delta(tool_calls=[piece]) for piece in pieces)) == [("f", "{}"), ("f", "{}")]


def test_a_name_that_is_repeated_under_the_same_id_is_no_new_call() -> None:
    pieces = [call("f", "{", index=0, id="1"), call("f", "}", index=0, id="1")]
    assert calls(*(delta(tool_calls=[piece]) for piece in pieces)) == [("f", "{}")]


def test_the_calls_of_choices_are_counted_apart() -> None:
    values = hear(*(delta(choice, tool_calls=[call("f", "{}", id=str(choice))]) for choice in (0, 1)))
    assert [value["choices"][0]["delta"]["tool_calls"][0]["index"] for value in values] == [0, 0]


def test_parts_that_are_no_text_are_kept() -> None:
    reference = {"type": "reference", "reference_ids": [1]}
    (value,) = hear(delta(content=[{"type": "text", "text": "Hi"}, reference]))
    assert value["choices"][0]["delta"] == {"content": "Hi", "content_parts": [reference]}


def test_what_an_error_has_used_comes_before_it() -> None:
    used = {"prompt_tokens": 3, "completion_tokens": 1}
    first, second = hear({"error": {"message": "Gone.", "code": "generation_failed"}, "usage": used})
    assert first == {"choices": [], "usage": used}
    assert second["error"]["code"] == "generation_failed"
