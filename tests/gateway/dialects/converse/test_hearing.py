"""What a provider's Converse stream says, as the chunks of a chat."""

from typing import Any

import pytest

from gateway.dialects.converse.hearing import Hearing
from gateway.errors import UpstreamError
from gateway.wire.fold import Fold

Event = tuple[str, dict[str, Any]]

START: Event = ("messageStart", {"role": "assistant", "p": "abcdefgh"})
END: Event = ("messageStop", {"stopReason": "end_turn"})
METADATA: Event = (
    "metadata",
    {
        "usage": {"inputTokens": 4, "outputTokens": 38, "totalTokens": 42},
        "metrics": {"latencyMs": 302},
        "serviceTier": {"type": "priority"},
    },
)
"""The counts are those of a published invocation log of Nova Lite."""


def delta(index: int, **said: Any) -> Event:
    return "contentBlockDelta", {"contentBlockIndex": index, "delta": said}


def begin(index: int, call: str, name: str) -> Event:
    return "contentBlockStart", {"contentBlockIndex": index, "start": {"toolUse": {"toolUseId": call, "name": name}}}


def stop(index: int) -> Event:
    return "contentBlockStop", {"contentBlockIndex": index}


def hear(*events: Event) -> list[dict[str, Any]]:
    hearing = Hearing("aws", "chatcmpl-1", "amazon.nova-lite-v1:0", 7)
    return [chunk for name, data in (START, *events) for chunk in hearing.hear(name, data)]


def choice(*events: Event) -> dict[str, Any]:
    fold = Fold()
    for chunk in hear(*events):
        fold.add(chunk)
    return fold.completion()["choices"][0]


def test_text_comes_as_deltas_under_the_name_that_the_answer_was_given() -> None:
    chunks = hear(delta(0, text=""), delta(0, text="Hel"), delta(0, text="lo"), stop(0), END, METADATA)

    assert [chunk["choices"][0]["delta"] for chunk in chunks[:-1]] == [
        {"role": "assistant"},
        {"content": "Hel"},
        {"content": "lo"},
        {},
    ]
    assert chunks[3]["choices"][0]["finish_reason"] == "stop"
    head = {"object": "chat.completion.chunk", "created": 7, "id": "chatcmpl-1", "model": "amazon.nova-lite-v1:0"}
    assert all(head.items() <= chunk.items() for chunk in chunks)


def test_usage_is_told_once_at_the_end_with_the_tier_that_it_was_served_at() -> None:
    *before, last = hear(delta(0, text="Hi"), stop(0), END, METADATA)

    assert not any("usage" in chunk for chunk in before)
    assert (last["choices"], last["service_tier"]) == ([], "priority")
    assert last["usage"] == {
        "prompt_tokens": 4,
        "completion_tokens": 38,
        "total_tokens": 42,
        "prompt_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0, "cache_write_1h_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 0},
    }


@pytest.mark.parametrize("data", [{}, {"usage": None}])
def test_usage_that_is_not_told_is_not_taken_for_none(data: dict[str, Any]) -> None:
    assert len(hear(("metadata", data))) == 1


def test_parallel_calls_come_with_their_arguments_in_pieces() -> None:
    said = choice(
        delta(0, text="Let me see."),
        stop(0),
        begin(1, "t1", "weather"),
        delta(1, toolUse={"input": '{"city":'}),
        delta(1, toolUse={"input": '"Bern"}'}),
        stop(1),
        begin(2, "t2", "now"),
        stop(2),
        ("messageStop", {"stopReason": "tool_use"}),
    )

    assert said["finish_reason"] == "tool_calls"
    assert said["message"] == {
        "role": "assistant",
        "content": "Let me see.",
        "tool_calls": [
            {"id": "t1", "type": "function", "function": {"name": "weather", "arguments": '{"city":"Bern"}'}},
            {"id": "t2", "type": "function", "function": {"name": "now", "arguments": "{}"}},
        ],
    }


def test_thinking_is_told_as_text_and_as_blocks_with_their_signatures() -> None:
    message = choice(
        delta(0, reasoningContent={"text": "One, "}),
        delta(0, reasoningContent={"text": "two."}),
        delta(0, reasoningContent={"signature": "sig"}),
        stop(0),
        delta(1, reasoningContent={"redactedContent": "eHl6"}),
        stop(1),
        delta(2, text="Two."),
        stop(2),
        END,
    )["message"]

    assert message["reasoning_content"] == "One, two."
    assert message["thinking_blocks"] == [
        {"index": 0, "type": "thinking", "thinking": "One, two.", "signature": "sig"},
        {"index": 1, "type": "redacted_thinking", "data": "eHl6"},
    ]
    assert message["content"] == "Two."


def test_thinking_that_is_not_shown_keeps_its_signature() -> None:
    message = choice(delta(0, reasoningContent={"signature": "sig"}), stop(0), delta(1, text="Two."), END)["message"]

    assert message["thinking_blocks"] == [{"index": 0, "type": "thinking", "thinking": "", "signature": "sig"}]


def test_an_index_that_holds_thinking_and_then_text_holds_two_blocks() -> None:
    message = choice(delta(0, reasoningContent={"text": "Hm."}), delta(0, text="Yes."), stop(0), END)["message"]

    assert (message["reasoning_content"], message["content"]) == ("Hm.", "Yes.")


