"""A gateway before one fake provider that is called in every dialect: a model for each, named after it."""

from collections.abc import AsyncGenerator, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import httpx
from anthropic import AsyncAnthropic
from openai import AsyncOpenAI

from governance.ledger.reading.reports import RequestDetail, request
from governance.money import Nanodollars
from tests.support.books import books
from tests.support.providers.fake import FakeProvider
from tests.support.providers.script import Script
from tests.support.running_gateway import POLICY, RunningGateway, running_gateway
from tests.support.scripted_upstream import serve
from tests.support.waiting import until

SELLERS_KEY: Final = "sk-seller"
DIALECTS: Final = ("chat", "responses", "messages", "gemini", "converse")
PRICE: Final = {"input": 3, "cached_input": 0.3, "cache_write": 3.75, "output": 15}

_HI: Final = [{"role": "user", "content": "Hi"}]
CHAT: Final = "/v1/chat/completions"
PATHS: Final[Mapping[str, Mapping[str, Any]]] = {
    CHAT: {"messages": _HI, "max_tokens": 64},
    "/v1/completions": {"prompt": "Hi", "max_tokens": 64},
    "/v1/responses": {"input": "Hi", "max_output_tokens": 64, "store": False},
    "/v1/messages": {"messages": _HI, "max_tokens": 64},
}
"""How an answer of at most 64 tokens is asked for at each path that gives one."""


def providers(port: int) -> dict[str, dict[str, Any]]:
    """Return a provider of each dialect at one port."""
    seller = {"zone": "cloud", "api_key": "${SELLER_KEY}"}
    root = f"http://127.0.0.1:{port}"
    return {
        "chat": seller | {"kind": "openai", "base_url": f"{root}/v1"},
        "responses": seller | {"kind": "openai", "base_url": f"{root}/v1", "api": "responses"},
        "messages": seller | {"kind": "anthropic", "base_url": root},
        "gemini": seller | {"kind": "gemini", "base_url": f"{root}/v1beta"},
        "converse": seller | {"kind": "bedrock", "base_url": root, "region": "eu-central-1"},
    }


@dataclass(frozen=True)
class Polyglot:
    """The gateway, and the provider behind it."""

    gateway: RunningGateway
    fake: FakeProvider
    key: str

    def openai(self) -> AsyncOpenAI:
        """Return OpenAI's own client, as an application makes it; it is to be closed."""
        return AsyncOpenAI(base_url=self.gateway.base_url, api_key=self.key)

    def anthropic(self) -> AsyncAnthropic:
        """Return Anthropic's own client, as an application makes it; it is to be closed."""
        return AsyncAnthropic(base_url=f"http://127.0.0.1:{self.gateway.port}", api_key=self.key)

    async def ask(
        self, model: str, path: str = CHAT, *, headers: Mapping[str, str] | None = None, **body: Any
    ) -> httpx.Response:
        """Ask a model at one of `PATHS`; `body` is put over what is asked there."""
        asked = {**PATHS[path], "model": model, **body}
        return await self.gateway.client.post(path, json=asked, headers={"x-api-key": self.key, **(headers or {})})

    async def booked(self, reply: httpx.Response) -> RequestDetail:
        """Return what the ledger says of a request that was answered, whatever the answer was."""
        await self.gateway.rows()
        found = await request(self.gateway.database, reply.headers["x-request-id"])
        assert found is not None
        return found

    @asynccontextmanager
    async def audited(self) -> AsyncGenerator[None]:
        """Begin with a provider that has served nothing, and hold the books against what it serves in the block."""
        self.fake.script = Script()
        self.fake.scripts.clear()
        self.fake.served.clear()
        before = await books(self.gateway.database)
        yield
        await until(lambda: self.gateway.services.purse.open_holds == 0)
        await self.gateway.rows()
        after = await books(self.gateway.database)
        assert after.balanced
        assert after.attempts - before.attempts == len(self.fake.served)

    async def spent(self) -> Nanodollars:
        """Return what the caller's first budget has been charged with."""
        reply = await self.gateway.client.get("/v1/usage", headers={"x-api-key": self.key})
        return Nanodollars.parse(reply.json()["budgets"][0]["spent_usd"])


def sold(name: str, provider: str = "", price: object = PRICE, **more: Any) -> dict[str, Any]:
    """Return a model of one of the providers: of the one of the same name, when none is said."""
    return {
        "name": name, "provider": provider or name, "model": f"{name}-1", "tier": "cloud", "price": price
    } | more  # fmt: skip


@asynccontextmanager
async def polyglot(
    tmp_path: Path,
    *,
    models: Iterable[dict[str, Any]] = (),
    stores: Mapping[str, Any] | None = None,
    fake: FakeProvider | None = None,
    **changes: Any,
) -> AsyncGenerator[Polyglot]:
    """Serve the gateway for the length of the block.

    Args:
        tmp_path: where it keeps what it keeps.
        models: more models than one of each dialect.
        stores: as `running_gateway` takes them.
        fake: the provider, where it is to be of a kind of its own.
        changes: replace sections of its policy.
    """
    fake = fake or FakeProvider()
    async with serve(fake.app()) as port:
        document = POLICY | {
            "providers": POLICY["providers"] | providers(port),
            "models": [*POLICY["models"], *map(sold, DIALECTS), *models],
            "cache": {},
        }
        async with running_gateway(tmp_path, document | changes, stores=stores, SELLER_KEY=SELLERS_KEY) as gateway:
            yield Polyglot(gateway, fake, await gateway.key("blue"))
