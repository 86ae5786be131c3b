"""Open the policy's providers: which kinds there are, and how each behaves where the OpenAI API leaves it open."""

from collections.abc import Mapping
from contextlib import AsyncExitStack

from gateway.policy.document import Policy
from gateway.policy.models import AnthropicProvider, EngineProvider, OpenAIProvider, Provider, VllmProvider
from gateway.providers.absent import AbsentUpstream
from gateway.providers.openai import Habits, OpenAIUpstream
from gateway.providers.transport import open_client
from gateway.providers.upstream import Upstream

OWN_MACHINES = Habits(
    leave="cancel", usage_per_chunk=True, salted=True, limit_field="max_completion_tokens", watched=True
)
"""The bundled engine and vLLM: stopping there stops the cost, and they can say the usage so far with every chunk."""

CLOUD = Habits(leave="drain", usage_per_chunk=False, salted=False, limit_field="max_tokens", watched=False)
"""Whoever else speaks the API: they may bill an answer whether or not anybody waits for it."""

_OPENAI_HOST = "api.openai.com"


async def open_upstreams(
    policy: Policy, unavailable: Mapping[str, str], engine: str, stack: AsyncExitStack
) -> dict[str, Upstream]:
    """Open every provider of the policy; clients are closed with `stack`.

    Args:
        policy: the policy.
        unavailable: providers that cannot be used, such as for want of a key, and why.
        engine: where the bundled engine listens.
        stack: what to close at the end.
    """
    return {
        name: (
            AbsentUpstream(name, provider.zone, unavailable[name])
            if name in unavailable
            else await _open(name, provider, engine, stack)
        )
        for name, provider in policy.providers.items()
    }


async def _open(name: str, provider: Provider, engine: str, stack: AsyncExitStack) -> Upstream:
    match provider:
        case EngineProvider():
            address, habits, key = engine, OWN_MACHINES, None
        case VllmProvider():
            address, habits, key = str(provider.base_url), OWN_MACHINES, provider.api_key
        case OpenAIProvider():
            address, habits, key = str(provider.base_url), _cloud(provider), provider.api_key
        case AnthropicProvider():
            return AbsentUpstream(name, provider.zone, "providers of kind anthropic are not spoken to yet")
    client = await stack.enter_async_context(open_client(address))
    return OpenAIUpstream(name, provider.zone, habits, client, key.get_secret_value() if key else None)


def _cloud(provider: OpenAIProvider) -> Habits:
    """OpenAI itself wants the newer name of the bound, which its reasoning models insist on; others know the older."""
    if provider.base_url.host != _OPENAI_HOST:
        return CLOUD
    return Habits(
        leave="drain", usage_per_chunk=False, salted=False, limit_field="max_completion_tokens", watched=False
    )
