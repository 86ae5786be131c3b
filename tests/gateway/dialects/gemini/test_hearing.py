"""What a provider's Gemini stream says, as the chunks of a chat."""

from typing import Any

import pytest

from gateway.dialects.gemini.calling import to_gemini
from gateway.dialects.gemini.hearing import Hearing
from gateway.errors import UpstreamError
from gateway.wire.fold import Fold

# Issue 97 of the repository simonw/llm-gemini: what `gemini-2.5-flash:streamGenerateContent?alt=sse` sent to curl.
FIRST = (
    "Here you go!\n\n1.  **English:** Hi\n2.  **Spanish:** Hola\n3.  **French:** Bonjour\n4.  **German:** Hallo\n5.  "
)
GREETINGS: list[dict[str, Any]] = [
    {
        "candidates": [
            {
                "content": {
                    "parts": [{"text": FIRST}],
                    "role": "model",
                },
                "index": 0,
            }
        ],
        "usageMetadata": {
            "promptTokenCount": 5,
            "candidatesTokenCount": 39,
            "totalTokenCount": 230,
            "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 5}],
            "thoughtsTokenCount": 186,
        },
        "modelVersion": "models/gemini-2.5-flash-preview-05-20",
        "responseId": "AdVRaMmDCYekqtsPrb_-iAw",
    },
    {
        "candidates": [
            {
                "content": {"parts": [{"text": "**Italian:** Ciao"}], "role": "model"},
                "finishReason": "STOP",
                "index": 0,
            }
        ],
        "usageMetadata": {
            "promptTokenCount": 5,
            "candidatesTokenCount": 44,
            "totalTokenCount": 235,
            "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 5}],
            "thoughtsTokenCount": 186,
        },
        "modelVersion": "models/gemini-2.5-flash-preview-05-20",
        "responseId": "AdVRaMmDCYekqtsPrb_-iAw",
    },
]


def event(*parts: dict[str, Any], **candidate: Any) -> dict[str, Any]:
    said = {"content": {"role": "model", "parts": list(parts)}, "index": 0}
    return {"candidates": [said | candidate], "modelVersion": "gemini-3-pro-preview", "responseId": "r1"}


def hear(*events: dict[str, Any]) -> list[dict[str, Any]]:
    hearing = Hearing("google", 7)
    return [chunk for data in events for chunk in hearing.hear(data)]


def fold(*events: dict[str, Any]) -> dict[str, Any]:
    folded = Fold()
    for chunk in hear(*events):
        folded.add(chunk)
    return folded.completion()


def choice(*events: dict[str, Any]) -> dict[str, Any]:
    return fold(*events)["choices"][0]


def test_a_published_stream_is_heard_event_by_event() -> None:
    chunks = hear(*GREETINGS)

    assert [chunk["choices"][0]["delta"] for chunk in chunks] == [
        {"role": "assistant", "content": FIRST},
        {"content": "**Italian:** Ciao"},
    ]
    assert [chunk["choices"][0]["finish_reason"] for chunk in chunks] == [None, "stop"]
    head = {
        "object": "chat.completion.chunk",
        "created": 7,
        "id": "AdVRaMmDCYekqtsPrb_-iAw",
        "model": "gemini-2.5-flash-preview-05-20",
    }
    assert all(head.items() <= chunk.items() for chunk in chunks)


def test_usage_so_far_is_told_with_every_event_so_that_a_cut_stream_is_counted() -> None:
    told = [chunk["usage"] for chunk in hear(*GREETINGS)]

    assert [usage["completion_tokens"] for usage in told] == [39 + 186, 44 + 186]
    assert [usage["total_tokens"] for usage in told] == [230, 235]


def test_counts_that_an_event_leaves_out_are_as_before() -> None:
    last = hear(GREETINGS[0], {"usageMetadata": {"candidatesTokenCount": 50}})[-1]

    assert last["choices"] == []
    assert last["usage"]["completion_tokens_details"]["reasoning_tokens"] == 186
    assert last["usage"]["prompt_tokens"] == 5


def test_the_tier_of_an_answer_is_told() -> None:
    assert hear({"usageMetadata": {"promptTokenCount": 1, "serviceTier": "flex"}})[0]["service_tier"] == "flex"


