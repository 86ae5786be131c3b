"""Open a provider of the policy: which kinds there are, and how each behaves where the OpenAI API leaves it open."""

from contextlib import AsyncExitStack

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
    if absent is not None:
        return AbsentUpstream(name, section.zone, absent)
    match section:
        case EngineProvider():
            address, habits, key = engine, OWN_MACHINES, None
        case VllmProvider():
            address, habits, key = str(section.base_url), OWN_MACHINES, section.api_key
        case OpenAIProvider():
            address, habits, key = str(section.base_url), _cloud(section), section.api_key
        case AnthropicProvider():
            return AbsentUpstream(name, section.zone, "providers of kind anthropic are not spoken to yet")
    client = await stack.enter_async_context(open_client(address))
    return OpenAIUpstream(name, section.zone, habits, client, key.get_secret_value() if key else None)


def _cloud(provider: OpenAIProvider) -> Habits:
    """OpenAI itself wants the newer name of the bound, which its reasoning models insist on; others know the older."""
    if provider.base_url.host != _OPENAI_HOST:
        return CLOUD
    return Habits(
        leave="drain", usage_per_chunk=False, salted=False, limit_field="max_completion_tokens", watched=False
    )
