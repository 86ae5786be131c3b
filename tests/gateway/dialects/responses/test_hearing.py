"""Events as providers send them, published or met in the wild, become the completion they stand for."""

from typing import Any

import pytest

from gateway.dialects.responses.hearing import Hearing, hear_whole
from gateway.wire.fold import Fold

Events = list[dict[str, Any]]

RESPONSE = {"id": "resp_7", "object": "response", "created_at": 1749761642.0, "model": "gpt", "status": "in_progress"}
USAGE = {
    "input_tokens": 92,
    "input_tokens_details": {"cached_tokens": 64, "cache_write_tokens": 16},
    "output_tokens": 52,
    "output_tokens_details": {"reasoning_tokens": 40},
    "total_tokens": 144,
}


def event(name: str, **data: Any) -> dict[str, Any]:
    return {"type": f"response.{name}"} | data


def created() -> Events:
    return [event("created", response=RESPONSE), event("in_progress", response=RESPONSE)]


def ended(status: str = "completed", **more: Any) -> dict[str, Any]:
    return event(status, response=RESPONSE | {"status": status, "usage": USAGE} | more)


def function(place: int, name: str, *pieces: str) -> Events:
    item = {"id": f"fc_{place}", "type": "function_call", "call_id": f"call_{place}", "name": name}
    at = {"item_id": item["id"], "output_index": place}
    whole = "".join(pieces)
    return [
        event("output_item.added", output_index=place, item=item | {"status": "in_progress", "arguments": ""}),
        *(event("function_call_arguments.delta", delta=piece, obfuscation="xX", **at) for piece in pieces),
        event("function_call_arguments.done", arguments=whole, **at),
        event("output_item.done", output_index=place, item=item | {"status": "completed", "arguments": whole}),
    ]


def text(place: int, *pieces: str, **more: Any) -> Events:
    item = {"id": f"msg_{place}", "type": "message", "role": "assistant"} | more
    at = {"item_id": item["id"], "output_index": place, "content_index": 0}
    part = {"type": "output_text", "annotations": [], "logprobs": [], "text": "".join(pieces)}
    return [
        event("output_item.added", output_index=place, item=item | {"status": "in_progress", "content": []}),
        event("content_part.added", part=part | {"text": ""}, **at),
        *(event("output_text.delta", delta=piece, logprobs=[], **at) for piece in pieces),
        event("output_text.done", text="".join(pieces), logprobs=[], **at),
        event("content_part.done", part=part, **at),
        event("output_item.done", output_index=place, item=item | {"status": "completed", "content": [part]}),
    ]


def summary(place: int, *parts: str) -> Events:
    item = {"id": f"rs_{place}", "type": "reasoning"}
    events = [event("output_item.added", output_index=place, item=item | {"summary": [], "encrypted_content": "par"})]
    for index, said in enumerate(parts):
        at = {"item_id": item["id"], "output_index": place, "summary_index": index}
        events += [
            event("reasoning_summary_part.added", part={"type": "summary_text", "text": ""}, **at),
            event("reasoning_summary_text.delta", delta=said, **at),
            event("reasoning_summary_text.done", text=said, **at),
            event("reasoning_summary_part.done", part={"type": "summary_text", "text": said}, **at),
        ]
    whole = [{"type": "summary_text", "text": said} for said in parts]
    done = item | {"summary": whole, "encrypted_content": "partial no more"}
    return [*events, event("output_item.done", output_index=place, item=done)]


def chunks(events: Events) -> list[dict[str, Any]]:
    hearing = Hearing()
    return [chunk for data in events for chunk in hearing.hear(data["type"], data)]


def heard(events: Events) -> dict[str, Any]:
    fold = Fold()
    for chunk in chunks(events):
        fold.add(chunk)
    return fold.completion()


def test_two_parallel_calls_and_their_usage() -> None:
    completion = heard(
        [
            *created(),
            *function(0, "search", '{"query', '":"Tigers', ' today"}'),
            *function(1, "weather", '{"city":', '"Detroit"}'),
            ended(),
        ]
    )

    assert completion == {
        "id": "resp_7",
        "object": "chat.completion",
        "created": 1749761642,
        "model": "gpt",
        "choices": [
            {
                "index": 0,
                "message": {
                    "role": "assistant",
                    "content": None,
                    "tool_calls": [
                        {
                            "id": "call_0",
                            "type": "function",
                            "function": {"name": "search", "arguments": '{"query":"Tigers today"}'},
                        },
                        {
                            "id": "call_1",
                            "type": "function",
                            "function": {"name": "weather", "arguments": '{"city":"Detroit"}'},
                        },
                    ],
                },
                "logprobs": None,
                "finish_reason": "tool_calls",
            }
        ],
        "usage": {
            "prompt_tokens": 92,
            "prompt_tokens_details": {"cached_tokens": 64, "cache_write_tokens": 16},
            "completion_tokens": 52,
            "completion_tokens_details": {"reasoning_tokens": 40},
            "total_tokens": 144,
        },
    }


