"""What a chat asks, said to a provider that speaks Converse."""

from typing import Any

import pytest

from gateway.dialects.converse.calling import to_converse
from gateway.dialects.converse.documents import tell_apart
from gateway.errors import BadRequest
from tests.support.bedrock_model import faults

EPHEMERAL = {"type": "ephemeral"}
POINT = {"cachePoint": {"type": "default"}}
PNG = "data:image/png;base64,aGVsbG8="
PDF = "data:application/pdf;base64,aGVsbG8="


def call(*messages: dict[str, Any], **fields: Any) -> dict[str, Any]:
    said = list(messages) or [{"role": "user", "content": "Hi"}]
    body = to_converse({"model": "anthropic.claude-opus-4-1-v1:0", "messages": said} | fields, 64)
    assert faults(body) == ""
    return body


def function(name: str, arguments: str) -> dict[str, Any]:
    return {"id": f"{name}1", "type": "function", "function": {"name": name, "arguments": arguments}}


def file(name: str | None = None, data: str = PDF) -> dict[str, Any]:
    return {"type": "file", "file": {"file_data": data} | ({} if name is None else {"filename": name})}


def test_a_chat_is_turns_a_system_prompt_and_a_bound() -> None:
    body = call(
        {"role": "system", "content": "Be brief."},
        {"role": "developer", "content": [{"type": "text", "text": "Be kind."}]},
        {"role": "user", "content": "Hi"},
        temperature=0.5,
        top_p=0.9,
        stop="END",
        stream=True,
        stream_options={"include_usage": True},
        user="u1",
        metadata={"feature": "search"},
        n=1,
    )

    assert body == {
        "system": [{"text": "Be brief."}, {"text": "Be kind."}],
        "messages": [{"role": "user", "content": [{"text": "Hi"}]}],
        "inferenceConfig": {"maxTokens": 64, "temperature": 0.5, "topP": 0.9, "stopSequences": ["END"]},
        "additionalModelResponseFieldPaths": ["/stop_sequence"],
    }


def test_what_one_side_says_in_a_row_is_one_turn() -> None:
    body = call(
        {"role": "user", "content": "Compare."},
        {"role": "user", "content": ""},
        {"role": "assistant", "content": None, "tool_calls": [function("a", '{"x":1}'), function("b", "")]},
        {"role": "tool", "tool_call_id": "a1", "content": "1"},
        {"role": "tool", "tool_call_id": "b1", "content": "no", "is_error": True},
        {"role": "user", "content": "Well?"},
        tools=[{"type": "function", "function": {"name": "a"}}],
    )

    assert body["messages"] == [
        {"role": "user", "content": [{"text": "Compare."}]},
        {
            "role": "assistant",
            "content": [
                {"toolUse": {"toolUseId": "a1", "name": "a", "input": {"x": 1}}},
                {"toolUse": {"toolUseId": "b1", "name": "b", "input": {}}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"toolResult": {"toolUseId": "a1", "content": [{"text": "1"}]}},
                {"toolResult": {"toolUseId": "b1", "content": [{"text": "no"}], "status": "error"}},
                {"text": "Well?"},
            ],
        },
    ]


def test_a_mark_to_cache_is_a_point_after_what_it_marks() -> None:
    hour = {"type": "ephemeral", "ttl": "1h"}
    body = call(
        {"role": "system", "content": [{"type": "text", "text": "Long.", "cache_control": hour}]},
        {"role": "user", "content": [{"type": "text", "text": "Read.", "cache_control": EPHEMERAL}]},
        {"role": "assistant", "content": "", "tool_calls": [function("f", "{}") | {"cache_control": EPHEMERAL}]},
        {"role": "tool", "tool_call_id": "f1", "content": "x", "cache_control": EPHEMERAL},
        {"role": "tool", "tool_call_id": "f2", "content": [{"type": "text", "text": "y", "cache_control": hour}]},
        tools=[{"type": "function", "function": {"name": "f"}, "cache_control": EPHEMERAL}],
        cache_control=EPHEMERAL,
    )

    later = {"cachePoint": {"type": "default", "ttl": "1h"}}
    assert body["system"] == [{"text": "Long."}, later]
    user, assistant, results = (turn["content"] for turn in body["messages"])
    assert user == [{"text": "Read."}, POINT]
    assert assistant[1] == POINT
    assert [block if "cachePoint" in block else block["toolResult"]["content"] for block in results] == [
        [{"text": "x"}],
        POINT,
        [{"text": "y"}],
        later,
        POINT,
    ]
    assert body["toolConfig"]["tools"][1] == POINT


