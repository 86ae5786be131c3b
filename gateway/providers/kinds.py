"""Open a provider of the policy: which kinds there are, and how each behaves where the OpenAI API leaves it open."""

from contextlib import AsyncExitStack
from dataclasses import replace
from importlib.util import find_spec
from time import time
from uuid import uuid4

from gateway.policy.models import (
    AnthropicProvider,
    BedrockProvider,
    DrainUntil,
    EngineProvider,
    GeminiProvider,
    OnLeave,
    OpenAIProvider,
    Provider,
    VllmProvider,
)
from gateway.policy.reliability import Timeouts
from gateway.providers.absent import AbsentUpstream
from gateway.providers.apis import Api
from gateway.providers.apis.anthropic import AnthropicApi
from gateway.providers.apis.counts import COUNT_TOKENS, GEMINI, TOKENIZE
from gateway.providers.apis.gemini import GeminiApi
from gateway.providers.apis.manners import OWN, RANKED, manners_of
from gateway.providers.apis.openai import OpenAIApi
from gateway.providers.apis.responses import ResponsesApi
from gateway.providers.http import Habits, HttpUpstream
from gateway.providers.leaving import CANCEL, DRAIN, ESTIMATE, Leave
from gateway.providers.transport import open_client
from gateway.providers.upstream import Upstream

ENGINE = Habits(leave=CANCEL, sells=False, watched=True, counter=TOKENIZE)
VLLM = Habits(leave=CANCEL, sells=False, watched=True, metered=True, counter=TOKENIZE)
"""Machines of our own: stopping there stops the cost."""

ANTHROPIC = Habits(leave=DRAIN, sells=True, watched=False, counter=COUNT_TOKENS)
GOOGLE = Habits(leave=DRAIN, sells=True, watched=False, counter=GEMINI)
CLOUD = Habits(leave=DRAIN, sells=True, watched=False)
"""Whoever sells tokens: they may bill an answer whether or not anybody waits for it."""

_WORDS = {"cancel": CANCEL, "drain": DRAIN, "estimate": ESTIMATE}


def way_to(section: Provider) -> object:
    """Return all of a provider's section that opening it depends on, to be compared."""
    return section.model_dump(exclude={"machine_usd_per_hour", "batch"})


async def open_upstream(
    name: str, section: Provider, absent: str | None, timeouts: Timeouts, engine: str, stack: AsyncExitStack
) -> Upstream:
    """Open a provider of a policy; its client is closed with `stack`.

    Args:
        name: what the policy calls it.
        section: what the policy says of it.
        absent: why it cannot be used, such as for want of a key; None when it can.
        timeouts: how long it is waited for.
        engine: where the bundled engine listens.
        stack: what to close at the end.
    """
    if absent is None and isinstance(section, BedrockProvider) and find_spec("botocore") is None:
        absent = "it needs the extra: pip install 'sluicegate[bedrock]'"
    if absent is not None:
        return AbsentUpstream(name, section.zone, absent)
    address, habits, api = _spoken(section, engine)
    leave = habits.leave if section.on_leave is None else _leave(section.on_leave)
    habits = replace(habits, leave=leave, timeouts=timeouts)
    client = await stack.enter_async_context(open_client(address))
    return HttpUpstream(name, section.zone, habits, api, client)


def _spoken(section: Provider, engine: str) -> tuple[str, Habits, Api]:
    match section:
        case EngineProvider():
            return engine, ENGINE, OpenAIApi(None, RANKED)
        case VllmProvider():
            return str(section.base_url), VLLM, OpenAIApi(_key(section), OWN)
        case BedrockProvider():
            return section.address, CLOUD, _bedrock(section)
        case _:
            return str(section.base_url), *_sold(section)


def _sold(section: OpenAIProvider | AnthropicProvider | GeminiProvider) -> tuple[Habits, Api]:
    match section:
        case OpenAIProvider(api="responses"):
            return CLOUD, ResponsesApi(_key(section))
        case OpenAIProvider():
            return CLOUD, OpenAIApi(_key(section), manners_of(section.base_url.host))
        case AnthropicProvider():
            return ANTHROPIC, AnthropicApi(_key(section), time)
        case GeminiProvider():
            return GOOGLE, GeminiApi(_key(section), time)


def _leave(said: OnLeave) -> Leave:
    if isinstance(said, DrainUntil):
        until = said.drain_until
        return replace(DRAIN, tokens=until.tokens, seconds=until.seconds, cost=until.usd)
    return _WORDS[said]


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
