"""What a chat asks, said to a provider that speaks Gemini."""

from typing import Any

import pytest

from gateway.dialects.gemini.calling import to_gemini
from gateway.errors import BadRequest

WEATHER = {
    "name": "get_weather",
    "description": "Tell the weather.",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "additionalProperties": False},
}


def call(**fields: Any) -> dict[str, Any]:
    return to_gemini({"model": "gemini-3.8-flash", "messages": [{"role": "user", "content": "Hi"}]} | fields)


def config(**fields: Any) -> dict[str, Any]:
    return call(**fields)["generationConfig"]


def test_a_question_is_a_content_of_the_user_and_names_no_model() -> None:
    assert call(max_tokens=64) == {
        "contents": [{"role": "user", "parts": [{"text": "Hi"}]}],
        "generationConfig": {"maxOutputTokens": 64},
    }


def test_everything_that_shapes_an_answer_has_its_word() -> None:
    asked = config(
        max_completion_tokens=64,
        n=2,
        stop=["END", "FIN"],
        temperature=0.5,
        top_p=0.9,
        top_k=40,
        seed=7,
        presence_penalty=0.1,
        frequency_penalty=-0.2,
        logprobs=True,
        top_logprobs=3,
    )

    assert asked == {
        "maxOutputTokens": 64,
        "candidateCount": 2,
        "stopSequences": ["END", "FIN"],
        "temperature": 0.5,
        "topP": 0.9,
        "topK": 40,
        "seed": 7,
        "presencePenalty": 0.1,
        "frequencyPenalty": -0.2,
        "responseLogprobs": True,
        "logprobs": 3,
    }


def test_one_stop_is_a_list_of_one() -> None:
    assert config(stop="END") == {"stopSequences": ["END"]}


def test_a_schema_of_the_answer_is_passed_on_as_json_schema() -> None:
    schema = {"type": "object", "properties": {"x": {"$ref": "#/$defs/x"}}, "$defs": {"x": {"type": "integer"}}}
    named = {"name": "answer", "strict": True, "description": "A number.", "schema": schema}

    assert config(response_format={"type": "json_schema", "json_schema": named}) == {
        "responseMimeType": "application/json",
        "responseJsonSchema": {"description": "A number."} | schema,
    }


@pytest.mark.parametrize(
    ("form", "said"), [({"type": "text"}, {}), ({"type": "json_object"}, {"responseMimeType": "application/json"})]
)
def test_an_answer_may_be_any_text_or_any_json(form: dict[str, str], said: dict[str, str]) -> None:
    assert config(response_format=form) == said


@pytest.mark.parametrize(
    ("model", "effort", "said"),
    [
        ("gemini-3.8-flash", "minimal", {"thinkingLevel": "MINIMAL"}),
        ("gemini-3-pro-preview", "high", {"thinkingLevel": "HIGH"}),
        ("gemini-flash-latest", "xhigh", {"thinkingLevel": "XHIGH"}),
        ("gemini-3.8-flash", "none", {"thinkingBudget": 0}),
        ("gemini-2.5-flash", "none", {"thinkingBudget": 0}),
        ("gemini-2.5-flash", "minimal", {"thinkingBudget": 1024}),
        ("gemini-2.5-flash", "low", {"thinkingBudget": 1024}),
        ("models/gemini-2.5-pro", "medium", {"thinkingBudget": 8192}),
        ("gemini-2.5-pro", "high", {"thinkingBudget": 24576}),
    ],
)
def test_effort_is_a_level_of_thinking_or_for_older_models_a_budget(
    model: str, effort: str, said: dict[str, Any]
) -> None:
    # What each effort is: the guide "OpenAI compatibility" of the Gemini API, section "Thinking".
    assert config(model=model, reasoning_effort=effort) == {"thinkingConfig": said}


@pytest.mark.parametrize(("model", "effort"), [("gemini-3.8-flash", "max"), ("gemini-2.5-pro", "xhigh")])
def test_an_effort_that_a_model_does_not_know_is_refused(model: str, effort: str) -> None:
    with pytest.raises(BadRequest, match="effort") as refused:
        call(model=model, reasoning_effort=effort)
    assert refused.value.param == "reasoning_effort"


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        (
            {"thinking": {"type": "enabled", "budget_tokens": 2000}},
            {"includeThoughts": True, "thinkingBudget": 2000},
        ),
        (
            {"thinking": {"type": "enabled", "budget_tokens": 2000}, "reasoning_effort": "low"},
            {"includeThoughts": True, "thinkingBudget": 2000},
        ),
        (
            {"thinking": {"type": "adaptive", "display": "omitted"}, "reasoning_effort": "low"},
            {"includeThoughts": False, "thinkingLevel": "LOW"},
        ),
        ({"thinking": {"type": "disabled"}}, {"thinkingBudget": 0}),
        (
            {"reasoning": {"summary": "auto"}, "reasoning_effort": "low"},
            {"includeThoughts": True, "thinkingLevel": "LOW"},
        ),
    ],
)
def test_what_other_dialects_say_of_thinking_is_said_too(fields: dict[str, Any], said: dict[str, Any]) -> None:
    assert config(**fields) == {"thinkingConfig": said}


