"""A gateway before one fake provider that is called in every dialect: a model for each, named after it."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from anthropic import AsyncAnthropic
from openai import AsyncOpenAI

from tests.support.providers.fake import FakeProvider
from tests.support.running_gateway import POLICY, RunningGateway, running_gateway
from tests.support.scripted_upstream import serve

DIALECTS: Final = ("chat", "responses", "messages", "gemini", "converse")
PRICE: Final = {"input": 3, "cached_input": 0.3, "cache_write": 3.75, "output": 15}


def providers(port: int) -> dict[str, dict[str, Any]]:
    """Return a provider of each dialect at one port."""
    seller = {"zone": "cloud", "api_key": "sk-seller"}
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


@asynccontextmanager
async def polyglot(tmp_path: Path, **changes: Any) -> AsyncGenerator[Polyglot]:
    """Serve the gateway for the length of the block; `changes` replace sections of its policy."""
    fake = FakeProvider()
    async with serve(fake.app()) as port:
        models = [
            {"name": name, "provider": name, "model": f"{name}-1", "tier": "cloud", "price": PRICE} for name in DIALECTS
        ]
        document = POLICY | {
            "providers": POLICY["providers"] | providers(port),
            "models": [*POLICY["models"], *models],
            "cache": {},
        }
        async with running_gateway(tmp_path, document | changes) as gateway:
            yield Polyglot(gateway, fake, await gateway.key("blue"))
