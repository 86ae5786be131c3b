"""Open a provider of the policy: which kinds there are, and how each behaves where the OpenAI API leaves it open."""

from contextlib import AsyncExitStack
from importlib.util import find_spec
from time import time
from uuid import uuid4

from gateway.policy.models import (
    AnthropicProvider,
    BedrockProvider,
    EngineProvider,
    GeminiProvider,
    OpenAIProvider,
    Provider,
    VllmProvider,
)
from gateway.providers.absent import AbsentUpstream
from gateway.providers.apis import Api
from gateway.providers.apis.anthropic import AnthropicApi
from gateway.providers.apis.gemini import GeminiApi
from gateway.providers.apis.manners import ENGINE, OWN, manners_of
from gateway.providers.apis.openai import OpenAIApi
from gateway.providers.apis.responses import ResponsesApi
from gateway.providers.http import Habits, HttpUpstream
from gateway.providers.transport import open_client
from gateway.providers.upstream import Upstream

OWN_MACHINES = Habits(leave="cancel", watched=True)
"""The bundled engine and vLLM: stopping there stops the cost."""

CLOUD = Habits(leave="drain", watched=False)
"""Whoever sells tokens: they may bill an answer whether or not anybody waits for it."""


def way_to(section: Provider) -> object:
    """Return all of a provider's section that opening it depends on, to be compared."""
    return section.model_dump(exclude={"machine_usd_per_hour", "batch"})


async def open_upstream(
    name: str, section: Provider, absent: str | None, engine: str, stack: AsyncExitStack
) -> Upstream:
    """Open a provider of a policy; its client is closed with `stack`.

    Args:
        name: what the policy calls it.
        section: what the policy says of it.
        absent: why it cannot be used, such as for want of a key; None when it can.
        engine: where the bundled engine listens.
        stack: what to close at the end.
    """
    if absent is None and isinstance(section, BedrockProvider) and find_spec("botocore") is None:
        absent = "it needs the extra: pip install 'sluicegate[bedrock]'"
    if absent is not None:
        return AbsentUpstream(name, section.zone, absent)
    address, habits, api = _spoken(section, engine)
    client = await stack.enter_async_context(open_client(address))
    return HttpUpstream(name, section.zone, habits, api, client)


def _spoken(section: Provider, engine: str) -> tuple[str, Habits, Api]:
    match section:
        case EngineProvider():
            return engine, OWN_MACHINES, OpenAIApi(None, ENGINE)
        case VllmProvider():
            return str(section.base_url), OWN_MACHINES, OpenAIApi(_key(section), OWN)
        case BedrockProvider():
            return section.address, CLOUD, _bedrock(section)
        case _:
            return str(section.base_url), CLOUD, _sold(section)


def _sold(section: OpenAIProvider | AnthropicProvider | GeminiProvider) -> Api:
    match section:
        case OpenAIProvider(api="responses"):
            return ResponsesApi(_key(section))
        case OpenAIProvider():
            return OpenAIApi(_key(section), manners_of(section.base_url.host))
        case AnthropicProvider():
            return AnthropicApi(_key(section), time)
        case GeminiProvider():
            return GeminiApi(_key(section), time)


def _bedrock(section: BedrockProvider) -> Api:
    # ruff: noqa: PLC0415  only a policy that names Bedrock needs botocore
    from gateway.providers.apis.bedrock import BedrockApi
    from gateway.providers.apis.signing import key, signature

    api_key, who, secret = _key(section), section.access_key_id, section.secret_access_key
    if who is None or secret is None:
        sign = key(api_key or "")
    else:
        token = section.session_token.get_secret_value() if section.session_token else None
        sign = signature(who.get_secret_value(), secret.get_secret_value(), token, section.region)
    return BedrockApi(sign, time, lambda: f"chatcmpl-{uuid4().hex}")


def _key(section: VllmProvider | OpenAIProvider | AnthropicProvider | GeminiProvider | BedrockProvider) -> str | None:
    return section.api_key.get_secret_value() if section.api_key else None
