"""What a provider's Messages stream says, as the chunks of a chat."""

from typing import Any

import pytest

from gateway.dialects.messages.hearing import Hearing
from gateway.errors import UpstreamError
from gateway.wire.fold import Fold
from governance.prices import Usage
from tests.support.messages_dialect import Event, completed

START = {
    "message": {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude",
        "content": [],
        "stop_reason": None,
        "usage": {
            "input_tokens": 25,
            "cache_read_input_tokens": 100,
            "cache_creation_input_tokens": 50,
            "cache_creation": {"ephemeral_5m_input_tokens": 20, "ephemeral_1h_input_tokens": 30},
            "output_tokens": 1,
        },
    }
}


def begin(index: int, block: dict[str, Any]) -> Event:
    return "content_block_start", {"index": index, "content_block": block}


def go_on(index: int, kind: str, **said: Any) -> Event:
    return "content_block_delta", {"index": index, "delta": {"type": f"{kind}_delta"} | said}


def stop(index: int) -> Event:
    return "content_block_stop", {"index": index}


def end(reason: str = "end_turn", **delta: Any) -> Event:
    usage = {"output_tokens": 15, "output_tokens_details": {"thinking_tokens": 5}, "input_tokens": None}
    return "message_delta", {"delta": {"stop_reason": reason, "stop_sequence": None} | delta, "usage": usage}


def hear(*events: Event) -> list[dict[str, Any]]:
    hearing = Hearing("anthropic", 7)
    return [chunk for name, data in (("message_start", START), *events) for chunk in hearing.hear(name, data)]


def choice(*events: Event) -> dict[str, Any]:
    fold = Fold()
    for chunk in hear(*events):
        fold.add(chunk)
    return fold.completion()["choices"][0]


def test_text_comes_as_deltas_with_the_head_of_the_message() -> None:
    chunks = hear(
        begin(0, {"type": "text", "text": ""}),
        ("ping", {"type": "ping"}),
        go_on(0, "text", text="Hel"),
        go_on(0, "text", text="lo"),
        stop(0),
        end(),
        ("message_stop", {}),
    )

    assert [chunk["choices"][0]["delta"] for chunk in chunks[:-1]] == [
        {"role": "assistant"},
        {"content": "Hel"},
        {"content": "lo"},
        {},
    ]
    assert chunks[3]["choices"][0]["finish_reason"] == "stop"
    head = {"object": "chat.completion.chunk", "created": 7, "id": "msg_1", "model": "claude"}
    assert all(head.items() <= chunk.items() for chunk in chunks)


def test_usage_is_told_at_the_end_in_classes_that_do_not_overlap() -> None:
    last = hear(end())[-1]

    assert last["choices"] == []
    assert last["usage"] == {
        "prompt_tokens": 175,
        "completion_tokens": 15,
        "total_tokens": 190,
        "prompt_tokens_details": {"cached_tokens": 100, "cache_write_tokens": 20, "cache_write_1h_tokens": 30},
        "completion_tokens_details": {"reasoning_tokens": 5},
    }


def test_the_prompt_is_counted_from_the_start_but_the_answer_only_when_it_is_known() -> None:
    first = hear()[0]

    assert first["usage"]["prompt_tokens"] == 175
    assert first["usage"]["completion_tokens"] == 0


def test_counts_are_totals_so_far_of_which_the_last_holds() -> None:
    chunks = hear(end(), ("message_delta", {"delta": {}, "usage": {"output_tokens": 40, "input_tokens": 30}}))
    usage = Usage.from_openai(chunks[-1]["usage"])

    assert usage is not None
    assert usage.output_tokens == 40
    assert usage.input_tokens == 180


def test_parallel_calls_come_with_their_arguments_in_pieces() -> None:
    said = choice(
        begin(0, {"type": "tool_use", "id": "t1", "name": "weather", "input": {}}),
        go_on(0, "input_json", partial_json=""),
        go_on(0, "input_json", partial_json='{"city":'),
        go_on(0, "input_json", partial_json='"Bern"}'),
        stop(0),
        begin(1, {"type": "tool_use", "id": "t2", "name": "now", "input": {}}),
        stop(1),
        end("tool_use"),
    )

    assert said["finish_reason"] == "tool_calls"
    assert said["message"]["tool_calls"] == [
        {"id": "t1", "type": "function", "function": {"name": "weather", "arguments": '{"city":"Bern"}'}},
        {"id": "t2", "type": "function", "function": {"name": "now", "arguments": "{}"}},
    ]


def test_blocks_that_come_by_turns_are_kept_apart() -> None:
    said = choice(
        begin(0, {"type": "tool_use", "id": "t1", "name": "a", "input": {}}),
        begin(1, {"type": "tool_use", "id": "t2", "name": "b", "input": {}}),
        go_on(1, "input_json", partial_json='{"y":2}'),
        go_on(0, "input_json", partial_json='{"x":1}'),
        stop(1),
        stop(0),
        end("tool_use"),
    )

    assert [call["function"]["arguments"] for call in said["message"]["tool_calls"]] == ['{"x":1}', '{"y":2}']