def test_pictures_and_documents_are_bytes_of_a_format() -> None:
    body = call(
        {
            "role": "user",
            "content": [
                {"type": "image_url", "image_url": {"url": PNG}},
                file("the report, v2.pdf"),
                file("the report; v2.pdf"),
                file(),
                file("notes", "data:text/plain;base64,SGkh"),
                {"type": "document", "source": {"type": "content", "content": "One."}, "citations": {"enabled": True}},
                {"type": "text", "text": "Read."},
            ],
        }
    )

    assert body["messages"][0]["content"] == [
        {"image": {"format": "png", "source": {"bytes": "aGVsbG8="}}},
        {"document": {"name": "the report v2", "format": "pdf", "source": {"bytes": "aGVsbG8="}}},
        {"document": {"name": "the report v2 (2)", "format": "pdf", "source": {"bytes": "aGVsbG8="}}},
        {"document": {"name": "document", "format": "pdf", "source": {"bytes": "aGVsbG8="}}},
        {"document": {"name": "notes", "format": "txt", "source": {"text": "Hi!"}}},
        {
            "document": {
                "name": "document (2)",
                "source": {"content": [{"text": "One."}]},
                "citations": {"enabled": True},
            }
        },
        {"text": "Read."},
    ]


def test_a_result_may_show_what_was_found() -> None:
    found = {
        "type": "search_result",
        "source": "https://a",
        "title": "A",
        "content": [{"type": "text", "text": "x"}],
        "cache_control": EPHEMERAL,
    }
    body = call(
        {"role": "tool", "tool_call_id": "t", "content": [found, {"type": "image_url", "image_url": {"url": PNG}}]}
    )

    result, point = body["messages"][0]["content"]
    assert result["toolResult"]["content"] == [
        {"searchResult": {"source": "https://a", "title": "A", "content": [{"text": "x"}]}},
        {"image": {"format": "png", "source": {"bytes": "aGVsbG8="}}},
    ]
    assert point == POINT


def test_signed_thinking_goes_back_as_it_came_and_other_thinking_not_at_all() -> None:
    said = {
        "role": "assistant",
        "content": "Yes.",
        "reasoning_content": "Hm.",
        "thinking_blocks": [
            {"index": 0, "type": "thinking", "thinking": "Hm.", "signature": "sig"},
            {"index": 1, "type": "thinking", "thinking": "Of another.", "signature": ""},
            {"index": 2, "type": "redacted_thinking", "data": "eHl6"},
            {"index": 3, "type": "thinking", "thinking": "", "signature": "unshown"},
        ],
    }

    assert call(said)["messages"][0]["content"] == [
        {"reasoningContent": {"reasoningText": {"text": "Hm.", "signature": "sig"}}},
        {"reasoningContent": {"redactedContent": "eHl6"}},
        {"reasoningContent": {"reasoningText": {"text": "", "signature": "unshown"}}},
        {"text": "Yes."},
    ]


def test_citations_go_back_with_the_text_they_belong_to() -> None:
    cited = {
        "type": "page_location",
        "cited_text": "green",
        "document_index": 0,
        "document_title": "Grass",
        "start_page_number": 1,
        "end_page_number": 2,
    }
    layout = [{"index": 0, "type": "text", "chars": 3, "citations": [cited]}, {"index": 1, "type": "text", "chars": 5}]
    body = call({"role": "assistant", "content": "One two.", "layout": layout})

    citation = {
        "title": "Grass",
        "sourceContent": [{"text": "green"}],
        "location": {"documentPage": {"documentIndex": 0, "start": 1, "end": 2}},
    }
    assert body["messages"][0]["content"] == [
        {"citationsContent": {"content": [{"text": "One"}], "citations": [citation]}},
        {"text": " two."},
    ]


def test_tools_are_told_with_the_choice_among_them() -> None:
    schema = {"type": "object", "properties": {"x": {"type": "integer"}}}
    tools = [
        {"type": "function", "function": {"name": "f", "description": "Does.", "parameters": schema, "strict": True}},
        {"type": "function", "function": {"name": "g", "description": ""}, "eager_input_streaming": True},
    ]
    told = [
        {"toolSpec": {"name": "f", "description": "Does.", "inputSchema": {"json": schema}, "strict": True}},
        {"toolSpec": {"name": "g", "inputSchema": {"json": {"type": "object", "properties": {}}}}},
    ]

    assert call(tools=tools)["toolConfig"] == {"tools": told}
    choices = {"auto": {"auto": {}}, "required": {"any": {}}}
    for said, choice in choices.items():
        assert call(tools=tools, tool_choice=said)["toolConfig"] == {"tools": told, "toolChoice": choice}
    named = call(tools=tools, tool_choice={"type": "function", "function": {"name": "g"}}, parallel_tool_calls=True)
    assert named["toolConfig"]["toolChoice"] == {"tool": {"name": "g"}}
    assert "toolConfig" not in call(tools=tools, tool_choice="none")


