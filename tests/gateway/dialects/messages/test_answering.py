"""What a chat answers, as a Messages client reads it."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.dialects.messages.answering import Answering, to_message
from gateway.wire.fold import Fold
from tests.support.messages_dialect import JSON, Event, read

FIELDS = st.sampled_from(["content", "layout", "thinking_blocks", "reasoning", "refusal", "tool_calls", "index"])
NONSENSE = st.lists(st.dictionaries(st.sampled_from(["index", "function", "type", "citations"]), JSON)) | JSON
DELTAS = st.dictionaries(FIELDS, NONSENSE, max_size=3)


def chunk(finish: str | None = None, **delta: Any) -> dict[str, Any]:
    return {"id": "c", "choices": [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}]}


def usage(**counts: Any) -> dict[str, Any]:
    return {"choices": [], "usage": {"prompt_tokens": 10, "completion_tokens": 4, "total_tokens": 14} | counts}


def call(index: int, arguments: str, **first: Any) -> dict[str, Any]:
    name = {"name": first.pop("name")} if "name" in first else {}
    return {"index": index, "function": name | {"arguments": arguments}} | first


def answer(*chunks: dict[str, Any]) -> list[Event]:
    answering = Answering("msg_1", "local")
    return [event for said in chunks for event in answering.say(said)] + answering.finish()


def whole(*chunks: dict[str, Any]) -> dict[str, Any]:
    fold = Fold()
    for said in chunks:
        fold.add(said)
    return to_message(fold.completion(), "msg_1", "local")


def test_a_text_is_told_in_the_events_of_the_api_in_their_order() -> None:
    events = answer(
        chunk(role="assistant", content=""), chunk(content="Hel"), chunk(content="lo"), chunk("stop"), usage()
    )

    assert [name for name, _ in events] == [
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
    ]
    assert events[-2][1] == {
        "type": "message_delta",
        "delta": {"stop_reason": "end_turn", "stop_sequence": None},
        "usage": {
            "input_tokens": 10,
            "cache_read_input_tokens": 0,
            "cache_creation_input_tokens": 0,
            "cache_creation": {"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": 0},
            "output_tokens": 4,
            "output_tokens_details": {"thinking_tokens": 0},
        },
    }
    message = read(events)
    assert (message["id"], message["model"], message["content"]) == (
        "msg_1",
        "local",
        [{"type": "text", "text": "Hello"}],
    )


def test_the_money_that_stands_beside_the_tokens_stays_there() -> None:
    assert read(answer(usage(cost_usd="0.001")))["usage"]["cost_usd"] == "0.001"


def test_calls_one_after_the_other_are_blocks_one_after_the_other() -> None:
    events = answer(
        chunk(content="I look."),
        chunk(tool_calls=[call(0, "", id="t1", name="a", type="function")]),
        chunk(tool_calls=[call(0, '{"x"')]),
        chunk(tool_calls=[call(0, ":1}")]),
        chunk(tool_calls=[call(1, "{}", id="t2", name="b", type="function")]),
        chunk("tool_calls"),
    )

    bounds = [(name, data["index"]) for name, data in events if name in {"content_block_start", "content_block_stop"}]
    assert bounds == [(f"content_block_{word}", index) for index in range(3) for word in ("start", "stop")]
    assert read(events)["content"] == [
        {"type": "text", "text": "I look."},
        {"type": "tool_use", "id": "t1", "name": "a", "input": {"x": 1}},
        {"type": "tool_use", "id": "t2", "name": "b", "input": {}},
    ]
    assert read(events)["stop_reason"] == "tool_use"


def test_calls_that_come_by_turns_stay_open_beside_each_other() -> None:
    message = read(
        answer(
            chunk(tool_calls=[call(0, "", id="t1", name="a"), call(1, "", id="t2", name="b")]),
            chunk(tool_calls=[call(0, '{"x":'), call(1, '{"y":')]),
            chunk(tool_calls=[call(0, "1}"), call(1, "2}")]),
            chunk("tool_calls"),
        )
    )

    assert [block["input"] for block in message["content"]] == [{"x": 1}, {"y": 2}]


def test_a_forced_call_stops_for_a_tool_though_the_provider_says_stop() -> None:
    chunks = (chunk(tool_calls=[call(0, "{}", id="t1", name="a")]), chunk("stop"))

    assert read(answer(*chunks))["stop_reason"] == "tool_use"
    assert whole(*chunks)["stop_reason"] == "tool_use"


def test_a_call_without_an_id_gets_one_that_is_its_own() -> None:
    content = read(answer(chunk(tool_calls=[call(0, "{}", name="a"), call(1, "{}", name="b")])))["content"]

    assert [block["id"] for block in content] == ["msg_1_0", "msg_1_1"]


def test_calls_without_an_index_are_calls_of_their_own() -> None:
    def bare(name: str) -> dict[str, Any]:
        return {"id": name, "function": {"name": name, "arguments": "{}"}}

    content = read(answer(chunk(tool_calls=[bare("a"), bare("b")]), chunk(tool_calls=[bare("c")])))["content"]

    assert [block["id"] for block in content] == ["a", "b", "c"]


@given(DELTAS)
def test_nonsense_of_a_provider_breaks_no_stream(delta: dict[str, Any]) -> None:
    content = read(answer(chunk(**delta), chunk(content="Yes."), chunk("stop")))["content"]

    assert "".join(block.get("text", "") for block in content).endswith("Yes.")


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
def test_reasoning_of_another_model_is_thinking_without_a_signature(field: str) -> None:
    chunks = (chunk(**{field: "Hm, "}), chunk(**{field: "yes."}), chunk(content="Yes."), chunk("stop"))
    content = [{"type": "thinking", "thinking": "Hm, yes.", "signature": ""}, {"type": "text", "text": "Yes."}]

    assert read(answer(*chunks))["content"] == content
    assert whole(*chunks)["content"] == content


def test_text_after_a_call_is_a_block_anew() -> None:
    content = read(
        answer(chunk(content="One."), chunk(tool_calls=[call(0, "{}", id="t1", name="a")]), chunk(content="Two."))
    )["content"]

    assert [block["type"] for block in content] == ["text", "tool_use", "text"]


@pytest.mark.parametrize(
    ("finish", "reason"),
    [("stop", "end_turn"), ("length", "max_tokens"), ("content_filter", "refusal"), ("function_call", "tool_use")],
)
def test_every_reason_to_finish_has_its_word_in_messages(finish: str, reason: str) -> None:
    assert read(answer(chunk(finish)))["stop_reason"] == reason


def test_the_stop_that_was_met_is_told_where_the_provider_tells_it() -> None:
    ended = chunk("stop")
    ended["choices"][0]["stop_reason"] = "END"
    message = read(answer(ended))

    assert (message["stop_reason"], message["stop_sequence"]) == ("stop_sequence", "END")


def test_a_refusal_tells_why() -> None:
    chunks = (chunk(refusal="I may "), chunk(refusal="not."), chunk("stop"))
    details = {"type": "refusal", "category": None, "explanation": "I may not."}

    for message in (read(answer(*chunks)), whole(*chunks)):
        assert message["stop_reason"] == "refusal"
        assert message["stop_details"] == details
        assert message["content"] == []


def test_an_answer_that_was_cut_keeps_its_broken_arguments_as_text() -> None:
    chunks = (chunk(tool_calls=[call(0, '{"x":', id="t1", name="a")]), chunk("length"))

    assert whole(*chunks)["content"][0]["input"] == {"INVALID_JSON": '{"x":'}


def test_an_answer_of_nothing_is_a_message_of_nothing() -> None:
    assert read(answer())["content"] == []


def test_an_error_ends_the_stream_in_the_shape_of_messages() -> None:
    error = {"message": "It is busy.", "type": "server_error", "param": None, "code": "overloaded"}

    assert Answering("msg_1", "local").say({"error": error}) == [
        (
            "error",
            {
                "type": "error",
                "error": {
                    "type": "overloaded_error",
                    "message": "It is busy.",
                    "details": {"error_code": "overloaded"},
                },
                "request_id": None,
            },
        )
    ]
