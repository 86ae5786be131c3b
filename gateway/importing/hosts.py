"""LiteLLM's providers, by the prefix of a model, and what each one is here. To add one, add its line."""

from __future__ import annotations

import re
from collections.abc import Mapping
from ipaddress import ip_address
from typing import Literal, NamedTuple
from urllib.parse import urlsplit


class Host(NamedTuple):
    """A provider of LiteLLM, as the policy would have it.

    Attributes:
        kind: How it is spoken to.
        base_url: Where it is, unless a model says otherwise; None where every model must say.
        key: The variable that LiteLLM takes its key from when a model says none; empty where it needs none.
        suffix: What follows the address that people write for LiteLLM.
    """

    kind: Literal["openai", "anthropic", "bedrock", "gemini", "vllm"]
    base_url: str | None
    key: str = ""
    suffix: str = ""


HOSTS: Mapping[str, Host] = {
    "anthropic": Host("anthropic", "https://api.anthropic.com", "ANTHROPIC_API_KEY"),
    "azure": Host("openai", None, "AZURE_API_KEY", suffix="/openai/v1"),
    "bedrock": Host("bedrock", None),
    "bedrock_converse": Host("bedrock", None),
    "cerebras": Host("openai", "https://api.cerebras.ai/v1", "CEREBRAS_API_KEY"),
    "custom_openai": Host("openai", None),
    "dashscope": Host("openai", "https://dashscope-intl.aliyuncs.com/compatible-mode/v1", "DASHSCOPE_API_KEY"),
    "deepinfra": Host("openai", "https://api.deepinfra.com/v1/openai", "DEEPINFRA_API_KEY"),
    "deepseek": Host("openai", "https://api.deepseek.com/v1", "DEEPSEEK_API_KEY"),
    "fireworks_ai": Host("openai", "https://api.fireworks.ai/inference/v1", "FIREWORKS_AI_API_KEY"),
    "gemini": Host("gemini", "https://generativelanguage.googleapis.com/v1beta", "GEMINI_API_KEY"),
    "groq": Host("openai", "https://api.groq.com/openai/v1", "GROQ_API_KEY"),
    "hosted_vllm": Host("vllm", None),
    "litellm_proxy": Host("openai", None),
    "llamafile": Host("openai", "http://127.0.0.1:8080/v1"),
    "lm_studio": Host("openai", None),
    "mistral": Host("openai", "https://api.mistral.ai/v1", "MISTRAL_API_KEY"),
    "moonshot": Host("openai", "https://api.moonshot.ai/v1", "MOONSHOT_API_KEY"),
    "nvidia_nim": Host("openai", "https://integrate.api.nvidia.com/v1", "NVIDIA_NIM_API_KEY"),
    "ollama": Host("openai", "http://127.0.0.1:11434/v1", suffix="/v1"),
    "ollama_chat": Host("openai", "http://127.0.0.1:11434/v1", suffix="/v1"),
    "openai": Host("openai", "https://api.openai.com/v1", "OPENAI_API_KEY"),
    "openai_like": Host("openai", None),
    "openrouter": Host("openai", "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"),
    "perplexity": Host("openai", "https://api.perplexity.ai", "PERPLEXITYAI_API_KEY"),
    "sambanova": Host("openai", "https://api.sambanova.ai/v1", "SAMBANOVA_API_KEY"),
    "together_ai": Host("openai", "https://api.together.xyz/v1", "TOGETHERAI_API_KEY"),
    "xai": Host("openai", "https://api.x.ai/v1", "XAI_API_KEY"),
}

ABSENT: Mapping[str, str] = {
    "azure_ai": "Azure AI",
    "azure_text": "Azure OpenAI",
    "cohere": "Cohere",
    "cohere_chat": "Cohere",
    "databricks": "Databricks",
    "huggingface": "Hugging Face",
    "replicate": "Replicate",
    "sagemaker": "Amazon SageMaker",
    "sagemaker_chat": "Amazon SageMaker",
    "text-completion-openai": "OpenAI text completion",
    "vertex_ai": "Google Vertex AI",
    "vertex_ai_beta": "Google Vertex AI",
    "voyage": "Voyage AI",
    "watsonx": "IBM watsonx",
}
"""Providers that this importer does not carry over, as people call them."""

_UNPREFIXED = (
    (re.compile(r"gpt|o[1-9]|chatgpt|text-embedding|ft:gpt|dall-e|whisper|tts|codex|omni-moderation"), "openai"),
    (re.compile(r"claude"), "anthropic"),
    (re.compile(r"gemini"), "vertex_ai"),
    (re.compile(r"command|embed-|rerank-"), "cohere"),
)
"""Names that LiteLLM knows without a prefix."""

_OURS = re.compile(r"[^.]+|.+\.(local|localhost|internal|lan|home|corp|svc|cluster\.local)")


def parted(model: str, provider: str | None) -> tuple[str, str]:
    """Part a model of LiteLLM into the prefix of its provider and what the provider calls it.

    Args:
        model: Such as `groq/llama-3.1-8b-instant`, or a name that LiteLLM knows by itself.
        provider: What the config says the provider is, if it does.

    Returns:
        Both; the prefix is empty where nothing tells it.
    """
    prefix, slash, name = model.partition("/")
    known = prefix in HOSTS or prefix in ABSENT
    if provider:
        return provider, name if slash and prefix == provider else model
    if slash:
        return (prefix, name) if known else ("", model)
    return next((owner for names, owner in _UNPREFIXED if names.match(model)), ""), model


def zone_of(base_url: str) -> str:
    """Guess where a provider's machines are: `onprem` at a private address, and `cloud` everywhere else."""
    host = urlsplit(base_url).hostname or ""
    try:
        return "cloud" if ip_address(host).is_global else "onprem"
    except ValueError:
        return "onprem" if _OURS.fullmatch(host) and "$" not in base_url else "cloud"
