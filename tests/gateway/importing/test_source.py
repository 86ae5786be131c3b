"""Configs that are none, configs of the wrong shape, and the promise that nothing is left out in silence."""

from datetime import UTC, datetime
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from gateway.importing.litellm import Imported, import_text
from gateway.importing.source import ConfigUnreadable
from gateway.policy.source import parse_policy

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
WORDS = st.text("abcdefghij_", min_size=1, max_size=12)
VALUES = st.one_of(
    st.integers(), st.booleans(), st.text(max_size=20), st.none(), st.floats(allow_nan=False, allow_infinity=False)
)
SECTIONS = ("model_list", "litellm_settings", "router_settings", "general_settings")
KEYS = (
    "model_name", "litellm_params", "model", "api_base", "api_key", "model_info", "mode", "input_cost_per_token",
    "output_cost_per_token", "fallbacks", "default_fallbacks", "model_group_alias", "cache", "cache_params", "ttl",
    "max_budget", "budget_duration", "default_team_settings", "default_team_params", "team_id", "alerting", "order",
    "default_internal_user_params", "num_retries", "allowed_fails", "cooldown_time", "request_timeout",
    "guardrail", "guardrail_name", "pii_entities_config", "rpm_limit", "<<",
)  # fmt: skip
TEXTS = (
    "openai/gpt-4o", "claude-opus-4-1", "hosted_vllm/x", "ollama/y", "os.environ/KEY", "http://10.0.0.1/v1", "slack",
    "presidio", "hide-secrets", "pre_call", "embedding", "30d", "*", "openai/", "https://a:b@c/", "on", "1e-6",
)  # fmt: skip
ANYTHING: Any = st.recursive(
    st.one_of(VALUES, st.sampled_from(TEXTS)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(st.one_of(st.sampled_from(KEYS), WORDS), inner, max_size=5)
    ),
    max_leaves=25,
)


def imported(text: str) -> Imported:
    return import_text(text, "config.yaml", NOON)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "has none of model_list, litellm_settings, router_settings, general_settings"),
        ("- a list\n", "is no config of a LiteLLM proxy"),
        ("just words\n", "is no config of a LiteLLM proxy"),
        ("version: 1\nproviders: {}\n", "is no config of a LiteLLM proxy"),
        ("model_list:\n  - {model_name: a\nother: 1\n", "config.yaml:2:5: opens a bracket that is never closed"),
        ("model_list: [\t]\n  bad: indent: twice\n", "config.yaml:"),
        ("a: &a [*a]\nmodel_list: []\n", "config.yaml:"),
    ],
)
def test_what_is_no_config_is_refused_with_the_place(text: str, told: str) -> None:
    with pytest.raises(ConfigUnreadable) as caught:
        imported(text)
    assert told in str(caught.value)


@pytest.mark.parametrize(
    ("text", "path", "sentence"),
    [
        ("model_list: none\n", "model_list", "Should be a list."),
        ("model_list: [{model_name: a}]\n", "model_list[0]", "Needs a model_name and, under litellm_params, a model."),
        ("model_list: [just-a-name]\n", "model_list[0]", "Needs a model_name and, under litellm_params, a model."),
        ("model_list: []\nlitellm_settings: [a]\n", "litellm_settings", "Should be a mapping."),
        ("litellm_settings: {max_budget: lots}\n", "litellm_settings.max_budget", "Should be a number."),
        (
            "litellm_settings: {max_budget: os.environ/MOST}\n",
            "litellm_settings.max_budget",
            "Comes from the environment, which the policy reads for secrets and addresses only.",
        ),
        ("litellm_settings: {num_retries: 11}\n", "litellm_settings.num_retries",
         "Should be a whole number from 0 to 10."),
        ("litellm_settings: {cache: perhaps}\n", "litellm_settings.cache", "Should be true or false."),
        ("model_list: []\nmodel_list: []\n", "model_list", "Is given twice; the first is on line 1."),
        (
            "model_list: [{model_name: a, litellm_params: {model: gpt-4o, api_base: 'ftp://x'}}]\n",
            "model_list[0].litellm_params.api_base",
            "Should be an address that begins with http:// or https://.",
        ),
        (
            "model_list: [{model_name: a, litellm_params: {model: gpt-4o, input_cost_per_token: 1}}]",
            "model_list[0].litellm_params.input_cost_per_token",
            "A price is stated in part, or is none for a token: list prices are looked up instead.",
        ),
        ("general_settings: {global_max_parallel_requests: 0.5}\n", "general_settings.global_max_parallel_requests",
         "Should be a whole number above 0."),
    ],
)  # fmt: skip
def test_a_part_of_the_wrong_shape_is_told_and_the_rest_carries_over(text: str, path: str, sentence: str) -> None:
    result = imported(text)
    assert (path, sentence) in {(remark.path, remark.sentence) for remark in result.remarks}
    assert parse_policy(result.policy, "imported", {}, NOON)


