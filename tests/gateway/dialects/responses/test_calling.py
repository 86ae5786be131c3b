"""A chat request reaches a provider of the Responses API with all it says, or is refused by name."""

from typing import Any

import pytest
from openai.types.responses.response_create_params import ResponseCreateParamsNonStreaming
from pydantic import TypeAdapter

from gateway.dialects.responses.calling import to_responses
from gateway.errors import BadRequest

USER = {"role": "user", "content": "?"}
CALL = {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": "{}"}}


def request(**fields: Any) -> dict[str, Any]:
    return to_responses({"model": "m", "messages": [USER]} | fields)


def items(*messages: dict[str, Any]) -> list[dict[str, Any]]:
    return to_responses({"model": "m", "messages": list(messages)})["input"]


def test_nothing_is_kept_at_the_provider_unless_the_request_says_so() -> None:
    assert request()["store"] is False
    assert request(store=True)["store"] is True


def test_a_function_that_says_nothing_of_strict_is_not_strict_as_in_chat() -> None:
    tool = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}

    assert request(tools=[tool])["tools"] == [
        {"type": "function", "name": "f", "parameters": {"type": "object"}, "strict": False}
    ]


def test_either_name_of_the_limit_is_understood() -> None:
    assert request(max_tokens=5)["max_output_tokens"] == 5
    assert request(max_completion_tokens=6)["max_output_tokens"] == 6


def test_a_message_with_calls_and_their_results_is_items_in_order() -> None:
    custom = {"id": "call_2", "type": "custom", "custom": {"name": "g", "input": "x"}}

    assert items(
        USER,
        {"role": "assistant", "content": "Wait.", "tool_calls": [CALL, custom]},
        {"role": "tool", "tool_call_id": "call_1", "content": "1"},
        {"role": "tool", "tool_call_id": "call_2", "content": [{"type": "text", "text": "2"}]},
    ) == [
        {"type": "message", "role": "user", "content": "?"},
        {"type": "message", "role": "assistant", "content": "Wait."},
        {"type": "function_call", "call_id": "call_1", "name": "f", "arguments": "{}"},
        {"type": "custom_tool_call", "call_id": "call_2", "name": "g", "input": "x"},
        {"type": "function_call_output", "call_id": "call_1", "output": "1"},
        {"type": "custom_tool_call_output", "call_id": "call_2", "output": [{"type": "input_text", "text": "2"}]},
    ]


def test_what_an_sdk_adds_to_a_message_without_meaning_is_no_obstacle() -> None:
    dumped = {
        "role": "assistant",
        "content": "Hi",
        "refusal": None,
        "annotations": [],
        "audio": None,
        "tool_calls": None,
    }

    assert items(USER, dumped)[1] == {"type": "message", "role": "assistant", "content": "Hi"}


def test_a_refusal_is_a_part_of_what_was_said() -> None:
    said = items(USER, {"role": "assistant", "content": None, "refusal": "No."})

    assert said[1]["content"] == [{"type": "refusal", "refusal": "No."}]


def test_the_thoughts_of_another_maker_stay_behind() -> None:
    foreign = {
        "reasoning_content": "Hm.",
        "thinking_blocks": [{"type": "thinking", "thinking": "Hm.", "signature": "s"}],
    }

    assert items(USER, {"role": "assistant", "content": "Hi"} | foreign) == [
        {"type": "message", "role": "user", "content": "?"},
        {"type": "message", "role": "assistant", "content": "Hi"},
    ]