@pytest.mark.parametrize(
    ("location", "place"),
    [
        (
            {"documentChar": {"documentIndex": 1, "start": 2, "end": 7}},
            {"type": "char_location", "document_index": 1, "start_char_index": 2, "end_char_index": 7,
             "document_title": "Grass"},
        ),
        (
            {"documentPage": {"documentIndex": 1, "start": 2, "end": 7}},
            {"type": "page_location", "document_index": 1, "start_page_number": 2, "end_page_number": 7,
             "document_title": "Grass"},
        ),
        (
            {"documentChunk": {"documentIndex": 1, "start": 2, "end": 7}},
            {"type": "content_block_location", "document_index": 1, "start_block_index": 2, "end_block_index": 7,
             "document_title": "Grass"},
        ),
        (
            {"searchResultLocation": {"searchResultIndex": 1, "start": 2, "end": 7}},
            {"type": "search_result_location", "search_result_index": 1, "start_block_index": 2,
             "end_block_index": 7, "title": "Grass"},
        ),
        (
            {"web": {"url": "https://a", "domain": "a"}},
            {"type": "web_search_result_location", "url": "https://a", "title": "Grass"},
        ),
    ],
)  # fmt: skip
def test_what_a_text_cites_is_laid_out_beside_it(location: dict[str, Any], place: dict[str, Any]) -> None:
    cited = {"title": "Grass", "sourceContent": [{"text": "gr"}, {"text": "een"}], "location": location}
    message = choice(delta(0, text="It is green"), delta(0, citation=cited), stop(0), END)["message"]

    assert message["content"] == "It is green"
    assert message["layout"][0]["citations"] == [{"cited_text": "green"} | place]


@pytest.mark.parametrize(
    ("end", "said"),
    [
        ({"stopReason": "max_tokens"}, {"finish_reason": "length"}),
        (
            {"stopReason": "stop_sequence", "additionalModelResponseFields": {"stop_sequence": "END"}},
            {"finish_reason": "stop", "native_finish_reason": "stop_sequence", "stop_reason": "END"},
        ),
        (
            {"stopReason": "model_context_window_exceeded"},
            {"finish_reason": "length", "native_finish_reason": "model_context_window_exceeded"},
        ),
        *(
            ({"stopReason": reason}, {"finish_reason": finish, "native_finish_reason": reason})
            for reason, finish in (
                ("guardrail_intervened", "content_filter"),
                ("content_filtered", "content_filter"),
                ("malformed_model_output", "error"),
                ("malformed_tool_use", "error"),
                ("a_new_one", "stop"),
            )
        ),
    ],
)
def test_every_reason_to_stop_has_its_word_in_chat(end: dict[str, Any], said: dict[str, Any]) -> None:
    ended = choice(delta(0, text="Hi"), stop(0), ("messageStop", end))

    assert {name: ended[name] for name in ended if name not in {"index", "message", "logprobs"}} == said


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("throttlingException", "rate_limit_exceeded"),
        ("serviceUnavailableException", "overloaded"),
        ("validationException", "invalid_request_error"),
        ("internalServerException", "upstream_error"),
        ("modelStreamErrorException", "upstream_error"),
        ("unmodeledException", "upstream_error"),
    ],
)
def test_an_exception_in_the_stream_is_an_error_of_chat(name: str, code: str) -> None:
    [chunk] = Hearing("aws", "a", "m", 0).hear(name, {"message": "No."})

    assert (chunk["error"]["message"], chunk["error"]["code"]) == ("No.", code)


@pytest.mark.parametrize(
    "message",
    [
        "Input is too long for requested model.",
        "The model returned the following errors: prompt is too long: 201000 tokens > 200000 maximum",
        "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000",
    ],
)
def test_what_does_not_fit_the_model_is_told_as_that(message: str) -> None:
    [chunk] = Hearing("aws", "a", "m", 0).hear("validationException", {"message": message})

    assert chunk["error"]["code"] == "context_length_exceeded"


def test_events_that_are_not_known_yet_say_nothing() -> None:
    assert len(hear(("an_event_of_next_year", {}))) == 1


@pytest.mark.parametrize(
    ("event", "words"),
    [
        (("contentBlockStart", {"contentBlockIndex": 0, "start": {"image": {"format": "png"}}}), "'image'"),
        (
            (
                "contentBlockStart",
                {
                    "contentBlockIndex": 0,
                    "start": {"toolUse": {"toolUseId": "t", "name": "nova_grounding", "type": "server_tool_use"}},
                },
            ),
            "'server_tool_use'",
        ),
        (delta(0, image={}), "'image'"),
        (delta(0, toolUse={"input": "{}"}), "makes no sense"),
        (("contentBlockDelta", {"contentBlockIndex": 0}), "makes no sense"),
        (("messageStop", {}), "makes no sense"),
        (("metadata", {"usage": {}, "serviceTier": "x"}), "makes no sense"),
        (delta(0, citation={"location": [1]}), "makes no sense"),
    ],
)
def test_what_nobody_asked_for_or_can_read_is_the_providers_fault(event: Event, words: str) -> None:
    with pytest.raises(UpstreamError, match=words):
        hear(event)
