"""Open a provider of the policy: which kinds there are, and how each behaves where the OpenAI API leaves it open."""

from contextlib import AsyncExitStack
from dataclasses import replace
from time import time

from gateway.policy.models import AnthropicProvider, EngineProvider, OpenAIProvider, Provider, VllmProvider
from gateway.providers.absent import AbsentUpstream
from gateway.providers.apis import Api
from gateway.providers.apis.anthropic import AnthropicApi
from gateway.providers.apis.openai import Manners, OpenAIApi
from gateway.providers.apis.responses import ResponsesApi
from gateway.providers.http import Habits, HttpUpstream
from gateway.providers.transport import open_client
from gateway.providers.upstream import Upstream

OWN_MACHINES = Habits(leave="cancel", watched=True)
"""The bundled engine and vLLM: stopping there stops the cost."""

CLOUD = Habits(leave="drain", watched=False)
"""Whoever sells tokens: they may bill an answer whether or not anybody waits for it."""

OWN_MANNERS = Manners(
    usage_per_chunk=True, salted=True, limit_field="max_completion_tokens", knows=frozenset({"top_k"})
)
ENGINE_MANNERS = replace(OWN_MANNERS, ranked=True)
"""vLLM knows priorities only where it was started with them, and refuses them elsewhere."""

OPENAI_MANNERS = Manners(usage_per_chunk=False, salted=False, limit_field="max_completion_tokens")
"""OpenAI itself wants the newer name of the bound, which its reasoning models insist on; others know the older."""

OTHER_MANNERS = Manners(usage_per_chunk=False, salted=False, limit_field="max_tokens")

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
    address, habits, api = _spoken(section, engine)
    client = await stack.enter_async_context(open_client(address))
    return HttpUpstream(name, section.zone, habits, api, client)


def _spoken(section: Provider, engine: str) -> tuple[str, Habits, Api]:
    match section:
        case EngineProvider():
            return engine, OWN_MACHINES, OpenAIApi(None, ENGINE_MANNERS)
        case VllmProvider():
            return str(section.base_url), OWN_MACHINES, OpenAIApi(_key(section), OWN_MANNERS)
        case OpenAIProvider(api="responses"):
            return str(section.base_url), CLOUD, ResponsesApi(_key(section))
        case OpenAIProvider():
            manners = OPENAI_MANNERS if section.base_url.host == _OPENAI_HOST else OTHER_MANNERS
            return str(section.base_url), CLOUD, OpenAIApi(_key(section), manners)
        case AnthropicProvider():
            return str(section.base_url), CLOUD, AnthropicApi(_key(section), time)


def _key(section: VllmProvider | OpenAIProvider | AnthropicProvider) -> str | None:
    return section.api_key.get_secret_value() if section.api_key else None