def test_a_request_is_what_the_official_types_say() -> None:
    chat = {
        "model": "m",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {
                "role": "user",
                "content": [{"type": "image_url", "image_url": {"url": "https://e.org", "detail": "low"}}],
            },
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [CALL],
                "reasoning_items": [{"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "x"}],
            },
            {"role": "tool", "tool_call_id": "call_1", "content": "1"},
        ],
        "tools": [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}],
        "tool_choice": {
            "type": "allowed_tools",
            "allowed_tools": {"mode": "auto", "tools": [{"type": "function", "function": {"name": "f"}}]},
        },
        "response_format": {"type": "json_schema", "json_schema": {"name": "n", "schema": {}}},
        "reasoning_effort": "low",
        "verbosity": "low",
        "max_completion_tokens": 100,
        "logprobs": True,
        "top_logprobs": 2,
    }

    TypeAdapter(ResponseCreateParamsNonStreaming).validate_python(to_responses(chat))


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"n": 2}, "n"),
        ({"stop": ["."]}, "stop"),
        ({"seed": 1}, "seed"),
        ({"logit_bias": {"50256": -100}}, "logit_bias"),
        ({"frequency_penalty": 0.5}, "frequency_penalty"),
        ({"prediction": {"type": "content", "content": "x"}}, "prediction"),
        ({"modalities": ["text", "audio"]}, "modalities"),
        ({"functions": [{"name": "f"}]}, "functions"),
        ({"reasoning": {"mode": "pro"}}, "reasoning.mode"),
        ({"messages": [USER | {"name": "ann"}]}, "messages[0].name"),
        ({"messages": [USER, {"role": "function", "name": "f", "content": "1"}]}, "messages[1].role"),
        ({"messages": [{"role": "assistant", "content": "x", "audio": {"id": "a"}}]}, "messages[0].audio"),
        ({"messages": [{"role": "user", "content": [{"type": "video_url"}]}]}, "messages[0].content[0].type"),
        (
            {"messages": [{"role": "user", "content": [{"type": "text", "text": "x", "novel": 1}]}]},
            "messages[0].content[0].novel",
        ),
        (
            {"messages": [USER, {"role": "assistant", "tool_calls": [CALL | {"type": "mcp"}]}]},
            "messages[1].tool_calls[0].type",
        ),
    ],
)
def test_what_this_api_has_no_word_for_is_refused_by_name(fields: dict[str, Any], param: str) -> None:
    with pytest.raises(BadRequest) as refused:
        request(**fields)

    assert refused.value.param == param


@pytest.mark.parametrize(
    "fields", [{"n": 1}, {"stop": None}, {"frequency_penalty": 0}, {"modalities": ["text"]}, {"functions": []}]
)
def test_a_field_that_asks_for_nothing_is_left_out(fields: dict[str, Any]) -> None:
    assert request(**fields) == request()


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("previous_response_id", "resp_of_another_tenant"),
        ("conversation", "conv_1"),
        ("prompt", {"id": "pmpt_1"}),
        ("background", True),
        ("context_management", [{"type": "compaction"}]),
        ("max_tool_calls", 3),
    ],
)
def test_nothing_that_the_provider_has_stored_can_be_read_from_another_dialect(field: str, value: Any) -> None:
    with pytest.raises(BadRequest) as refused:
        request(**{field: value})
    assert refused.value.param == field


def test_hints_of_messages_are_left_out() -> None:
    hints = {"anthropic_beta": "a", "thinking": {"type": "adaptive"}, "context_management": {"edits": []}}
    tool = {"type": "function", "function": {"name": "f"}, "cache_control": {"type": "ephemeral"}}
    said = request(**hints, cache_control={"type": "ephemeral"}, tools=[tool])

    assert said == request(tools=[{"type": "function", "function": {"name": "f"}}])


@pytest.mark.parametrize("kind", ["function", "custom"])
def test_a_tool_is_of_the_type_that_was_looked_at_whatever_stands_within_it(kind: str) -> None:
    hosted = {"name": "web_search", "type": "web_search", "vector_store_ids": ["vs_of_another_tenant"]}

    assert request(tools=[{"type": kind, kind: hosted}])["tools"][0]["type"] == kind


@pytest.mark.parametrize("kind", ["item_reference", "mcp_call", "message", None])
def test_only_thoughts_can_stand_among_thoughts(kind: str | None) -> None:
    smuggled = [{"type": kind, "id": "msg_of_another_tenant"}]
    for said in ({"content": "x"}, {"content": None, "tool_calls": [CALL | {"reasoning_items": smuggled}]}):
        with pytest.raises(BadRequest, match="thought"):
            items(USER, {"role": "assistant", "reasoning_items": smuggled} | said)


def test_a_picture_cannot_be_a_document() -> None:
    image = {"url": "https://x/y.png", "type": "input_file", "file_url": "https://x/long.pdf"}
    with pytest.raises(BadRequest):
        items({"role": "user", "content": [{"type": "image_url", "image_url": image}]})
    file = {"file_data": "data:,", "type": "input_audio"}
    assert items({"role": "user", "content": [{"type": "file", "file": file}]})[0]["content"][0]["type"] == "input_file"