def test_thoughts_are_told_apart_from_the_answer() -> None:
    message = choice(
        event({"text": "**Hm.** ", "thought": True}),
        event({"text": "Two.", "thought": True}, {"text": "It is "}),
        event({"text": "two."}, finishReason="STOP"),
    )["message"]

    assert message["reasoning_content"] == "**Hm.** Two."
    assert message["content"] == "It is two."


def test_parallel_calls_come_whole_and_only_the_first_is_signed() -> None:
    # The Gemini API's guide "Thought signatures", "Parallel function calling example".
    said = choice(
        event(
            {
                "functionCall": {"name": "get_current_temperature", "args": {"location": "Paris"}},
                "thoughtSignature": "<Signature_A>",
            },
            {"functionCall": {"name": "get_current_temperature", "args": {"location": "London"}, "id": "f2"}},
        ),
        event({"functionCall": {"name": "now"}}, finishReason="STOP"),
    )

    assert said["finish_reason"] == "tool_calls"
    assert said["message"]["tool_calls"] == [
        {
            "id": "r1_0_0",
            "type": "function",
            "function": {"name": "get_current_temperature", "arguments": '{"location":"Paris"}'},
            "extra_content": {"google": {"thought_signature": "<Signature_A>"}},
        },
        {
            "id": "f2",
            "type": "function",
            "function": {"name": "get_current_temperature", "arguments": '{"location":"London"}'},
        },
        {"id": "r1_0_2", "type": "function", "function": {"name": "now", "arguments": "{}"}},
    ]


def test_a_signature_comes_late_with_an_empty_text_and_the_last_one_holds() -> None:
    message = choice(
        event({"text": "It is ", "thoughtSignature": "first"}),
        event({"text": "two."}),
        event({"text": "", "thoughtSignature": "last"}, finishReason="STOP"),
    )["message"]

    assert message["content"] == "It is two."
    assert message["extra_content"] == {"google": {"thought_signature": "last"}}


def test_an_answer_sent_back_is_what_the_model_said_with_its_signatures_in_their_places() -> None:
    spoken = [
        {"text": "Let me look.", "thoughtSignature": "<T>"},
        {"functionCall": {"id": "f1", "name": "look", "args": {"at": ["a", 1]}}, "thoughtSignature": "<A>"},
        {"functionCall": {"id": "f2", "name": "look", "args": {}}},
    ]
    message = choice(event(*spoken, finishReason="STOP"))["message"]
    again = to_gemini({"model": "gemini-3-pro-preview", "messages": [{"role": "user", "content": "Go."}, message]})

    assert again["contents"][1] == {"role": "model", "parts": spoken}


def test_candidates_are_choices_of_their_own() -> None:
    two = {
        "candidates": [
            {"content": {"parts": [{"text": "a"}]}, "index": 0},
            {"content": {"parts": [{"functionCall": {"name": "f"}}]}, "index": 1, "finishReason": "STOP"},
        ]
    }
    first, second = fold(two, event({"text": "b"}, finishReason="MAX_TOKENS"))["choices"]

    assert (first["message"]["content"], first["finish_reason"]) == ("ab", "length")
    assert (second["message"]["content"], second["finish_reason"]) == (None, "tool_calls")


@pytest.mark.parametrize(
    ("reason", "said"),
    [
        ("STOP", {"finish_reason": "stop"}),
        ("MAX_TOKENS", {"finish_reason": "length"}),
        ("CONTINUATION", {"finish_reason": "length", "native_finish_reason": "CONTINUATION"}),
        ("SAFETY", {"finish_reason": "content_filter", "native_finish_reason": "SAFETY"}),
        ("RECITATION", {"finish_reason": "content_filter", "native_finish_reason": "RECITATION"}),
        ("MALFORMED_FUNCTION_CALL", {"finish_reason": "stop", "native_finish_reason": "MALFORMED_FUNCTION_CALL"}),
        ("A_NEW_ONE", {"finish_reason": "stop", "native_finish_reason": "A_NEW_ONE"}),
    ],
)
def test_every_reason_to_end_has_its_word_in_chat(reason: str, said: dict[str, str]) -> None:
    ended = choice({"candidates": [{"finishReason": reason}]})

    assert {name: ended[name] for name in ended if name not in {"index", "message", "logprobs"}} == said


