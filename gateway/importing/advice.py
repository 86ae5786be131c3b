"""What to do about the parts of a config that nothing here reads: one table, the first pattern that fits counts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from gateway.importing.source import matches

if TYPE_CHECKING:
    from gateway.policy.positions import Path

_LIMIT: Final = "One deployment has no limit of its own: write limits for teams and apps."
_RELIABLE: Final = "Retries are the same for every model; write other time-outs into the provider's timeouts."
_CALLBACK: Final = "There are no callbacks: see the ledger (sluice spend), /metrics and the traces of OpenTelemetry."
_REDIS: Final = "Set REDIS_URL in the environment of the gateway."
_NATIVE: Final = "Is not sent by the gateway: let the apps send it with their requests."
_CLOUD_KEY: Final = "Belongs to a provider that is not carried over."
_KEYS: Final = "Keys are made with sluice keys create, which says when they expire; budgets are those of the policy."
_ROUTING: Final = "The first model of a route answers, and the others when it may not or cannot."
_ENVIRONMENT: Final = "Set it in the environment of the gateway, where the policy reads ${NAME}."

_TABLE: Final = (
    *((f"model_list.*.{place}{name}", _LIMIT) for place in ("litellm_params.", "") for name in ("rpm", "tpm")),
    ("model_list.*.litellm_params.max_parallel_requests", _LIMIT),
    (
        "model_list.*.litellm_params.max_budget",
        "Write it under budgets: {scope: org, each: model, …} is for every model.",
    ),
    ("model_list.*.litellm_params.budget_duration", "Belongs to max_budget of this model."),
    *(
        (f"model_list.*.litellm_params.{name}", _RELIABLE)
        for name in ("*timeout", "max_retries", "num_retries", "cooldown_time", "allowed_fails", "retry_policy")
    ),
    ("model_list.*.litellm_params.weight", _ROUTING),
    ("model_list.*.litellm_params.max_tokens", "Write it under output.max_tokens, of a team, app or feature."),
    ("model_list.*.litellm_params.tags", "Give teams and apps tiers: they decide who may use which model."),
    *(
        (
            f"model_list.*.{place}.*_above_*_tokens",
            "Write it into the tiers of the model's price: {above: …, input: …}.",
        )
        for place in ("litellm_params", "model_info")
    ),
    ("model_list.*.litellm_params.*cost*", "Prices are in USD per million tokens: write them in the model's price."),
    (
        "model_list.*.litellm_params.cache_control_injection_points",
        "Write cache: {prefix: {provider_breakpoints: auto}}.",
    ),
    ("model_list.*.litellm_params.api_version", "Azure is spoken to over its v1 API, which needs no version."),
    ("model_list.*.litellm_params.vertex_*", _CLOUD_KEY),
    ("model_list.*.litellm_params.aws_*", "Bedrock is let in with its own key, or an access key and its secret."),
    ("model_list.*.litellm_params.azure_*", "Azure is let in with a key alone."),
    ("model_list.*.litellm_params.*", _NATIVE),
    ("model_list.*.model_info.base_model", "Prices are looked up by the provider's own name of the model."),
    ("model_list.*.model_info.access_groups", "Give teams and apps tiers: they decide who may use which model."),
    ("model_list.*.model_info.*cost*", "Prices are in USD per million tokens: write them in the model's price."),
    ("model_list.*.model_info.*", "Describes the model; the gateway does not need it."),
    ("credential_list.*.credential_values.*", _CLOUD_KEY),
    ("credential_list.*.*", "No model uses it."),
    ("router_settings.routing_strategy*", _ROUTING),
    *(
        (f"{section}.{name}", _RELIABLE)
        for section in ("router_settings", "litellm_settings")
        for name in ("*timeout", "num_retries", "retry_*", "cooldown_*", "allowed_fails*", "model_group_retry_policy")
    ),
    *(
        (f"{section}.{name}", "Put a model with a longer context, or other rules, into the route's fallbacks.")
        for section in ("router_settings", "litellm_settings")
        for name in ("context_window_fallbacks", "content_policy_fallbacks")
    ),
    ("router_settings.provider_budget_config", "Write budgets for teams, apps and features: a provider has none."),
    ("router_settings.enable_tag_filtering", "Give teams and apps tiers: they decide who may use which model."),
    ("router_settings.redis_*", _REDIS),
    ("router_settings.*", "The gateway's router has nothing of the kind."),
    ("litellm_settings.cache_params.supported_call_types", "Chats and embeddings are cached alike."),
    ("litellm_settings.cache_params.similarity_threshold", "Write cache.semantic: its max_error is an error rate."),
    *(
        (f"litellm_settings.cache_params.{name}", _REDIS)
        for name in ("type", "host", "port", "password", "url", "redis_*")
    ),
    ("litellm_settings.cache_params.*", "The cache is in the gateway and needs no connection."),
    *((f"litellm_settings.{name}", _CALLBACK) for name in ("*callback*", "langfuse_*", "turn_off_message_logging")),
    *((f"litellm_settings.default_team_settings.*.{name}", _CALLBACK) for name in ("*callback*", "langfuse_*")),
    ("litellm_settings.default_team_settings.*.*", "Write it for the team, where a policy has it."),
    ("litellm_settings.default_team_params.models", "Give teams tiers: they decide who may use which model."),
    ("litellm_settings.default_team_params.*", "Write it for each team, where a policy has it."),
    (
        "litellm_settings.default_internal_user_params.*",
        "People are let in with roles of their own; see the dashboard.",
    ),
    ("litellm_settings.upperbound_key_generate_params", _KEYS),
    ("litellm_settings.default_key_generate_params", _KEYS),
    ("litellm_settings.drop_params", "Fields that a provider does not know are sent to it, and it may refuse them."),
    ("litellm_settings.modify_params", "Requests are passed on as they came."),
    *(
        (f"litellm_settings.{name}", "The gateway logs JSON, and never a prompt.")
        for name in ("set_verbose", "json_logs")
    ),
    ("litellm_settings.telemetry", "The gateway reports to nobody."),
    ("litellm_settings.mcp_*", "Tools are called by the apps."),
    ("litellm_settings.*", "The gateway has nothing of the kind."),
    (
        "general_settings.master_key",
        "Set SLUICE_ADMIN_KEY in the environment, or take the key that the first start makes.",
    ),
    ("general_settings.database_url", "Set DATABASE_URL to a new, empty database: never to LiteLLM's own."),
    ("general_settings.database_*", "The gateway keeps its own connections to the database."),
    ("general_settings.store_model_in_db", "Models that were added in LiteLLM's own pages are not in this file."),
    (
        "general_settings.pass_through_endpoints",
        "Requests that are not understood are not passed on: call that API itself.",
    ),
    ("general_settings.max_parallel_requests", "Write limits: {concurrent: …} for teams and apps."),
    ("general_settings.alert*", "Alerts are about budgets; write the steps at which they go out under budgets."),
    ("general_settings.*jwt*", "Apps come with keys of the gateway: make them with sluice keys create."),
    ("general_settings.custom_auth*", "Apps come with keys of the gateway: make them with sluice keys create."),
    ("general_settings.*", "The gateway has nothing of the kind."),
    ("guardrails.*.*", "Belongs to the guardrail; a policy does not say it."),
    ("environment_variables.*", _ENVIRONMENT),
    ("callback_settings", _CALLBACK),
    ("include", "Other files are not read: put what they hold into this one, and import it again."),
    ("finetune_settings", "Models are not tuned through the gateway."),
    ("files_settings", "The gateway keeps the files of batches itself."),
    ("mcp_*", "Tools are called by the apps."),
    ("vector_store_*", "Stores of vectors are called by the apps."),
    ("search_tools", "Tools are called by the apps."),
)

PATTERNS: Final = tuple((tuple(pattern.split(".")), sentence) for pattern, sentence in _TABLE)
OPENED: Final = tuple(pattern for pattern, _ in PATTERNS)
"""Parts that the table looks into."""


def advice(path: Path) -> str:
    """Say what to do about a part that was not used."""
    found = (sentence for pattern, sentence in PATTERNS if matches(path, pattern))
    return next(found, "Nothing here corresponds to it.")
