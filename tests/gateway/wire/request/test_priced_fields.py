"""What could cost more than it is held for is refused by name."""

from typing import Any

import pytest

from gateway.errors import BadRequest
from gateway.wire.request.priced_fields import refuse_priced_fields, refuse_tools_of_providers, refuse_unpriced_parts


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("service_tier", "priority"), ("web_search_options", {}), ("prediction", {"type": "content"}),
        ("audio", {"voice": "x"}), ("models", ["other"]), ("provider", {}), ("plugins", []), ("best_of", 4),
        ("best_of", True), ("n_predict", -1), ("max_new_tokens", 9), ("max_output_tokens", 9), ("N_Predict", 5),
        ("modalities", ["text", "audio"]), ("modalities", ["image"]), ("Modalities", ["audio"]), ("modalities", 5),
        ("search_parameters", {"mode": "on"}), ("enable_search", True), ("chat_template", "{{ messages * 9 }}"),
        ("modalities", True), ("modalities", {"audio": 1}), ("data_sources", [{"type": "azure_search"}]),
    ],
)  # fmt: skip
def test_a_field_that_moves_the_price_is_refused(field: str, value: Any) -> None:
    with pytest.raises(BadRequest) as refused:
        refuse_priced_fields({"model": "m", field: value})
    assert refused.value.param == field.lower()


@pytest.mark.parametrize("field", ["Model", "N", "MAX_TOKENS", "Max_Completion_Tokens", "Stream", "Tools"])
def test_a_governed_field_in_other_letters_is_refused(field: str) -> None:
    with pytest.raises(BadRequest, match="small letters"):
        refuse_priced_fields({field: 1})


def test_a_name_with_a_long_s_is_no_other_name() -> None:
    for name in ("max_token\u017f", "\u017fervice_tier", "me\u017f\u017fages"):
        with pytest.raises(BadRequest):
            refuse_priced_fields({name: 1})


@pytest.mark.parametrize(
    "body",
    [
        {"service_tier": "auto"}, {"service_tier": "flex"}, {"service_tier": None}, {"best_of": 1}, {"audio": None},
        {"modalities": ["text"]}, {"n": 3, "max_tokens": 5, "Novel": 1, "reasoning_effort": "low", "tools": []},
    ],
)  # fmt: skip
def test_what_moves_no_price_is_let_through(body: dict[str, Any]) -> None:
    refuse_priced_fields(body)


@pytest.mark.parametrize(
    "message", [{"content": [{"type": "text"}, {"type": "audio_url"}]}, {"content": "x", "audio": {"id": "a"}}]
)
def test_sound_that_a_provider_fetches_or_keeps_is_refused(message: dict[str, Any]) -> None:
    with pytest.raises(BadRequest, match="held for"):
        refuse_unpriced_parts([message])


def test_a_tool_that_a_provider_runs_at_a_fee_is_refused() -> None:
    for kind in ("web_search", "web_search_preview", "code_interpreter", ["function"], {}, None):
        with pytest.raises(BadRequest) as refused:
            refuse_tools_of_providers([{"type": "function", "function": {"name": "f"}}, {"type": kind}])
        assert refused.value.param == "tools[1].type"


@pytest.mark.parametrize("tools", [None, [], 5, [7], [{}], [{"type": "function"}, {"type": "custom"}]])
def test_tools_that_a_caller_runs_are_let_through(tools: object) -> None:
    refuse_tools_of_providers(tools)
