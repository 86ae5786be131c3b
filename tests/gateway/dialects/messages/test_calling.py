"""What a chat asks, said to a provider that speaks Messages."""

from typing import Any

import pytest

from gateway.dialects.messages.calling import to_messages
from gateway.errors import BadRequest


def call(*messages: dict[str, Any], **fields: Any) -> dict[str, Any]:
    said = list(messages) or [{"role": "user", "content": "Hi"}]
    return to_messages({"model": "claude", "max_tokens": 64, "messages": said} | fields)


def function(name: str, arguments: str) -> dict[str, Any]:
    return {"id": f"{name}1", "type": "function", "function": {"name": name, "arguments": arguments}}


def test_instructions_before_the_conversation_are_the_system_prompt_and_later_ones_turns() -> None:
    body = call(
        {"role": "system", "content": "Be brief."},
        {"role": "developer", "content": [{"type": "text", "text": "Be kind."}]},
        {"role": "user", "content": "Hi"},
        {"role": "developer", "content": "Be quick."},
    )

    assert body["system"] == [{"type": "text", "text": "Be brief."}, {"type": "text", "text": "Be kind."}]
    assert body["messages"] == [{"role": "user", "content": "Hi"}, {"role": "system", "content": "Be quick."}]


def test_parallel_results_and_what_follows_them_are_one_turn() -> None:
    body = call(
        {"role": "user", "content": "Compare."},
        {"role": "assistant", "content": None, "tool_calls": [function("a", '{"x":1}'), function("b", "")]},
        {"role": "tool", "tool_call_id": "a1", "content": "1"},
        {"role": "tool", "tool_call_id": "b1", "content": "2"},
        {"role": "user", "content": "Well?"},
    )

    assert body["messages"][1:] == [
        {
            "role": "assistant",
            "content": [
                {"type": "tool_use", "id": "a1", "name": "a", "input": {"x": 1}},
                {"type": "tool_use", "id": "b1", "name": "b", "input": {}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "a1", "content": "1"},
                {"type": "tool_result", "tool_use_id": "b1", "content": "2"},
                {"type": "text", "text": "Well?"},
            ],
        },
    ]


def test_what_a_gemini_model_has_sealed_with_a_call_stays_behind() -> None:
    sealed = function("a", "{}") | {"extra_content": {"google": {"thought_signature": "<A>"}}}
    body = call({"role": "user", "content": "Go."}, {"role": "assistant", "content": None, "tool_calls": [sealed]})

    assert body["messages"][1]["content"] == [{"type": "tool_use", "id": "a1", "name": "a", "input": {}}]


def test_arguments_that_are_no_object_are_kept_as_the_provider_asks_for() -> None:
    body = call({"role": "assistant", "content": "", "tool_calls": [function("a", '{"x":')]})

    assert body["messages"][0]["content"][0]["input"] == {"INVALID_JSON": '{"x":'}


def test_thinking_of_another_model_is_left_out() -> None:
    unsigned = {"type": "thinking", "thinking": "Hm.", "signature": ""}
    signed = unsigned | {"signature": "sig"}
    said = {"role": "assistant", "content": "Yes.", "reasoning_content": "Hm."}

    assert call(said)["messages"] == [{"role": "assistant", "content": "Yes."}]
    assert call(said | {"thinking_blocks": [unsigned]})["messages"] == [{"role": "assistant", "content": "Yes."}]
    assert call(said | {"thinking_blocks": [{"index": 0} | signed]})["messages"] == [
        {"role": "assistant", "content": [signed, {"type": "text", "text": "Yes."}]}
    ]


def test_a_layout_cuts_the_text_of_an_answer_that_is_sent_back() -> None:
    cited = {"type": "char_location", "cited_text": "green"}
    layout = [{"index": 0, "type": "text", "chars": 3, "citations": [cited]}, {"index": 1, "type": "text", "chars": 5}]
    body = call({"role": "assistant", "content": "One two.", "layout": layout})

    assert body["messages"][0]["content"] == [
        {"type": "text", "text": "One", "citations": [cited]},
        {"type": "text", "text": " two."},
    ]


@pytest.mark.parametrize(
    "layout", [[{"type": "text", "chars": 99}], [{"type": "tool_use"}], [{}], "text", [{"type": 1}]]
)
def test_a_layout_that_no_longer_fits_is_passed_over(layout: object) -> None:
    body = call({"role": "assistant", "content": "Short.", "layout": layout})

    assert body["messages"][0]["content"] == "Short."


def test_a_refusal_in_the_conversation_is_what_the_assistant_said() -> None:
    body = call({"role": "assistant", "content": None, "refusal": "I may not."})

    assert body["messages"] == [{"role": "assistant", "content": "I may not."}]


def test_what_an_sdk_sends_back_of_an_answer_beside_its_words_asks_for_nothing() -> None:
    echo = {
        "role": "assistant",
        "content": "Yes.",
        "refusal": None,
        "annotations": [],
        "audio": None,
        "tool_calls": None,
    }

    assert call(echo)["messages"] == [{"role": "assistant", "content": "Yes."}]