def test_the_form_the_effort_and_the_tier_of_an_answer_have_words_in_converse() -> None:
    schema = {"type": "object", "additionalProperties": False}
    body = call(
        response_format={"type": "json_schema", "json_schema": {"name": "n", "description": "d", "schema": schema}},
        reasoning_effort="minimal",
        service_tier="flex",
    )

    form = {"schema": '{"type":"object","additionalProperties":false}', "name": "n", "description": "d"}
    assert body["outputConfig"] == {
        "effort": "low",
        "textFormat": {"type": "json_schema", "structure": {"jsonSchema": form}},
    }
    assert body["serviceTier"] == {"type": "flex"}
    assert "serviceTier" not in call(service_tier="auto")


def test_what_only_the_model_knows_goes_to_the_model() -> None:
    thinking = {"type": "enabled", "budget_tokens": 32}

    assert call(thinking=thinking, top_k=5)["additionalModelRequestFields"] == {"thinking": thinking, "top_k": 5}
    assert call(reasoning_effort="none")["additionalModelRequestFields"] == {"thinking": {"type": "disabled"}}


def test_what_another_dialect_asks_for_in_vain_is_left_out() -> None:
    body = call(
        include=["reasoning.encrypted_content"],
        truncation="disabled",
        prompt_cache_key="k",
        store=False,
        anthropic_beta="context-1m-2025-08-07",
    )

    assert body.keys() == {"messages", "inferenceConfig"}


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"n": 2}, "n"),
        ({"seed": 1}, "seed"),
        ({"logprobs": True}, "logprobs"),
        ({"frequency_penalty": 0.5}, "frequency_penalty"),
        ({"response_format": {"type": "json_object"}}, "response_format"),
        ({"service_tier": "scale"}, "service_tier"),
        ({"speed": "fast"}, "speed"),
        ({"max_gen_len": 9000}, "max_gen_len"),
        ({"guardrailConfig": {}}, "guardrailConfig"),
        ({"performanceConfig": {"latency": "optimized"}}, "performanceConfig"),
        ({"additionalModelRequestFields": {"max_tokens": 9000}}, "additionalModelRequestFields"),
        ({"cache_control": {"type": "forever"}}, "cache_control"),
        ({"tools": [{"type": "bash_20250124", "name": "bash"}]}, "tools[0].type"),
        (
            {"tools": [{"type": "function", "function": {"name": "f"}}], "parallel_tool_calls": False},
            "parallel_tool_calls",
        ),
        ({"tools": [{"type": "function", "function": {"name": "f"}}], "tool_choice": "some"}, "tool_choice"),
    ],
)
def test_what_converse_has_no_word_for_is_refused_by_name(fields: dict[str, Any], param: str) -> None:
    with pytest.raises(BadRequest) as refused:
        call(**fields)

    assert refused.value.param == param


def test_a_conversation_with_calls_cannot_go_on_without_their_tools() -> None:
    with pytest.raises(BadRequest) as refused:
        call(
            {"role": "assistant", "content": "", "tool_calls": [function("f", "{}")]},
            {"role": "tool", "tool_call_id": "f1", "content": "x"},
            tools=[{"type": "function", "function": {"name": "f"}}],
            tool_choice="none",
        )

    assert refused.value.param == "tool_choice"


@pytest.mark.parametrize(
    ("part", "place"),
    [
        ({"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}, ""),
        ({"type": "image_url", "image_url": {"url": "data:image/tiff;base64,aGVsbG8="}}, ""),
        ({"type": "image_url", "image_url": {"file_id": "f"}}, ""),
        ({"type": "file", "file": {"file_id": "f"}}, ""),
        ({"type": "file", "file": {"file_data": "data:video/mp4;base64,aGVsbG8="}}, ""),
        ({"type": "document", "source": {"type": "content", "content": [{"type": "image", "source": {
            "type": "url", "url": "https://x"}}]}}, ""),
        ({"type": "text", "text": "x", "cache_control": {"type": "ephemeral", "ttl": "2h"}}, ".cache_control"),
        ({"type": "text", "text": "x", "annotations": [{}]}, ".annotations"),
        ({"type": "input_audio"}, ".type"),
    ],
)  # fmt: skip
def test_a_part_that_cannot_be_said_is_refused_by_its_path(part: dict[str, Any], place: str) -> None:
    with pytest.raises(BadRequest) as refused:
        call({"role": "user", "content": "Hi"}, {"role": "user", "content": [part]})

    assert refused.value.param == f"messages[1].content[0]{place}"


def test_a_reference_to_a_tool_cannot_be_said_in_a_result() -> None:
    with pytest.raises(BadRequest) as refused:
        call({"role": "tool", "tool_call_id": "t", "content": [{"type": "tool_reference", "tool_name": "f"}]})

    assert refused.value.param == "messages[0].content[0].type"


def test_documents_are_told_apart_whatever_they_are_called() -> None:
    documents = [{"name": name} for name in ("a (2)", "a", "a", "a", "a (2)", "b")]
    tell_apart(documents)

    assert [one["name"] for one in documents] == ["a (2)", "a", "a (3)", "a (4)", "a (2) (2)", "b"]
