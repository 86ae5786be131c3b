"""A gateway in front of the fake provider, which it knows as one of any kind."""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

import httpx
import msgspec

from gateway.counting.tally import Prompt as ChatPrompt
from gateway.counting.tally import Tally
from gateway.endpoints import conversation
from gateway.wire.departure import Departure
from governance.ledger.reading.reports import RequestRow
from governance.money import Nanodollars
from tests.support.providers.answer import Tokens
from tests.support.providers.fake import FakeProvider
from tests.support.running_gateway import POLICY, RunningGateway, running_gateway
from tests.support.scripted_upstream import serve

KINDS: Final[Mapping[str, Mapping[str, Any]]] = {
    "vllm": {"kind": "vllm", "zone": "onprem", "base_url": "/v1"},
    "chat": {"kind": "openai", "zone": "cloud", "base_url": "/v1"},
    "responses": {"kind": "openai", "zone": "cloud", "base_url": "/v1", "api": "responses"},
    "messages": {"kind": "anthropic", "zone": "cloud", "base_url": "/"},
    "gemini": {"kind": "gemini", "zone": "cloud", "base_url": "/v1beta"},
    "converse": {"kind": "bedrock", "zone": "cloud", "base_url": "/", "region": "eu-central-1"},
}
"""What the policy says of the provider, by the dialect that is spoken to it."""

TELLS_PER_CHUNK: Final = frozenset({"vllm", "gemini"})
"""Those that tell the usage so far with every chunk: it is exact wherever an answer stops."""

WRITES: Final = frozenset(KINDS) - {"gemini"}
"""Those that tell what was written to a cache."""

UNAIDED: Final = {"retries": 0, "breaker": {"failures": 1_000_000}}
"""Every failure of the provider is the request's: no call is made again, and none is spared the provider."""

MESSAGES: Final = [{"role": "user", "content": "Hi"}]
PRICE: Final = {"input": 3, "cached_input": 0.3, "cache_write": 3.75, "cache_write_1h": 6, "output": 15}


@dataclass
class FarGateway:
    """A gateway whose model `far` the fake provider serves.

    Attributes:
        kind: which of `KINDS` the provider is.
        leavings: one permit for every client that the gateway has found gone.
        before: how many requests are not to be counted.
    """

    gateway: RunningGateway
    fake: FakeProvider
    key: str
    kind: str
    leavings: asyncio.Semaphore
    before: int = 0

    @property
    def upstream(self) -> Any:
        """The provider as the gateway knows it, whose habits a test may change."""
        catalogue = self.gateway.services.in_force.governed.chat.catalogue
        return catalogue.upstream(catalogue.models["far"])

    def streamed(self, path: str = "/v1/chat/completions", **more: Any) -> Any:
        """Return the stream of an answer, to be entered."""
        body = {
            "model": "far",
            "messages": MESSAGES,
            "max_tokens": 64,
            "stream": True,
        } | more
        return self.gateway.client.stream("POST", path, json=body, headers={"x-api-key": self.key})

    async def plain(self, path: str = "/v1/chat/completions", **more: Any) -> httpx.Response:
        """Ask for an answer in one piece."""
        body = {"model": "far", "messages": MESSAGES, "max_tokens": 64} | more
        return await self.gateway.client.post(path, json=body, headers={"x-api-key": self.key})

    def tally(self) -> Tally:
        """Return what the gateway thinks of the tokens of such a request, where nobody tells it."""
        chat = self.gateway.services.in_force.governed.chat
        prompt = ChatPrompt({"messages": MESSAGES}, len(msgspec.json.encode({"messages": MESSAGES})) + 64)
        return chat.purchasing.counting.tally(chat.catalogue.models["far"], prompt)

    async def row(self, count: int = 1) -> RequestRow:
        """Return the latest of so many requests in the ledger."""
        return (await self.gateway.rows(self.before + count))[0]


@asynccontextmanager
async def far_gateway(tmp_path: Path, kind: str, **more: Any) -> AsyncGenerator[FarGateway]:
    """Serve a gateway over a fake provider of that kind; `more` is said of the provider in the policy."""
    fake = FakeProvider()
    fake.models = ("far-1",)
    async with serve(fake.app()) as port:
        address = f"http://127.0.0.1:{port}{KINDS[kind]['base_url']}"
        said = {**KINDS[kind], "base_url": address, "api_key": "${FAR_KEY}"} | more
        document = POLICY | {
            "providers": POLICY["providers"] | {"far": said},
            "models": [
                *POLICY["models"],
                {"name": "far", "provider": "far", "model": "far-1", "tier": "cloud", "price": PRICE},
            ],
            "cache": {},
            "reliability": UNAIDED,
        }
        leavings = asyncio.Semaphore(0)

        class Noticed(Departure):
            async def _watch(self) -> None:
                await super()._watch()
                leavings.release()

        with patch.object(conversation, "Departure", Noticed):
            async with running_gateway(tmp_path, document, FAR_KEY="sk-far") as gateway:
                yield FarGateway(gateway, fake, await gateway.key("blue"), kind, leavings)


def cost(used: Tokens) -> Nanodollars:
    """Price what was truly used by hand, at `PRICE`."""
    prompt = used.prompt
    written = prompt.written * 3750 + prompt.written_1h * 6000
    return Nanodollars(prompt.fresh * 3000 + prompt.read * 300 + written + used.output * 15000)
