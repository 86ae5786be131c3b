"""A prompt is measured whatever its shape; what is no text is told apart."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.counting.makeup import MEASURES, Makeup, makeup, of_text


def chat(content: Any, **fields: Any) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": content}]} | fields


def measure(made: Makeup, name: str) -> int:
    return made.measures[MEASURES.index(name)]


def test_the_text_of_parts_counts_as_text_and_their_json_does_not() -> None:
    parts = [{"type": "text", "text": "two words"}, {"type": "refusal", "refusal": "no"}]

    assert makeup(chat(parts)) == makeup(chat("two words\nno"))
    assert measure(makeup(chat(parts)), "words") == 3


def test_a_prompt_is_measured_once_for_itself_and_for_each_of_its_turns() -> None:
    made = makeup({"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]})

    assert (measure(made, "once"), measure(made, "messages")) == (1, 2)


def test_what_an_assistant_called_is_text_and_the_tools_it_may_call_are_a_schema() -> None:
    call = {"id": "1", "type": "function", "function": {"name": "find", "arguments": '{"of": "everything"}'}}
    tools = [{"type": "function", "function": {"name": "find", "parameters": {"type": "object"}}}]
    body = {"messages": [{"role": "assistant", "content": None, "tool_calls": [call]}], "tools": tools}

    assert measure(makeup(body), "letters") > len("findeverything")
    assert (measure(makeup(body), "with_tools"), measure(makeup(chat("x")), "with_tools")) == (1, 0)
    assert measure(makeup(body), "schema") > 60
    assert measure(makeup(chat("x", response_format={"type": "json_object"})), "schema") > 0


@pytest.mark.parametrize(
    "part", [{"type": "image_url", "image_url": {"url": "https://x/y.png"}}, {"type": "file", "file": {"file_id": "f"}}]
)
def test_a_prompt_with_attachments_is_not_all_text(part: dict[str, Any]) -> None:
    assert not makeup(chat([part])).is_text
    assert makeup(chat("text")).is_text


def test_the_bytes_of_a_picture_are_no_text() -> None:
    url = "data:image/png;base64," + "A" * 4000
    made = makeup(chat([{"type": "image_url", "image_url": {"url": url}}]))

    assert measure(made, "letters") == 0
    assert len(made.pictures) == 1


def test_what_an_embeddings_request_gives_as_tokens_is_counted_as_they_are() -> None:
    assert measure(makeup({"input": "two words"}), "words") == 2
    assert measure(makeup({"input": ["two words", "three more words"]}), "messages") == 2
    assert makeup({"input": [1, 2, 3]}).counted == 3
    assert makeup({"input": [[1, 2, 3], [4]]}).counted == 4


def test_the_texts_of_an_answer_have_nothing_that_a_template_adds() -> None:
    assert sum(of_text(["", ""])) == 1  # the break between them
    assert of_text(["two", "words"])[: len(of_text([])) - 4] == makeup(chat("two\nwords")).measures[:-4]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["messages", "input", "tools", "content", "type", "text", "image_url", "url", "role"]),
            inner | st.sampled_from(["text", "image_url", "file"]),
            max_size=4,
        )
    ),
    max_leaves=15,
)


@given(st.dictionaries(st.sampled_from(["messages", "input", "tools", "response_format"]), json_values, max_size=4))
def test_no_shape_of_body_can_keep_a_prompt_from_being_measured(body: dict[str, Any]) -> None:
    assert all(measure >= 0 for measure in makeup(body).measures)
