"""What a client asks in Messages, as a chat."""

from typing import Any

import pytest

from gateway.dialects.messages.asking import to_chat
from gateway.errors import BadRequest


def ask(*messages: dict[str, Any], **fields: Any) -> dict[str, Any]:
    said = list(messages) or [{"role": "user", "content": "Hi"}]
    return to_chat({"model": "claude", "max_tokens": 64, "messages": said} | fields)


def user(*blocks: dict[str, Any]) -> dict[str, Any]:
    return {"role": "user", "content": list(blocks)}


def assistant(*blocks: dict[str, Any]) -> dict[str, Any]:
    return {"role": "assistant", "content": list(blocks)}


def test_the_system_prompt_is_the_first_message() -> None:
    chat = ask(system="Be brief.")

    assert chat["messages"] == [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}]


def test_a_mark_to_cache_for_an_hour_stays_on_its_part() -> None:
    marked = {"type": "text", "text": "A long book.", "cache_control": {"type": "ephemeral", "ttl": "1h"}}

    assert ask(system=[marked])["messages"][0] == {"role": "system", "content": [marked]}


def test_results_of_tools_are_messages_before_what_the_user_says_to_them() -> None:
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "15 degrees", "is_error": True}
    chat = ask(user(result, {"type": "text", "text": "Is that warm?"}))

    assert chat["messages"] == [
        {"role": "tool", "tool_call_id": "t1", "content": "15 degrees", "is_error": True},
        {"role": "user", "content": [{"type": "text", "text": "Is that warm?"}]},
    ]


def test_a_result_that_says_nothing_is_an_empty_one() -> None:
    chat = ask(user({"type": "tool_result", "tool_use_id": "t1"}))

    assert chat["messages"] == [{"role": "tool", "tool_call_id": "t1", "content": ""}]


def test_an_assistants_turn_keeps_thinking_text_and_calls_apart() -> None:
    thinking = {"type": "thinking", "thinking": "Weather…", "signature": "sig"}
    call = {"type": "tool_use", "id": "t1", "name": "weather", "input": {"city": "Bern"}}
    chat = ask(assistant(thinking, {"type": "text", "text": "I look."}, call))

    assert chat["messages"] == [
        {
            "role": "assistant",
            "content": "I look.",
            "thinking_blocks": [thinking],
            "tool_calls": [
                {"id": "t1", "type": "function", "function": {"name": "weather", "arguments": '{"city":"Bern"}'}}
            ],
        }
    ]


def test_another_order_than_the_plain_one_is_kept_as_a_layout() -> None:
    call = {"type": "tool_use", "id": "t1", "name": "weather", "input": {}}
    chat = ask(assistant(call, {"type": "text", "text": "I look."}))

    assert chat["messages"][0]["layout"] == [{"type": "tool_use"}, {"type": "text"}]


def test_images_and_documents_become_parts_that_chat_knows() -> None:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}}
    text = {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "hi"}, "title": "Note"}
    pdf = {"type": "document", "source": {"type": "url", "url": "https://example.org/a.pdf"}, "citations": {}}

    assert ask(user(image, text, pdf))["messages"][0]["content"] == [
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}},
        {"type": "file", "file": {"file_data": "data:text/plain;base64,aGk=", "filename": "Note"}},
        {"type": "file", "file": {"file_url": "https://example.org/a.pdf"}, "citations": {}},
    ]


def test_a_tool_is_a_function_and_what_chat_does_not_know_of_it_stays_beside() -> None:
    tool = {
        "name": "weather",
        "description": "How it is outside",
        "input_schema": {"type": "object"},
        "strict": True,
        "cache_control": {"type": "ephemeral"},
    }

    assert ask(tools=[tool])["tools"] == [
        {
            "type": "function",
            "function": {
                "name": "weather",
                "parameters": {"type": "object"},
                "description": "How it is outside",
                "strict": True,
            },
            "cache_control": {"type": "ephemeral"},
        }
    ]


@pytest.mark.parametrize(
    ("choice", "chat"),
    [
        ({"type": "auto"}, {"tool_choice": "auto"}),
        ({"type": "any"}, {"tool_choice": "required"}),
        ({"type": "none"}, {"tool_choice": "none"}),
        ({"type": "tool", "name": "f"}, {"tool_choice": {"type": "function", "function": {"name": "f"}}}),
        (
            {"type": "any", "disable_parallel_tool_use": True},
            {"tool_choice": "required", "parallel_tool_calls": False},
        ),
    ],
)
def test_a_choice_of_tools_has_its_word_in_chat(choice: dict[str, Any], chat: dict[str, Any]) -> None:
    asked = ask(tool_choice=choice)

    assert {name: asked[name] for name in ("tool_choice", "parallel_tool_calls") if name in asked} == chat


