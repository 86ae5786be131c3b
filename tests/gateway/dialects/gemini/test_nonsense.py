"""Whatever is said, it is translated or refused by name; nothing breaks."""

from contextlib import suppress
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from gateway.dialects.gemini.calling import to_gemini
from gateway.dialects.gemini.hearing import Hearing
from gateway.errors import BadRequest, UpstreamError
from gateway.wire.fold import Fold
from tests.support.messages_dialect import JSON

REQUEST: dict[str, Any] = {
    "model": "gemini-3.8-flash",
    "messages": [
        {"role": "system", "content": [{"type": "text", "text": "Be brief."}]},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "Look."},
                {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}},
                {"type": "file", "file": {"file_data": "data:application/pdf;base64,aGVsbG8="}},
            ],
        },
        {
            "role": "assistant",
            "content": "Well.",
            "tool_calls": [
                {
                    "id": "c1",
                    "type": "function",
                    "function": {"name": "f", "arguments": '{"x":1}'},
                    "extra_content": {"google": {"thought_signature": "s"}},
                }
            ],
        },
        {"role": "tool", "tool_call_id": "c1", "content": '{"y":2}'},
    ],
    "tools": [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}, "strict": True}}],
    "tool_choice": {"type": "function", "function": {"name": "f"}},
    "response_format": {"type": "json_schema", "json_schema": {"name": "a", "schema": {"type": "object"}}},
    "thinking": {"type": "enabled", "budget_tokens": 5},
    "stop": ["END"],
    "safety_settings": [{"category": "x"}],
}
EVENT: dict[str, Any] = {
    "candidates": [
        {
            "content": {
                "parts": [
                    {"text": "a", "thought": True},
                    {"text": "b", "thoughtSignature": "s"},
                    {"functionCall": {"id": "f1", "name": "f", "args": {"x": 1}}},
                ]
            },
            "index": 0,
            "finishReason": "SAFETY",
            "finishMessage": "no",
            "logprobsResult": {
                "chosenCandidates": [{"token": "a", "logProbability": -1}],
                "topCandidates": [{"candidates": [{"token": "a", "logProbability": -1}]}],
            },
        }
    ],
    "promptFeedback": {"blockReason": None},
    "usageMetadata": {
        "promptTokenCount": 5,
        "promptTokensDetails": [{"modality": "AUDIO", "tokenCount": 5}],
        "serviceTier": "flex",
    },
    "modelVersion": "gemini",
    "responseId": "r1",
}


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


@given(st.sampled_from(places(REQUEST)), JSON)
def test_a_chat_with_a_wrong_value_is_translated_or_refused(path: tuple[Any, ...], wrong: object) -> None:
    with suppress(BadRequest):
        to_gemini(put(REQUEST, path, wrong))


@given(st.lists(st.tuples(st.sampled_from(places(EVENT)), JSON), min_size=1, max_size=3))
def test_a_stream_with_wrong_values_is_heard_or_is_the_providers_fault(
    wrongs: list[tuple[tuple[Any, ...], object]],
) -> None:
    hearing, fold = Hearing("google", 7), Fold()
    with suppress(UpstreamError):
        for path, wrong in wrongs:
            for chunk in hearing.hear(put(EVENT, path, wrong)):
                fold.add(chunk)
    fold.completion()
