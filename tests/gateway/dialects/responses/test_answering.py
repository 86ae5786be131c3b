"""The events of an answer come in the order that clients of the Responses API rely on."""

from typing import Any

import pytest

from gateway.dialects.responses.answering import Answer, reply

ASKED = {"model": "asked", "input": "?"}


def chunk(finish: str | None = None, logprobs: Any = None, **delta: Any) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "logprobs": logprobs, "finish_reason": finish}
    return {"id": "chatcmpl-1", "created": 1_700_000_000, "model": "served", "choices": [choice]}


def call(index: int, arguments: str = "", **header: str) -> dict[str, Any]:
    name = {"name": header.pop("name")} if header else {}
    return {"index": index, "function": name | {"arguments": arguments}} | header


def answered(*chunks: dict[str, Any], **asked: Any) -> list[tuple[str, dict[str, Any]]]:
    answer = Answer("resp_1", ASKED | asked)
    return [event for part in chunks for event in answer.feed(part)] + answer.end()


def names(events: list[tuple[str, dict[str, Any]]]) -> list[str]:
    return [name.removeprefix("response.") for name, _ in events]


def test_a_text_is_added_grown_and_done_from_the_inside_out() -> None:
    events = answered(
        chunk(role="assistant", content=""), chunk(content="Hel"), chunk(content="lo"), chunk("stop"),
        {"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 11}},
    )  # fmt: skip

    assert names(events) == [
        "created", "in_progress",
        "output_item.added", "content_part.added",
        "output_text.delta", "output_text.delta",
        "output_text.done", "content_part.done", "output_item.done",
        "completed",
    ]  # fmt: skip
    assert events[2][1] == {
        "type": "response.output_item.added",
        "sequence_number": 2,
        "output_index": 0,
        "item": {"id": "msg_1_0", "type": "message", "status": "in_progress", "role": "assistant", "content": []},
    }
    assert events[5][1] == {
        "type": "response.output_text.delta",
        "sequence_number": 5,
        "item_id": "msg_1_0",
        "output_index": 0,
        "content_index": 0,
        "delta": "lo",
        "logprobs": [],
    }
    response = events[-1][1]["response"]
    assert (response["id"], response["model"], response["created_at"]) == ("resp_1", "served", 1_700_000_000)
    assert response["status"] == "completed"
    assert response["output"] == [
        {
            "id": "msg_1_0",
            "type": "message",
            "status": "completed",
            "role": "assistant",
            "content": [{"type": "output_text", "text": "Hello", "annotations": [], "logprobs": []}],
        }
    ]
    assert response["usage"] == {
        "input_tokens": 9,
        "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
        "output_tokens": 2,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 11,
    }


def test_a_thought_is_done_before_the_text_and_the_text_before_the_call() -> None:
    events = answered(
        chunk(reasoning_content="Look "), chunk(reasoning_content="it up."), chunk(content="Wait."),
        chunk(tool_calls=[call(0, id="call_1", name="weather")]), chunk(tool_calls=[call(0, '{"city"')]),
        chunk(tool_calls=[call(0, ':"Paris"}')]), chunk("tool_calls"),
    )  # fmt: skip

    assert names(events)[2:] == [
        "output_item.added", "content_part.added",
        "reasoning_text.delta", "reasoning_text.delta", "reasoning_text.done", "content_part.done",
        "output_item.done",
        "output_item.added", "content_part.added", "output_text.delta", "output_text.done", "content_part.done",
        "output_item.done",
        "output_item.added", "function_call_arguments.delta", "function_call_arguments.delta",
        "function_call_arguments.done", "output_item.done",
        "completed",
    ]  # fmt: skip
    thought, _, asked = events[-1][1]["response"]["output"]
    assert thought == {
        "id": "rs_1_0",
        "type": "reasoning",
        "summary": [],
        "content": [{"type": "reasoning_text", "text": "Look it up."}],
    }
    assert asked == {
        "id": "fc_1_2",
        "type": "function_call",
        "call_id": "call_1",
        "name": "weather",
        "arguments": '{"city":"Paris"}',
        "status": "completed",
    }


def test_a_call_is_done_when_the_next_begins() -> None:
    events = answered(
        chunk(tool_calls=[call(0, '{"a":1}', id="call_1", name="f")]),
        chunk(tool_calls=[call(1, "{}", id="call_2", name="g")]),
        chunk("tool_calls"),
    )

    one = ["output_item.added", "function_call_arguments.delta", "function_call_arguments.done", "output_item.done"]
    assert names(events)[2:-1] == one * 2


def test_calls_that_take_turns_grow_side_by_side() -> None:
    events = answered(
        chunk(tool_calls=[call(0, id="call_1", name="f"), call(1, id="call_2", name="g")]),
        chunk(tool_calls=[call(0, '{"x"'), call(1, "{}")]),
        chunk(tool_calls=[call(0, ":1}")]),
        chunk("tool_calls"),
    )

    output = events[-1][1]["response"]["output"]
    assert [(item["name"], item["arguments"]) for item in output] == [("f", '{"x":1}'), ("g", "{}")]
    assert names(events).count("output_item.done") == 2


def test_text_after_a_call_is_a_message_of_its_own() -> None:
    events = answered(
        chunk(content="a"), chunk(tool_calls=[call(0, "{}", id="c", name="f")]), chunk(content="b"), chunk("tool_calls")
    )

    assert [item["type"] for item in events[-1][1]["response"]["output"]] == ["message", "function_call", "message"]


def test_a_call_of_a_custom_tool_has_its_own_events() -> None:
    custom = {"index": 0, "id": "call_1", "type": "custom", "custom": {"name": "patch", "input": "*** Begin"}}

    events = answered(chunk(tool_calls=[custom]), chunk("tool_calls"))

    assert names(events)[2:-1] == [
        "output_item.added", "custom_tool_call_input.delta", "custom_tool_call_input.done", "output_item.done",
    ]  # fmt: skip
    assert events[-1][1]["response"]["output"] == [
        {"id": "ctc_1_0", "type": "custom_tool_call", "call_id": "call_1", "name": "patch", "input": "*** Begin"}
    ]


def test_a_refusal_is_a_part_of_the_message() -> None:
    events = answered(chunk(refusal="I can"), chunk(refusal="not."), chunk("stop"))

    assert names(events)[3:-2] == [
        "content_part.added", "refusal.delta", "refusal.delta", "refusal.done", "content_part.done",
    ]  # fmt: skip
    assert events[-1][1]["response"]["output"][0]["content"] == [{"type": "refusal", "refusal": "I cannot."}]


def test_summaries_of_a_thought_are_parts_of_their_own() -> None:
    def piece(part: int, text: str) -> dict[str, Any]:
        summary = [{"index": part, "type": "summary_text", "text": text}]
        return chunk(reasoning_content=text, reasoning_items=[{"index": 0, "id": "rs_9", "summary": summary}])

    sealed = chunk(reasoning_items=[{"index": 0, "encrypted_content": "gAAAA"}])
    events = answered(piece(0, "One"), piece(1, "Two"), sealed, chunk("stop"))

    part = [
        "reasoning_summary_part.added", "reasoning_summary_text.delta",
        "reasoning_summary_text.done", "reasoning_summary_part.done",
    ]  # fmt: skip
    assert names(events)[2:] == ["output_item.added", *part, *part, "output_item.done", "completed"]
    assert events[-1][1]["response"]["output"] == [
        {
            "id": "rs_9",
            "type": "reasoning",
            "summary": [{"type": "summary_text", "text": "One"}, {"type": "summary_text", "text": "Two"}],
            "encrypted_content": "gAAAA",
        }
    ]


def test_log_probabilities_stand_beside_their_text() -> None:
    token = {"token": "Hi", "logprob": -0.1, "bytes": [72, 105], "top_logprobs": []}

    events = answered(chunk(content="Hi", logprobs={"content": [token], "refusal": None}), chunk("stop"))

    told = dict(events)
    assert told["response.output_text.delta"]["logprobs"] == [token]
    assert told["response.output_text.done"]["logprobs"] == [token]
    assert told["response.completed"]["response"]["output"][0]["content"][0]["logprobs"] == [token]


@pytest.mark.parametrize(("finish", "reason"), [("length", "max_output_tokens"), ("content_filter", "content_filter")])
def test_an_answer_that_was_cut_is_incomplete_and_so_is_its_item(finish: str, reason: str) -> None:
    events = answered(chunk(content="Hel"), chunk(finish))

    name, data = events[-1]
    assert name == "response.incomplete"
    assert data["response"]["incomplete_details"] == {"reason": reason}
    assert [item["status"] for item in data["response"]["output"]] == ["incomplete"]


def test_an_error_in_mid_answer_fails_the_response_and_nothing_follows() -> None:
    answer = Answer("resp_1", ASKED)
    answer.feed(chunk(content="Hel"))

    events = answer.feed(
        {"error": {"message": "Gone.", "type": "server_error", "param": None, "code": "upstream_error"}}
    )

    assert names(events)[-1] == "failed"
    response = events[-1][1]["response"]
    assert (response["status"], response["error"]["code"], response["error"]["message"]) == (
        "failed", "upstream_error", "Gone.",
    )  # fmt: skip
    assert answer.end() == []


def test_an_error_before_anything_was_said_is_an_event_of_its_own() -> None:
    events = Answer("resp_1", ASKED).feed({"error": {"message": "Gone.", "param": "input", "code": "c"}})

    assert events == [
        ("error", {"type": "error", "sequence_number": 0, "code": "c", "message": "Gone.", "param": "input"})
    ]


def test_an_answer_that_never_says_how_it_ended_has_failed() -> None:
    assert names(answered(chunk(content="Hel")))[-1] == "failed"


def test_a_response_repeats_what_was_asked_and_says_that_nothing_is_kept() -> None:
    asked = {
        "instructions": "Be brief.",
        "tools": [{"type": "function", "name": "f", "parameters": {}, "strict": True}],
        "text": {"verbosity": "low"},
        "max_output_tokens": 9,
        "metadata": None,
    }

    response = answered(chunk("stop"), **asked)[0][1]["response"]

    assert response["instructions"] == "Be brief."
    assert response["tools"] == asked["tools"]
    assert response["text"] == {"format": {"type": "text"}, "verbosity": "low"}
    assert response["metadata"] == {}
    assert (response["store"], response["background"], response["previous_response_id"]) == (False, False, None)
    assert (response["status"], response["output"], response["usage"]) == ("in_progress", [], None)


def test_what_a_chunk_says_beyond_the_api_is_not_lost() -> None:
    cut = chunk("length") | {"sluice": {"stopped_by": "budget"}, "service_tier": "flex"}

    response = answered(cut)[-1][1]["response"]

    assert response["sluice"] == {"stopped_by": "budget"}
    assert response["service_tier"] == "flex"


def test_a_whole_reply_is_the_response_that_a_stream_ends_with() -> None:
    message = {"role": "assistant", "content": "Hello", "reasoning_content": "Hm."}
    completion = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": "served",
        "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
    }

    whole = reply(completion, "resp_1", ASKED)

    streamed = answered(
        chunk(reasoning_content="Hm."), chunk(content="Hello"), chunk("stop"), {"usage": completion["usage"]}
    )
    assert whole == streamed[-1][1]["response"]


@pytest.mark.parametrize("odd", [{"created": "long ago"}, {"usage": 5}])
def test_an_answer_that_makes_no_sense_is_a_response_that_has_failed(odd: dict[str, Any]) -> None:
    message = {"role": "assistant", "content": "x"}
    completion = {"id": "c", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]} | odd
    response = reply(completion, "resp_1", ASKED)

    assert (response["status"], response["error"]["code"]) == ("failed", "server_error")
