"""What a client of the Responses API sends is read as a chat request, or refused by name."""

from typing import Any

import pytest

from gateway.dialects.responses.asking import to_chat
from gateway.errors import BadRequest

USER = {"role": "user", "content": "What is the weather in Paris?"}
CALL = {"type": "function_call", "call_id": "call_1", "name": "weather", "arguments": '{"city":"Paris"}'}
RESULT = {"type": "function_call_output", "call_id": "call_1", "output": "18 degrees"}
THOUGHT = {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "Look it up."}]}


def messages(*items: dict[str, Any]) -> list[dict[str, Any]]:
    return to_chat({"model": "m", "input": list(items)})["messages"]


def chat_call(call_id: str, name: str, arguments: str) -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def test_plain_text_is_one_message_of_the_user_after_the_instructions() -> None:
    chat = to_chat({"model": "m", "instructions": "Be brief.", "input": "Hello"})

    assert chat == {
        "model": "m",
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hello"}],
    }


def test_the_output_of_one_response_is_one_message_when_it_is_sent_again() -> None:
    preamble = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "status": "completed",
        "content": [{"type": "output_text", "text": "One moment.", "annotations": [], "logprobs": []}],
    }
    second = CALL | {"call_id": "call_2", "arguments": '{"city":"Rome"}', "id": "fc_2", "status": "completed"}

    assert messages(USER, THOUGHT, preamble, CALL, second, RESULT, RESULT | {"call_id": "call_2"}) == [
        USER,
        {
            "role": "assistant",
            "content": [{"type": "text", "text": "One moment."}],
            "reasoning_items": [THOUGHT],
            "reasoning_content": "Look it up.",
            "tool_calls": [
                chat_call("call_1", "weather", '{"city":"Paris"}'),
                chat_call("call_2", "weather", '{"city":"Rome"}'),
            ],
        },
        {"role": "tool", "tool_call_id": "call_1", "content": "18 degrees"},
        {"role": "tool", "tool_call_id": "call_2", "content": "18 degrees"},
    ]


def test_calls_that_await_their_results_are_not_parted_by_what_was_thought_between_them() -> None:
    later = THOUGHT | {"id": "rs_2", "summary": [], "encrypted_content": "sealed"}

    said = messages(USER, THOUGHT, CALL, later, CALL | {"call_id": "call_2"}, RESULT)

    assert [message["role"] for message in said] == ["user", "assistant", "tool"]
    assert said[1]["reasoning_items"] == [THOUGHT]
    assert said[1]["tool_calls"][1]["reasoning_items"] == [later]


def test_a_call_after_its_predecessor_was_answered_begins_a_message() -> None:
    said = messages(USER, CALL, RESULT, CALL | {"call_id": "call_2"}, RESULT | {"call_id": "call_2"})

    assert [message["role"] for message in said] == ["user", "assistant", "tool", "assistant", "tool"]


def test_the_seal_of_a_thought_travels_and_its_text_stands_beside_it() -> None:
    sealed = THOUGHT | {"encrypted_content": "gAAAA", "content": [{"type": "reasoning_text", "text": "Paris, so…"}]}

    (message,) = messages(sealed)

    assert message["reasoning_items"] == [sealed]
    assert message["reasoning_content"] == "Paris, so…"


def test_images_and_files_are_parts() -> None:
    content = [
        {"type": "input_text", "text": "Compare"},
        {"type": "input_image", "image_url": "https://e.org/a.png", "detail": "high"},
        {"type": "input_file", "filename": "a.pdf", "file_data": "data:application/pdf;base64,AA=="},
    ]

    assert messages({"role": "user", "content": content})[0]["content"] == [
        {"type": "text", "text": "Compare"},
        {"type": "image_url", "image_url": {"url": "https://e.org/a.png", "detail": "high"}},
        {"type": "file", "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,AA=="}},
    ]