def test_a_thought_is_kept_with_its_seal_and_its_text_can_be_read() -> None:
    message = heard([*created(), *summary(0, "First.", "Then."), *text(1, "Hi"), ended()])["choices"][0]["message"]

    assert message == {
        "role": "assistant",
        "content": "Hi",
        "reasoning_content": "First.\n\nThen.",
        "reasoning_items": [
            {
                "id": "rs_0",
                "type": "reasoning",
                "summary": [{"type": "summary_text", "text": "First."}, {"type": "summary_text", "text": "Then."}],
                "encrypted_content": "partial no more",
            }
        ],
    }


def test_events_of_two_items_may_take_turns() -> None:
    first, second = function(0, "f", '{"a"', ":1}"), function(1, "g", "{", "}")
    mixed = [event for pair in zip(first, second, strict=True) for event in pair]

    calls = heard([*created(), *mixed, ended()])["choices"][0]["message"]["tool_calls"]

    assert [call["function"] for call in calls] == [
        {"name": "f", "arguments": '{"a":1}'},
        {"name": "g", "arguments": "{}"},
    ]


def test_a_provider_that_streams_no_deltas_is_heard_at_the_end_of_an_item() -> None:
    silent = [data for data in [*text(0, "Hello"), *function(1, "f", "{}")] if not data["type"].endswith("delta")]

    message = heard([*created(), *silent, ended()])["choices"][0]["message"]

    assert message["content"] == "Hello"
    assert message["tool_calls"][0]["function"]["arguments"] == "{}"


def test_a_provider_that_answers_in_one_piece_is_heard_as_well() -> None:
    streamed = [*created(), *summary(0, "Hm."), *text(1, "Hi"), *function(2, "f", "{}")]
    output = [data["item"] for data in streamed if data["type"] == "response.output_item.done"]
    whole = RESPONSE | {"status": "completed", "output": output, "usage": USAGE}

    fold = Fold()
    for chunk in hear_whole(whole):
        fold.add(chunk)

    assert fold.completion() == heard([*streamed, ended(output=output)])


def test_the_response_at_the_end_says_nothing_twice_even_under_other_ids() -> None:
    item = {
        "id": "msg_other",
        "type": "message",
        "role": "assistant",
        "content": [{"type": "output_text", "text": "Hi"}],
    }

    assert heard([*created(), *text(1, "Hi"), ended(output=[item])])["choices"][0]["message"]["content"] == "Hi"


@pytest.mark.parametrize(
    ("reason", "finish"), [("max_output_tokens", "length"), ("content_filter", "content_filter"), ("steered", "length")]
)
def test_an_incomplete_response_says_why(reason: str, finish: str) -> None:
    completion = heard([*created(), *text(0, "Hel"), ended("incomplete", incomplete_details={"reason": reason})])

    assert completion["choices"][0]["finish_reason"] == finish


def test_sources_of_a_text_are_annotations() -> None:
    source = {"type": "url_citation", "url": "https://e.org", "title": "E", "start_index": 0, "end_index": 2}
    at = {"item_id": "msg_0", "output_index": 0, "content_index": 0}
    events = text(0, "Hi")
    events[3:3] = [event("output_text.annotation.added", annotation=source, annotation_index=0, **at)]

    message = heard([*created(), *events, ended()])["choices"][0]["message"]

    inside = {name: value for name, value in source.items() if name != "type"}
    assert message["annotations"] == [{"type": "url_citation", "url_citation": inside}]


def test_two_messages_are_one_text_and_the_last_phase_holds() -> None:
    said = [*text(0, "Let me see. ", phase="commentary"), *text(1, "Done.", phase="final_answer")]

    message = heard([*created(), *said, ended()])["choices"][0]["message"]

    assert (message["content"], message["phase"]) == ("Let me see. Done.", "final_answer")


ERROR = {"type": "too_many_requests", "code": "too_many_requests", "message": "Too Many Requests", "param": None}


@pytest.mark.parametrize(
    "told",
    [
        {"type": "error", "sequence_number": 2, "error": ERROR},
        {"type": "error", "sequence_number": 2} | {n: v for n, v in ERROR.items() if n != "type"},
    ],
)
def test_an_error_is_told_once_whether_it_is_nested_or_flat(told: dict[str, Any]) -> None:
    failed = event("failed", response=RESPONSE | {"status": "failed", "error": {"code": "x", "message": "y"}})

    (*_, last) = chunks([*created(), told, failed])

    assert last["error"]["message"] == "Too Many Requests"
    assert last["error"]["code"] == "too_many_requests"


def test_a_failed_response_tells_what_it_has_used_and_then_why() -> None:
    failed = ended("failed", error={"code": "server_error", "message": "The model broke."})

    (*_, usage, error) = chunks([*created(), *text(0, "Hel"), failed])

    assert usage["usage"]["completion_tokens"] == 52
    assert error == {
        "error": {"message": "The model broke.", "type": "server_error", "param": None, "code": "server_error"}
    }


def test_a_stream_that_ends_early_has_no_ending() -> None:
    fold = Fold()
    for chunk in chunks([*created(), *text(0, "Hel")]):
        fold.add(chunk)

    assert not fold.finished


def test_pings_and_what_nobody_has_heard_of_are_passed_over() -> None:
    assert chunks([{"type": "ping"}, {"type": "keepalive"}, event("novel.delta", delta="x")]) == []
