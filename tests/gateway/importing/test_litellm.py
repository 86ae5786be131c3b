"""Four configs as people have them, and what becomes of each."""

from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest

from gateway.importing.litellm import Imported, import_file, import_text
from gateway.policy.source import LoadedPolicy, parse_policy
from governance.money import Nanodollars
from governance.windows import WindowKind

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
CONFIGS = sorted((Path(__file__).parent / "configs").glob("*.yaml"))


def imported(name: str) -> Imported:
    return import_file(Path(__file__).parent / "configs" / f"{name}.yaml", NOON)


def loaded(result: Imported) -> LoadedPolicy:
    env = dict.fromkeys(result.variables, "https://example.com")
    return parse_policy(result.policy, "imported", env, NOON)


def said(result: Imported) -> dict[str, str]:
    """What was said of each part; the last where there is more than one."""
    return {remark.path: remark.sentence for remark in result.remarks}


def names(result: Imported) -> dict[str, tuple[str, str]]:
    return {model.name: (model.provider, model.model) for model in loaded(result).document.models}


def routes(result: Imported) -> dict[str, tuple[str, ...]]:
    return {route.name: route.models for route in loaded(result).document.routes}


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_a_policy_that_was_made_is_valid_and_made_the_same_again(path: Path) -> None:
    first = import_file(path, NOON)
    assert loaded(first).document.version == 1
    assert import_file(path, NOON) == first
    assert first.policy.endswith("\n")


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_no_secret_of_the_config_is_in_what_comes_out(path: Path) -> None:
    result = import_file(path, NOON)
    told = result.policy + "\n".join(result.lines())
    for secret in ("sk-1234", "literal", "hunter2"):
        assert secret not in told


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_every_remark_points_at_the_line_of_its_part(path: Path) -> None:
    lines = path.read_text().splitlines()
    for remark in import_file(path, NOON).remarks:
        last = remark.path.replace("]", "").replace("[", ".").split(".")[-1]
        if not last.isdecimal() and "<<" not in path.read_text():
            assert last in lines[remark.line - 1]


def test_a_small_config_carries_over_nearly_whole() -> None:
    result = imported("startup")
    assert names(result) == {
        "gpt-4o-mini": ("openai", "gpt-4o-mini"),
        "claude": ("anthropic", "claude-opus-4-1"),
        "embeddings": ("openai", "text-embedding-3-small"),
    }
    document = loaded(result).document
    assert {model.name: (model.kind, model.tier) for model in document.models} == {
        "gpt-4o-mini": ("chat", "economy"),
        "claude": ("chat", "frontier"),
        "embeddings": ("embedding", "economy"),
    }
    assert [(each.scope, each.limit, each.window) for each in document.budgets] == [
        ("org", Nanodollars.parse(100), WindowKind.MONTH)
    ]
    assert [(team.name, [app.name for app in team.apps]) for team in document.teams] == [("default", ["default"])]
    assert result.variables == ("ANTHROPIC_API_KEY", "OPENAI_API_KEY")
    assert {remark.path for remark in result.remarks if not remark.carried} == {
        "model_list[1].litellm_params.max_tokens",
        "litellm_settings.drop_params",
        "litellm_settings.success_callback",
        "general_settings.master_key",
    }


def test_deployments_of_one_name_become_a_route_of_that_name_in_their_order() -> None:
    result = imported("platform")
    assert routes(result)["gpt-4o"] == ("gpt-4o@openai-2", "gpt-4o@openai", "gpt-4o@azure", "opus")
    assert routes(result)["fast"] == ("fast@groq", "gpt-4o@openai-2", "gpt-4o@openai", "gpt-4o@azure")


def test_an_alias_is_a_route_to_the_models_of_its_name() -> None:
    result = imported("platform")
    assert routes(result)["gpt-4"] == routes(result)["gpt-4o"]
    assert routes(result)["cheap"] == routes(result)["fast"]
    assert said(result)["router_settings.model_group_alias.lost"] == "Stands for a model that is not in the policy."