def test_settings_have_their_names_in_chat() -> None:
    schema = {"type": "json_schema", "name": "city", "schema": {"type": "object"}, "strict": True}
    tool = {"type": "function", "name": "weather", "parameters": {"type": "object"}, "strict": True}

    chat = to_chat(
        {
            "model": "m",
            "input": "?",
            "max_output_tokens": 500,
            "text": {"format": schema, "verbosity": "low"},
            "reasoning": {"effort": "low", "summary": "auto"},
            "include": ["reasoning.encrypted_content", "message.output_text.logprobs"],
            "top_logprobs": 3,
            "tools": [tool],
            "tool_choice": {"type": "function", "name": "weather"},
            "parallel_tool_calls": False,
            "stream": True,
            "store": False,
            "metadata": {"team": "blue"},
            "truncation": "auto",
        }
    )

    assert chat == {
        "model": "m",
        "messages": [{"role": "user", "content": "?"}],
        "max_completion_tokens": 500,
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "city", "schema": {"type": "object"}, "strict": True},
        },
        "verbosity": "low",
        "reasoning_effort": "low",
        "reasoning": {"summary": "auto"},
        "include": ["reasoning.encrypted_content"],
        "logprobs": True,
        "top_logprobs": 3,
        "tools": [
            {"type": "function", "function": {"name": "weather", "parameters": {"type": "object"}, "strict": True}}
        ],
        "tool_choice": {"type": "function", "function": {"name": "weather"}},
        "parallel_tool_calls": False,
        "stream": True,
        "stream_options": {"include_usage": True},
        "metadata": {"team": "blue"},
        "truncation": "auto",
    }


def test_a_field_that_is_null_says_nothing() -> None:
    nulls = dict.fromkeys(["previous_response_id", "conversation", "prompt", "store", "background", "temperature"])

    assert to_chat({"model": "m", "input": "?"} | nulls) == {
        "model": "m",
        "messages": [{"role": "user", "content": "?"}],
    }


@pytest.mark.parametrize(
    ("fields", "param", "advice"),
    [
        ({"previous_response_id": "resp_1"}, "previous_response_id", "send the earlier items again in 'input'"),
        ({"conversation": "conv_1"}, "conversation", "send the earlier items again in 'input'"),
        ({"store": True}, "store", "leave it out or say false"),
        ({"background": True}, "background", "set 'stream'"),
        ({"prompt": {"id": "pmpt_1"}}, "prompt", "as 'instructions'"),
        ({"max_tool_calls": 3}, "max_tool_calls", "leave it out"),
        ({"tools": [{"type": "web_search"}]}, "tools[0].type", "Offer a function of your own"),
        ({"tools": [{"type": "mcp", "server_label": "s"}]}, "tools[0].type", "Offer a function of your own"),
        ({"tool_choice": {"type": "file_search"}}, "tool_choice.type", "Offer a function of your own"),
        ({"max_tokens": 9}, "max_tokens", "'max_output_tokens'"),
        ({"messages": []}, "messages", "'input'"),
        ({"n": 2}, "n", "ask again"),
        ({"include": ["web_search_call.results"]}, "include[0]", "leave it out"),
        ({"reasoning": {"mode": "pro"}}, "reasoning.mode", "leave it out"),
        ({"text": {"novel": 1}}, "text.novel", "leave it out"),
        ({"truncation": "middle"}, "truncation", "middle"),
        ({"input": [{"type": "item_reference", "id": "msg_1"}]}, "input[0].type", "send the earlier items again"),
        ({"input": [USER, {"type": "web_search_call", "id": "ws_1"}]}, "input[1].type", "only messages"),
        ({"input": [{"role": "user", "content": [{"type": "input_video"}]}]}, "input[0].content[0].type", "video"),
        ({"input": [USER | {"novel": 1}]}, "input[0]", "novel"),
        ({"input": [RESULT | {"call_id": None}]}, "input[0].call_id", "missing"),
        ({"input": []}, "input", "length"),
        ({"input": [CALL | {"namespace": "crm"}]}, "input[0]", "namespace"),
        (
            {"input": [{"role": "user", "content": [{"type": "input_image", "file_id": "file_1"}]}]},
            "input[0].content[0].file_id",
            "'image_url'",
        ),
    ],
)
def test_what_cannot_be_carried_is_refused_by_name_with_what_to_do(
    fields: dict[str, Any], param: str, advice: str
) -> None:
    with pytest.raises(BadRequest) as refused:
        to_chat({"model": "m", "input": "?"} | fields)

    assert refused.value.param == param
    assert advice in refused.value.message


def test_thoughts_in_a_row_are_one_thought() -> None:
    item = {"type": "reasoning", "summary": [{"type": "summary_text", "text": "x"}]}
    (message,) = messages(*[item] * 3)

    assert message["reasoning_content"] == "x\n\nx\n\nx"
    assert message["reasoning_items"] == [item] * 3