@given(st.dictionaries(st.sampled_from((*SECTIONS, "guardrails", "credential_list")), ANYTHING, min_size=1))
def test_whatever_a_config_holds_the_policy_is_valid(config: dict[str, Any]) -> None:
    try:
        result = imported(yaml.safe_dump(config, allow_unicode=True))
    except ConfigUnreadable:
        return
    assert parse_policy(result.policy, "imported", {}, NOON)


@given(
    st.lists(
        st.tuples(WORDS, WORDS, WORDS, st.sampled_from(("params", "info", "entry"))),
        min_size=1,
        max_size=4,
        unique=True,
    ),
    st.dictionaries(st.sampled_from(SECTIONS[1:]), st.dictionaries(WORDS, st.integers(1), min_size=1, max_size=3)),
)
def test_whatever_is_not_understood_is_told(models: list[tuple[str, str, str, str]], settings: dict[str, Any]) -> None:
    entries: list[Any] = []
    expected: set[str] = set()
    for index, (name, key, value, where) in enumerate(models):
        places: dict[str, Any] = {"params": {"model": "openai/gpt-4o"}, "info": {}, "entry": {}}
        places[where][f"new_{key}"] = value
        entry = {
            "model_name": name,
            "litellm_params": places["params"],
            "model_info": places["info"],
            **places["entry"],
        }
        entries.append(entry)
        inside = {"params": ".litellm_params", "info": ".model_info", "entry": ""}[where]
        expected.add(f"model_list[{index}]{inside}.new_{key}")
    expected |= {f"{section}.{key}" for section, found in settings.items() for key in found if key != "cache"}
    result = imported(yaml.safe_dump({"model_list": entries, **settings}))
    assert expected <= {remark.path for remark in result.remarks}


@given(st.text("abcdefghijklmnopqrstuvwxyz0123456789", min_size=12, max_size=30))
def test_a_secret_is_copied_from_no_place(secret: str) -> None:
    config = {
        "model_list": [
            {
                "model_name": "a",
                "litellm_params": {
                    "model": "openai/gpt-4o",
                    "api_key": f"sk-{secret}",
                    "api_base": f"https://x.example/v1?key={secret}",
                    "extra_headers": {"x-key": secret},
                    "aws_secret_access_key": secret,
                    "rpm": secret,
                },
                "model_info": {"mode": "chat", "note": secret},
            }
        ],
        "credential_list": [{"credential_name": "c", "credential_values": {"api_key": secret}}],
        "litellm_settings": {"cache": secret, "cache_params": {"password": secret, "ttl": secret}},
        "general_settings": {
            "master_key": secret,
            "database_url": f"postgresql://u:{secret}@h/d",
            "alerting": [secret],
        },
        "guardrails": [{"guardrail_name": "g", "litellm_params": {"guardrail": "lakera", "api_key": secret}}],
        "environment_variables": {"OPENAI_API_KEY": secret},
    }
    result = imported(yaml.safe_dump(config))
    assert secret not in result.policy
    assert secret not in "\n".join(result.lines())


def test_a_merge_key_gives_what_the_mapping_does_not_say_itself() -> None:
    text = (
        "shared: &shared {api_key: os.environ/ONE, model: openai/gpt-4o}\n"
        "model_list:\n  - model_name: a\n    litellm_params: {<<: *shared, model: openai/gpt-4.1}\n"
    )
    result = imported(text)
    assert "model: gpt-4.1," in result.policy
    assert result.variables == ("ONE",)