def test_thinking_is_told_as_text_and_as_a_block_with_its_signature() -> None:
    message = choice(
        begin(0, {"type": "thinking", "thinking": "", "signature": ""}),
        go_on(0, "thinking", thinking="One, "),
        go_on(0, "thinking", thinking="two."),
        go_on(0, "signature", signature="sig"),
        stop(0),
        begin(1, {"type": "redacted_thinking", "data": "xyz"}),
        stop(1),
        begin(2, {"type": "text", "text": ""}),
        go_on(2, "text", text="Two."),
        stop(2),
        end(),
    )["message"]

    assert message["reasoning_content"] == "One, two."
    assert message["thinking_blocks"] == [
        {"index": 0, "type": "thinking", "thinking": "One, two.", "signature": "sig"},
        {"index": 1, "type": "redacted_thinking", "data": "xyz"},
    ]
    assert message["content"] == "Two."
    assert "layout" not in message


def test_texts_with_citations_are_laid_out() -> None:
    cited = {"type": "char_location", "cited_text": "green"}
    message = choice(
        begin(0, {"type": "text", "text": ""}),
        go_on(0, "text", text="It is "),
        stop(0),
        begin(1, {"type": "text", "text": "", "citations": []}),
        go_on(1, "text", text="green"),
        go_on(1, "citations", citation=cited),
        stop(1),
        end(),
    )["message"]

    assert message["content"] == "It is green"
    assert message["layout"] == [
        {"index": 0, "type": "text", "chars": 6},
        {"index": 1, "type": "text", "chars": 5, "citations": [cited]},
    ]


@pytest.mark.parametrize(
    ("delta", "said"),
    [
        ({"stop_reason": "max_tokens"}, {"finish_reason": "length"}),
        ({"stop_reason": "tool_use"}, {"finish_reason": "tool_calls"}),
        (
            {"stop_reason": "stop_sequence", "stop_sequence": "END"},
            {"finish_reason": "stop", "native_finish_reason": "stop_sequence", "stop_reason": "END"},
        ),
        (
            {"stop_reason": "model_context_window_exceeded"},
            {"finish_reason": "length", "native_finish_reason": "model_context_window_exceeded"},
        ),
        ({"stop_reason": "a_new_one"}, {"finish_reason": "stop", "native_finish_reason": "a_new_one"}),
    ],
)
def test_every_reason_to_stop_has_its_word_in_chat(delta: dict[str, Any], said: dict[str, Any]) -> None:
    ended = choice(("message_delta", {"delta": delta, "usage": {"output_tokens": 1}}))

    assert {name: ended[name] for name in ended if name not in {"index", "message", "logprobs"}} == said


def test_a_refusal_tells_why() -> None:
    details = {"type": "refusal", "category": "bio", "explanation": "Not this."}
    ended = choice(end("refusal", stop_details=details))

    assert ended["finish_reason"] == "content_filter"
    assert ended["message"]["refusal"] == "Not this."
    assert ended["stop_details"] == details


def test_an_error_in_the_stream_is_an_error_of_chat() -> None:
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}

    assert hear(("error", error))[-1] == {
        "error": {"message": "Overloaded", "type": "server_error", "param": None, "code": "overloaded"}
    }


def test_events_that_are_not_known_yet_say_nothing() -> None:
    assert len(hear(("an_event_of_next_year", {}))) == 1


@pytest.mark.parametrize(
    ("event", "words"),
    [
        (begin(0, {"type": "server_tool_use"}), "'server_tool_use'"),
        (("content_block_delta", {"index": 3, "delta": {}}), "makes no sense"),
        (("content_block_start", {}), "makes no sense"),
        (("message_delta", {"delta": None}), "makes no sense"),
    ],
)
def test_what_nobody_asked_for_or_can_read_is_the_providers_fault(event: Event, words: str) -> None:
    with pytest.raises(UpstreamError, match=words):
        hear(event)


def test_a_delta_of_an_unknown_kind_is_the_providers_fault() -> None:
    with pytest.raises(UpstreamError, match="'compaction_delta'"):
        hear(begin(0, {"type": "text", "text": ""}), go_on(0, "compaction"))


def test_a_whole_message_is_a_completion() -> None:
    blocks = [{"type": "text", "text": "Hello"}, {"type": "tool_use", "id": "t1", "name": "f", "input": {"x": 1}}]
    message = START["message"] | {"content": blocks, "stop_reason": "tool_use"}
    completion = completed(message)

    assert completion["choices"][0]["message"] == {
        "role": "assistant",
        "content": "Hello",
        "tool_calls": [{"id": "t1", "type": "function", "function": {"name": "f", "arguments": '{"x":1}'}}],
    }
    assert completion["usage"]["total_tokens"] == 176


def test_the_first_count_of_output_stands_for_nothing() -> None:
    for usage in ({}, {"output_tokens": None}, None, 5):
        said = hear(begin(0, {"type": "text", "text": ""}), go_on(0, "text", text="Hello"), stop(0))
        last = Hearing("anthropic", 7)
        last.hear("message_start", START)
        told = [*said, *last.hear("message_delta", {"delta": {"stop_reason": "end_turn"}, "usage": usage})]

        assert {c["usage"]["completion_tokens"] for c in told if c.get("usage")} == {0}
