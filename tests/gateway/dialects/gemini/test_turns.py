"""A conversation of a chat, said to a provider that speaks Gemini."""

from typing import Any

import pytest

from gateway.dialects.gemini.calling import to_gemini
from gateway.errors import BadRequest

PNG = "data:image/png;base64,aGVsbG8="
SIGNED = {"extra_content": {"google": {"thought_signature": "<Signature A>"}}}


def call(*messages: dict[str, Any], model: str = "gemini-3-pro-preview") -> dict[str, Any]:
    return to_gemini({"model": model, "messages": list(messages)})


def contents(*messages: dict[str, Any], model: str = "gemini-3-pro-preview") -> list[dict[str, Any]]:
    return call(*messages, model=model)["contents"]


def user(content: str | list[dict[str, Any]]) -> dict[str, Any]:
    return {"role": "user", "content": content}


def calls(*made: dict[str, Any], **said: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": None, "tool_calls": list(made)} | said


def function(name: str, arguments: str, call_id: str, **more: Any) -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}} | more


def result(call_id: str, content: str | list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": content} | more


def test_all_instructions_stand_before_the_conversation_in_their_order() -> None:
    body = call(
        {"role": "system", "content": "Be brief."},
        {"role": "developer", "content": [{"type": "text", "text": "Be kind."}]},
        user("Hi"),
        {"role": "developer", "content": "Be quick."},
    )

    assert body["systemInstruction"] == {"parts": [{"text": "Be brief."}, {"text": "Be kind."}, {"text": "Be quick."}]}
    assert body["contents"] == [{"role": "user", "parts": [{"text": "Hi"}]}]


def test_without_instructions_there_is_no_field_for_them() -> None:
    assert "systemInstruction" not in call({"role": "system", "content": ""}, user("Hi"))


def test_a_call_with_its_signature_and_its_result_go_back_as_the_model_wants_them() -> None:
    # The Gemini API's guide "Thought signatures", "Sequential function calling example", in both its forms.
    said = contents(
        user("Check flight status for AA100 and book a taxi 2 hours before if delayed."),
        calls(function("check_flight", '{"flight":"AA100"}', "function-call-1", **SIGNED)),
        result("function-call-1", '{"status":"delayed","departure_time":"12 PM"}', name="check_flight"),
    )

    assert said[1:] == [
        {
            "role": "model",
            "parts": [
                {
                    "functionCall": {"id": "function-call-1", "name": "check_flight", "args": {"flight": "AA100"}},
                    "thoughtSignature": "<Signature A>",
                }
            ],
        },
        {
            "role": "user",
            "parts": [
                {
                    "functionResponse": {
                        "id": "function-call-1",
                        "name": "check_flight",
                        "response": {"status": "delayed", "departure_time": "12 PM"},
                    }
                }
            ],
        },
    ]


def test_parallel_results_are_one_turn_after_their_calls_and_what_follows_is_another() -> None:
    # The Gemini API's guide "Thought signatures", "Parallel function calling example": only the first call is signed.
    said = contents(
        user("Check the weather in Paris and London."),
        calls(
            function("get_current_temperature", '{"location":"Paris"}', "c1", **SIGNED),
            function("get_current_temperature", '{"location":"London"}', "c2"),
        ),
        result("c1", '{"temp":"15C"}'),
        result("c2", '{"temp":"12C"}'),
        user("Well?"),
    )

    assert [content["role"] for content in said] == ["user", "model", "user", "user"]
    assert [part.get("thoughtSignature") for part in said[1]["parts"]] == ["<Signature A>", None]
    assert [part["functionResponse"]["response"] for part in said[2]["parts"]] == [{"temp": "15C"}, {"temp": "12C"}]
    assert {part["functionResponse"]["name"] for part in said[2]["parts"]} == {"get_current_temperature"}


def test_a_call_that_the_model_has_not_made_is_vouched_for() -> None:
    # The same guide, its first question: how to bring a trace of another model.
    made = [function("a", "{}", "c1"), function("b", "{}", "c2")]
    parts = contents(user("Go."), calls(*made))[1]["parts"]

    assert [part.get("thoughtSignature") for part in parts] == ["skip_thought_signature_validator", None]


def test_a_model_that_asks_for_no_signature_is_sent_none() -> None:
    parts = contents(user("Go."), calls(function("a", "{}", "c1")), model="gemini-2.5-flash")[1]["parts"]

    assert "thoughtSignature" not in parts[0]


def test_the_signature_of_a_text_goes_back_with_the_text() -> None:
    parts = contents(user("Why?"), {"role": "assistant", "content": "Because."} | SIGNED)[1]["parts"]

    assert parts == [{"text": "Because.", "thoughtSignature": "<Signature A>"}]


def test_a_signature_without_a_text_goes_back_with_an_empty_one() -> None:
    parts = contents(user("Go."), calls(function("a", "{}", "c1"), **SIGNED), model="gemini-2.5-flash")[1]["parts"]

    assert parts[0] == {"text": "", "thoughtSignature": "<Signature A>"}
    assert "functionCall" in parts[1]


def test_thoughts_of_other_models_and_the_rest_of_an_answer_stay_behind() -> None:
    answer = {
        "role": "assistant",
        "content": [{"type": "text", "text": "Yes."}, {"type": "refusal", "refusal": "No."}],
        "reasoning_content": "Hm.",
        "thinking_blocks": [{"type": "thinking", "thinking": "Hm.", "signature": "s"}],
        "annotations": [],
    }

    assert contents(user("Go."), answer)[1] == {"role": "model", "parts": [{"text": "Yes."}, {"text": "No."}]}


def test_a_refusal_is_what_the_model_said() -> None:
    said = contents(user("Go."), {"role": "assistant", "content": None, "refusal": "No."})

    assert said[1]["parts"] == [{"text": "No."}]


def test_an_answer_that_says_nothing_is_no_turn() -> None:
    assert len(contents(user("Go."), {"role": "assistant", "content": ""}, user("Well?"))) == 2


@pytest.mark.parametrize(
    ("arguments", "args"),
    [("", {}), ('{"x":1}', {"x": 1}), ('{"x":', {"arguments": '{"x":'}), ("[1]", {"arguments": "[1]"})],
)
def test_arguments_that_are_no_object_are_kept_inside_one(arguments: str, args: dict[str, Any]) -> None:
    parts = contents(user("Go."), calls(function("a", arguments, "c1")))[1]["parts"]

    assert parts[0]["functionCall"]["args"] == args


@pytest.mark.parametrize(
    ("message", "response"),
    [
        (result("c1", "sunny"), {"output": "sunny"}),
        (result("c1", "[1,2]"), {"output": "[1,2]"}),
        (result("c1", '{"x":1}'), {"x": 1}),
        (result("c1", [{"type": "text", "text": '{"x"'}, {"type": "text", "text": ":1}"}]), {"x": 1}),
        (result("c1", "no such city", is_error=True), {"error": "no such city"}),
    ],
)
def test_a_result_is_an_object_whatever_a_tool_has_given(message: dict[str, Any], response: dict[str, Any]) -> None:
    said = contents(user("Go."), calls(function("a", "{}", "c1")), message)

    assert said[2]["parts"][0]["functionResponse"]["response"] == response


def test_a_picture_in_a_result_stands_beside_its_text() -> None:
    shown = [{"type": "text", "text": "Look:"}, {"type": "image_url", "image_url": {"url": PNG}}]
    said = contents(user("Go."), calls(function("a", "{}", "c1")), result("c1", shown))

    assert said[2]["parts"][0]["functionResponse"] == {
        "id": "c1",
        "name": "a",
        "response": {"output": "Look:"},
        "parts": [{"inlineData": {"mimeType": "image/png", "data": "aGVsbG8="}}],
    }


def test_a_result_that_names_its_function_needs_no_call_before_it() -> None:
    assert contents(result("c9", "{}", name="a"))[0]["parts"][0]["functionResponse"]["name"] == "a"


@pytest.mark.parametrize(
    ("messages", "param"),
    [
        ([result("c9", "{}")], "messages[0].tool_call_id"),
        (
            [
                calls(function("a", "{}", "c1")),
                result("c1", [{"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}]),
            ],
            "messages[1].content[0]",
        ),
        ([{"role": "user", "content": "Hi", "name": "Ann"}], "messages[0]"),
        ([{"role": "function", "name": "a", "content": "1"}], "messages[0].role"),
        ([{"role": "assistant", "content": "x", "audio": {"id": "a1"}}], "messages[0].audio"),
        ([calls({"id": "c1", "type": "custom", "custom": {"name": "a", "input": "x"}})], "messages[0].tool_calls[0]"),
        ([user([{"type": "video_url", "video_url": {"url": PNG}}])], "messages[0].content[0]"),
    ],
)
def test_a_turn_that_cannot_be_said_is_refused_with_its_path(messages: list[dict[str, Any]], param: str) -> None:
    with pytest.raises(BadRequest) as refused:
        contents(*messages)
    assert (refused.value.param or "").startswith(param)