def test_a_literal_key_becomes_a_variable_and_a_variable_stays_one() -> None:
    result = imported("platform")
    providers = loaded(result).document.providers
    assert list(providers) == ["azure", "openai", "openai-2", "groq", "gemini", "anthropic"]
    assert {*result.variables} == {
        "ANTHROPIC_API_KEY",
        "AZURE_API_KEY_EU",
        "GEMINI_API_KEY",
        "GROQ_KEY_OF_PLATFORM",
        "OPENAI_API_KEY",
        "OPENAI_KEY_1",
        "SLACK_WEBHOOK_URL",
    }
    assert "OPENAI_KEY_1" in said(result)["model_list[1].litellm_params.api_key"]


def test_prices_for_a_token_become_prices_for_a_million() -> None:
    result = imported("platform")
    assert "price: {input: 1.6, cached_input: 0.4, audio_input: 40, output: 6.4}" in result.policy
    assert said(result)["model_list[7].model_info.input_cost_per_token_above_200k_tokens"].startswith("Write it into")


def test_models_of_providers_that_are_not_spoken_to_are_told_by_name() -> None:
    told = said(imported("platform"))
    assert told["model_list[4]"].startswith("Amazon SageMaker is not carried over")
    assert told["model_list[8]"].startswith("Cohere is not carried over")


def test_azure_is_spoken_to_over_its_own_address_of_the_openai_api() -> None:
    azure = loaded(imported("platform")).document.providers["azure"]
    assert (azure.kind, azure.zone) == ("openai", "cloud")
    assert "base_url: https://example-eu.openai.azure.com/openai/v1\n" in imported("platform").policy


def test_bedrock_carries_over_with_its_region_and_what_signs_its_requests() -> None:
    result = imported("aws")
    providers = loaded(result).document.providers
    assert [(each.kind, each.zone) for each in providers.values()] == [("bedrock", "cloud")] * 4
    assert names(result) == {
        "sonnet": ("bedrock", "eu.anthropic.claude-sonnet-4-5-20250929-v1:0"),
        "nova": ("bedrock-2", "amazon.nova-lite-v1:0"),
        "keyed": ("bedrock_converse", "amazon.nova-pro-v1:0"),
        "lent": ("bedrock-3", "amazon.titan-embed-text-v2:0"),
    }
    assert {*result.variables} == {
        "AWS_ACCESS_KEY_1", "AWS_ACCESS_KEY_ID", "AWS_BEARER_TOKEN_BEDROCK", "AWS_SECRET_ACCESS_KEY",
        "AWS_SECRET_KEY_1", "AWS_SESSION_KEY_1", "ID_OF_TEAM", "SECRET_OF_TEAM",
    }  # fmt: skip
    told = said(result)
    assert told["model_list[4]"] == "A model of bedrock needs the region as aws_region_name, written out."
    assert told["model_list[0].litellm_params.aws_role_name"].startswith("Bedrock is let in with its own key")


def test_teams_get_the_budget_and_the_limits_of_all_teams() -> None:
    result = imported("platform")
    (team,) = loaded(result).document.teams
    assert (team.name, [each.window for each in team.budgets]) == ("search", [WindowKind.WEEK])
    assert team.limits is not None
    assert team.limits.requests_per_minute == 600
    assert said(result)["litellm_settings.default_team_settings[1]"].startswith("Needs a team_id of its own")


def test_budgets_of_users_are_for_each_user() -> None:
    document = loaded(imported("platform")).document
    assert [(each.limit, each.window.value, each.each) for each in document.budgets] == [
        (Nanodollars.parse(10), "day", "user"),
        (Nanodollars.parse(Decimal("0.5")), "366d", "user"),
    ]


def test_guardrails_that_look_for_known_kinds_of_text_are_rules() -> None:
    result = imported("platform")
    rules = [(rule.name, rule.on, rule.detect, rule.action) for rule in loaded(result).document.guardrails]
    assert rules == [
        ("hide-secrets", "input", ("secret", "private_key"), "redact"),
        ("pii", "input", ("card",), "block"),
        ("pii-2", "input", ("email",), "redact"),
        ("pii-3", "output", ("card",), "block"),
        ("pii-4", "output", ("email",), "redact"),
    ]
    told = said(result)
    assert "guardrails[2]" in told
    assert "guardrails[1].litellm_params.pii_entities_config.PERSON" in told