def test_an_answer_that_is_withheld_tells_why_and_keeps_its_ratings() -> None:
    ratings = [{"category": "HARM_CATEGORY_HARASSMENT", "probability": "HIGH", "blocked": True}]
    ended = choice(
        event({"text": "You"}),
        event(finishReason="SAFETY", finishMessage="Not this.", safetyRatings=ratings, tokenCount=3),
    )

    assert ended["finish_reason"] == "content_filter"
    assert ended["message"]["refusal"] == "Not this."
    assert ended["safetyRatings"] == ratings
    assert "tokenCount" not in ended


def test_a_prompt_that_is_blocked_gets_a_refusal_and_its_tokens_are_told() -> None:
    # The Gemini API's guide "Safety settings": a blocked prompt has feedback and no candidates.
    blocked = {
        "promptFeedback": {"blockReason": "PROHIBITED_CONTENT"},
        "usageMetadata": {"promptTokenCount": 22, "totalTokenCount": 22},
        "modelVersion": "gemini-2.5-pro",
    }
    completion = fold(blocked)
    ended = completion["choices"][0]

    assert ended["finish_reason"] == "content_filter"
    assert ended["native_finish_reason"] == "PROHIBITED_CONTENT"
    assert ended["message"]["refusal"] == "The prompt was blocked: PROHIBITED_CONTENT."
    assert completion["usage"]["prompt_tokens"] == 22


def test_a_block_that_says_why_is_quoted() -> None:
    told = hear({"promptFeedback": {"blockReason": "SAFETY", "blockReasonMessage": "Too hot."}})[0]

    assert told["choices"][0]["delta"]["refusal"] == "Too hot."


def test_log_probabilities_are_told_with_the_rivals_of_each_token() -> None:
    # The Gemini API reference, `LogprobsResult`.
    result = {
        "chosenCandidates": [{"token": "é", "tokenId": 1, "logProbability": -0.5}, {"token": "!", "logProbability": 0}],
        "topCandidates": [
            {"candidates": [{"token": "é", "logProbability": -0.5}, {"token": "e", "logProbability": -2.0}]}
        ],
    }
    told = choice(event({"text": "é!"}, logprobsResult=result), event(finishReason="STOP"))["logprobs"]

    assert told["content"] == [
        {
            "token": "é",
            "logprob": -0.5,
            "bytes": [195, 169],
            "top_logprobs": [
                {"token": "é", "logprob": -0.5, "bytes": [195, 169]},
                {"token": "e", "logprob": -2.0, "bytes": [101]},
            ],
        },
        {"token": "!", "logprob": 0, "bytes": [33], "top_logprobs": []},
    ]


def test_an_error_in_the_stream_is_an_error_of_chat() -> None:
    error = {"error": {"code": 503, "message": "The model is overloaded.", "status": "UNAVAILABLE"}}

    assert hear(GREETINGS[0], error)[-1] == {
        "error": {"message": "The model is overloaded.", "type": "server_error", "param": None, "code": "overloaded"}
    }


def test_an_event_that_says_nothing_is_no_chunk() -> None:
    assert hear({"responseId": "r1"}, {"candidates": []}, {}) == []


@pytest.mark.parametrize(
    ("part", "words"),
    [
        ({"inlineData": {"mimeType": "image/png", "data": "aGVsbG8="}}, "'inlineData'"),
        ({"executableCode": {"language": "PYTHON", "code": "1"}}, "'executableCode'"),
        ({"functionCall": {"args": {}}}, "makes no sense"),
        ({"functionCall": {"name": "f", "args": "x"}}, "makes no sense"),
        ({"text": 5}, "makes no sense"),
        ("text", "makes no sense"),
    ],
)
def test_a_part_that_nobody_asked_for_or_can_read_is_the_providers_fault(part: Any, words: str) -> None:
    with pytest.raises(UpstreamError, match=words):
        hear(event(part))