def test_what_bounds_and_steers_the_answer_has_its_word_in_messages() -> None:
    body = call(
        max_completion_tokens=32,
        stop="END",
        safety_identifier="u1",
        service_tier="default",
        reasoning_effort="minimal",
        response_format={"type": "json_schema", "json_schema": {"name": "n", "schema": {"type": "object"}}},
        stream=True,
        stream_options={"include_usage": True},
        n=1,
        presence_penalty=0,
        metadata={"feature": "search"},
    )

    del body["messages"]
    assert body == {
        "model": "claude",
        "max_tokens": 32,
        "stop_sequences": ["END"],
        "metadata": {"user_id": "u1"},
        "service_tier": "standard_only",
        "output_config": {"effort": "low", "format": {"type": "json_schema", "schema": {"type": "object"}}},
        "stream": True,
    }


def test_no_reasoning_is_thinking_disabled() -> None:
    assert call(reasoning_effort="none")["thinking"] == {"type": "disabled"}


def test_one_call_at_a_time_needs_a_choice_only_where_there_are_tools() -> None:
    tools = [{"type": "function", "function": {"name": "f"}}]
    schema = {"type": "object", "properties": {}}

    assert "tool_choice" not in call(parallel_tool_calls=False)
    body = call(parallel_tool_calls=False, tools=tools)
    assert body["tool_choice"] == {"type": "auto", "disable_parallel_tool_use": True}
    assert body["tools"] == [{"name": "f", "input_schema": schema}]
    assert "tool_choice" not in call(parallel_tool_calls=True, tools=tools)


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"max_tokens": None}, "max_tokens"),
        ({"n": 2}, "n"),
        ({"seed": 1}, "seed"),
        ({"logprobs": True}, "logprobs"),
        ({"logit_bias": {"1": 5}}, "logit_bias"),
        ({"frequency_penalty": 0.5}, "frequency_penalty"),
        ({"functions": [{}]}, "functions"),
        ({"store": True}, "store"),
        ({"response_format": {"type": "json_object"}}, "response_format"),
        ({"service_tier": "flex"}, "service_tier"),
        ({"speed": "fast"}, "speed"),
        ({"tool_choice": "some"}, "tool_choice"),
        ({"tools": [{"type": "custom", "custom": {"name": "x"}}]}, "tools[0].type"),
        ({"tools": [{"type": "function"}]}, "tools[0].function"),
    ],
)
def test_what_messages_has_no_word_for_is_refused_by_name(fields: dict[str, Any], param: str) -> None:
    with pytest.raises(BadRequest) as refused:
        call(**fields)

    assert refused.value.param == param


@pytest.mark.parametrize(
    ("message", "param"),
    [
        ({"role": "user", "content": "x", "name": "Ann"}, "messages[0]"),
        ({"role": "user", "content": [{"type": "input_audio"}]}, "messages[0].content[0].type"),
        ({"role": "user", "content": [{"type": "image_url", "image_url": {}}]}, "messages[0].content[0].image_url.url"),
        (
            {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "ftp://x"}}]},
            "messages[0].content[0].image_url.url",
        ),
        (
            {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:image/png,x"}}]},
            "messages[0].content[0].image_url.url",
        ),
        (
            {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "https://x", "detail": "low"}}]},
            "messages[0].content[0].image_url.detail",
        ),
        ({"role": "user", "content": [{"type": "file", "file": {}}]}, "messages[0].content[0].file"),
        (
            {"role": "user", "content": [{"type": "file", "file": {"file_data": "data:text/plain;base64,//79"}}]},
            "messages[0].content[0].file.file_data",
        ),
        ({"role": "assistant", "content": None, "function_call": {"name": "f"}}, "messages[0].function_call"),
        ({"role": "assistant", "content": None, "audio": {"id": "a"}}, "messages[0].audio"),
        ({"role": "function", "name": "f", "content": "x"}, "messages[0].role"),
    ],
)
def test_a_message_that_cannot_be_said_is_refused_by_its_path(message: dict[str, Any], param: str) -> None:
    with pytest.raises(BadRequest) as refused:
        call(message)

    assert refused.value.param == param


def test_a_tool_is_the_callers_own_whatever_stands_within_it() -> None:
    hosted = {"name": "web_search", "type": "web_search_20250305", "max_uses": 9}

    assert "type" not in call(tools=[{"type": "function", "function": hosted}])["tools"][0]


def test_a_block_is_of_the_type_that_was_looked_at_whatever_stands_beside_it() -> None:
    document = {"type": "document", "source": {"type": "url", "url": "https://x/y.pdf"}}
    body = call(
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": "x", "thinking_blocks": [document]},
        {"role": "tool", "tool_call_id": "a", "content": "x"} | document,
    )

    assert body["messages"][1] == {"role": "assistant", "content": "x"}
    assert body["messages"][2]["content"][0]["type"] == "tool_result"