def test_functions_are_declared_with_their_schemas_as_they_are() -> None:
    asked = call(tools=[{"type": "function", "function": WEATHER}, {"function": {"name": "now"}}])

    assert asked["tools"] == [
        {
            "functionDeclarations": [
                {
                    "name": "get_weather",
                    "description": "Tell the weather.",
                    "parametersJsonSchema": WEATHER["parameters"],
                },
                {"name": "now"},
            ]
        }
    ]
    assert "toolConfig" not in asked


@pytest.mark.parametrize(
    ("choice", "said"),
    [
        ("auto", {"mode": "AUTO"}),
        ("none", {"mode": "NONE"}),
        ("required", {"mode": "ANY"}),
        (
            {"type": "function", "function": {"name": "get_weather"}},
            {"mode": "ANY", "allowedFunctionNames": ["get_weather"]},
        ),
        (
            {
                "type": "allowed_tools",
                "allowed_tools": {
                    "mode": "auto",
                    "tools": [{"type": "function", "function": {"name": "get_weather"}}],
                },
            },
            {"mode": "VALIDATED", "allowedFunctionNames": ["get_weather"]},
        ),
        (
            {
                "type": "allowed_tools",
                "allowed_tools": {
                    "mode": "required",
                    "tools": [{"type": "function", "function": {"name": "get_weather"}}],
                },
            },
            {"mode": "ANY", "allowedFunctionNames": ["get_weather"]},
        ),
    ],
)
def test_every_choice_of_tools_has_its_mode(choice: object, said: dict[str, Any]) -> None:
    asked = call(tools=[{"type": "function", "function": WEATHER}], tool_choice=choice)

    assert asked["toolConfig"] == {"functionCallingConfig": said}


@pytest.mark.parametrize("choice", [None, "auto"])
def test_a_strict_function_has_its_calls_validated(choice: str | None) -> None:
    asked = call(tools=[{"type": "function", "function": WEATHER | {"strict": True}}], tool_choice=choice)

    assert asked["toolConfig"] == {"functionCallingConfig": {"mode": "VALIDATED"}}


def test_a_choice_without_tools_chooses_nothing() -> None:
    assert call(tool_choice="auto", tools=[], parallel_tool_calls=False).keys() == {"contents", "generationConfig"}


def test_settings_of_safety_pass_as_they_are() -> None:
    settings = [{"category": "HARM_CATEGORY_HARASSMENT", "threshold": "BLOCK_ONLY_HIGH"}]

    assert call(safety_settings=settings)["safetySettings"] == settings


def test_the_flexible_tier_is_asked_for_by_name() -> None:
    assert call(service_tier="flex")["serviceTier"] == "flex"
    assert "serviceTier" not in call(service_tier="default")


@pytest.mark.parametrize(
    "field",
    [
        {"user": "u1", "metadata": {"app": "a"}, "safety_identifier": "s"},
        {"stream": True, "stream_options": {"include_usage": True}},
        {"cache": {"ttl": 5}, "cache_salt": "s", "prompt_cache_key": "k", "cache_control": {"type": "ephemeral"}},
        {"logit_bias": {}, "modalities": ["text"], "store": False, "verbosity": "medium"},
        {"include": ["reasoning.encrypted_content"], "truncation": "auto", "functions": [], "a_new_one": None},
        {"output_config": {"task_budget": {"total": 5}}, "context_management": {"edits": []}},
        {"anthropic_beta": "interleaved-thinking-2025-05-14"},
        {"n": None, "tools": None, "response_format": None, "thinking": None},
        {"parallel_tool_calls": True},
    ],
)
def test_what_asks_nothing_of_an_answer_stays_behind(field: dict[str, Any]) -> None:
    assert call(**field) == call()


@pytest.mark.parametrize(
    ("field", "param"),
    [
        ({"logit_bias": {"5": 1}}, "logit_bias"),
        ({"prediction": {"type": "content", "content": "x"}}, "prediction"),
        ({"store": True}, "store"),
        ({"modalities": ["text", "audio"]}, "modalities"),
        ({"web_search_options": {}}, "web_search_options"),
        ({"min_p": 0.1}, "min_p"),
        ({"cachedContent": "cachedContents/1"}, "cachedContent"),
        ({"cached_content": "cachedContents/1"}, "cached_content"),
        ({"tools": [{"googleSearch": {}}]}, "tools[0]"),
        ({"tools": [{"codeExecution": {}}]}, "tools[0]"),
        ({"tools": [{"urlContext": {}}]}, "tools[0]"),
        ({"tools": [{"type": "custom", "custom": {"name": "x"}}]}, "tools[0]"),
        (
            {"tools": [{"type": "function", "function": WEATHER}], "parallel_tool_calls": False},
            "parallel_tool_calls",
        ),
        ({"tool_choice": "sometimes"}, "tool_choice"),
        ({"service_tier": "priority"}, "service_tier"),
        ({"response_format": {"type": "json_schema", "json_schema": {"name": "x"}}}, "response_format.json_schema"),
        ({"thinking": {"type": "sometimes"}}, "thinking.type"),
        ({"reasoning": {"context": "auto"}}, "reasoning"),
        ({"messages": []}, "messages"),
    ],
)
def test_what_cannot_be_said_or_priced_is_refused_by_name(field: dict[str, Any], param: str) -> None:
    with pytest.raises(BadRequest) as refused:
        call(**field)
    assert (refused.value.param or "").startswith(param)