def test_what_helps_when_a_provider_fails_carries_over() -> None:
    result = imported("platform")
    rule = loaded(result).document.reliability
    assert (rule.retries, rule.breaker.failures, rule.breaker.pause, rule.timeouts.total) == (3, 4, 30, 600)
    assert "reliability:" not in imported("startup").policy


def test_the_cache_is_kept_but_shared_by_less() -> None:
    cache = loaded(imported("platform")).document.cache.exact
    assert cache is not None
    assert (cache.ttl, cache.shared_by) == (600, "app")


def test_machines_of_our_own_are_in_a_zone_of_their_own_and_never_free_by_accident() -> None:
    result = imported("on_prem")
    document = loaded(result).document
    zones = {name: (each.kind, each.zone) for name, each in document.providers.items()}
    assert zones["hosted_vllm"] == zones["hosted_vllm-2"] == ("vllm", "onprem")
    assert zones["ollama_chat"] == ("openai", "cloud")  # what the variable holds is not known
    assert zones["anthropic"] == ("anthropic", "cloud")
    unpriced = {"qwen@hosted_vllm", "llama@ollama_chat", "bge", "fine-tuned@together_ai", "claude-gateway"}
    assert set(loaded(result).unpriced) == unpriced
    assert result.policy.count("# no price is known: write one") == len(unpriced)
    assert said(result)["model_list[3]"].startswith("Costs nothing here")


def test_addresses_are_written_as_the_gateway_wants_them() -> None:
    policy = imported("on_prem").policy
    for address in (
        "http://10.0.3.7:8000/v1\n",
        "http://gpu2.cluster.local:8000/v1\n",
        "${OLLAMA_API_BASE}/v1\n",
        "${OPENAI_URL_1}\n",
        "http://127.0.0.1:8081/v1\n",
        "https://proxy.example.com\n",
    ):
        assert f"base_url: {address}" in policy


def test_a_fallback_for_all_follows_every_chat_model_but_itself() -> None:
    result = imported("on_prem")
    assert routes(result)["llama"] == ("llama@ollama_chat", "claude-gateway")
    assert "claude-gateway" not in routes(result)
    assert "bge" not in routes(result)


def test_a_semantic_cache_becomes_an_exact_one() -> None:
    result = imported("on_prem")
    assert loaded(result).document.cache.exact is not None
    assert "litellm_settings.cache_params.similarity_threshold" in said(result)


def test_wildcards_and_what_is_no_chat_are_left_out_and_the_rest_is_still_a_policy() -> None:
    result = imported("wild")
    assert loaded(result).document.models == ()
    told = said(result)
    assert [told[f"model_list[{index}]"].partition(":")[0] for index in range(7)] == [
        "Wildcards are not offered, so that every model has a price",
        "Wildcards are not offered, so that every model has a price",
        "Only models that chat, complete or embed are served.",
        "Only models that chat, complete or embed are served.",
        "Amazon SageMaker is not carried over",
        "The name does not tell its provider",
        "A model of hosted_vllm needs the address of its server as api_base.",
    ]
    assert told["litellm_settings.max_budget"].startswith("A budget of nothing")
    assert told["environment_variables.OPENAI_API_KEY"].startswith("Set it in the environment")
    assert told["include"].startswith("Other files are not read")
    assert told["something_new"] == "Nothing here corresponds to it."


@pytest.mark.parametrize(
    ("period", "window"),
    [
        ("1d", "day"),
        ("30d", "month"),
        ("1mo", "month"),
        ("7d", "week"),
        ("45m", "45m"),
        ("90d", "90d"),
        ("9y", "month"),
    ],
)
def test_a_period_becomes_a_window(period: str, window: str) -> None:
    text = f"litellm_settings: {{max_budget: 5, budget_duration: {period}}}\n"
    (budget,) = loaded(import_text(text, "config.yaml", NOON)).document.budgets
    assert budget.window.value == window