def test_what_bounds_and_steers_the_answer_has_its_word_in_chat() -> None:
    chat = ask(
        stop_sequences=["END"],
        metadata={"user_id": "u1"},
        service_tier="standard_only",
        output_config={"effort": "high", "format": {"type": "json_schema", "schema": {"type": "object"}}},
        thinking={"type": "adaptive"},
        top_k=5,
    )

    del chat["messages"]
    assert chat == {
        "model": "claude",
        "max_tokens": 64,
        "stop": ["END"],
        "user": "u1",
        "service_tier": "default",
        "reasoning_effort": "high",
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "answer", "schema": {"type": "object"}, "strict": True},
        },
        "thinking": {"type": "adaptive"},
        "top_k": 5,
    }


def test_other_metadata_than_the_user_is_for_whoever_attributes_the_request() -> None:
    assert ask(metadata={"user_id": "u1", "feature": "search"})["metadata"] == {"feature": "search"}


def test_a_null_says_nothing() -> None:
    assert ask(system=None, tools=None, metadata=None, thinking=None) == ask()


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"max_tokens": None}, "max_tokens"),
        ({"max_tokens": 0}, "max_tokens"),
        ({"messages": []}, "messages"),
        ({"messages": [{"role": "tool", "content": "x"}]}, "messages[0].role"),
        ({"messages": [{"role": "user", "content": []}]}, "messages[0].content"),
        ({"messages": [{"role": "user", "content": "x", "name": "Ann"}]}, "messages[0]"),
        ({"messages": [user({"type": "video"})]}, "messages[0].content[0].type"),
        ({"messages": [assistant({"type": "server_tool_use"})]}, "messages[0].content[0].type"),
        ({"messages": [user({"type": "image", "source": {"type": "url"}})]}, "messages[0].content[0].source.url"),
        ({"temperature": 1.5}, "temperature"),
        ({"tools": [{"name": "f"}]}, "tools[0].input_schema"),
        ({"tools": [{"type": "web_search_20260318", "name": "web_search"}]}, "tools[0].type"),
        ({"tools": [{"type": "code_execution_20260521", "name": "code_execution"}]}, "tools[0].type"),
        ({"tools": [{"type": "mcp_toolset"}]}, "tools[0].type"),
        ({"tool_choice": {"type": "some"}}, "tool_choice.type"),
        ({"output_config": {"format": {"type": "xml"}}}, "output_config.format.type"),
        ({"service_tier": "priority"}, "service_tier"),
        ({"speed": "fast"}, "speed"),
        ({"inference_geo": "us"}, "inference_geo"),
        ({"Fallbacks": [{"model": "dearer"}]}, "fallbacks"),
        ({"mcp_servers": [{}]}, "mcp_servers"),
        ({"container": "c"}, "container"),
        ({"context_management": {"edits": [{"type": "compact_20260112"}]}}, "context_management.edits[0].type"),
        ({"context_management": [1]}, "context_management"),
        ({"n": 2}, "n"),
        ({"stop": "x"}, "stop"),
    ],
)
def test_what_cannot_be_carried_is_refused_by_name(fields: dict[str, Any], param: str) -> None:
    with pytest.raises(BadRequest) as refused:
        ask(**fields)

    assert refused.value.param == param


def test_tools_that_the_client_runs_and_edits_that_only_clear_go_through_as_they_are() -> None:
    tools = [{"type": "text_editor_20250728", "name": "str_replace_based_edit_tool", "max_characters": 100}]
    managed = {"edits": [{"type": "clear_tool_uses_20250919"}]}
    chat = ask(tools=tools, context_management=managed)

    assert chat["tools"] == tools
    assert chat["context_management"] == managed


def test_what_stands_beside_the_fields_of_a_tool_cannot_stand_in_for_them() -> None:
    hosted = {"name": "web_search", "type": "web_search_20250305"}
    asked = ask(tools=[{"name": "f", "input_schema": {"type": "object"}, "function": hosted}])

    assert asked["tools"][0]["function"] == {"name": "f", "parameters": {"type": "object"}}


def test_the_result_of_a_tool_is_said_by_the_tool() -> None:
    result = {"type": "tool_result", "tool_use_id": "t", "content": "x", "role": "system", "tool_call_id": "other"}

    assert ask(user(result))["messages"] == [{"role": "tool", "tool_call_id": "t", "content": "x"}]
