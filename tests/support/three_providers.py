"""A gateway in front of three providers: our own machine, and two clouds that speak the OpenAI API."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from governance.ledger.reading.reports import AttemptRow, RequestRow, request
from tests.support.running_gateway import POLICY, RunningGateway, running_gateway
from tests.support.scripted_upstream import ScriptedUpstream, serve


@dataclass(frozen=True)
class ThreeProviders:
    """The gateway, and its providers but for the engine, which is the gateway's own upstream."""

    gateway: RunningGateway
    one: ScriptedUpstream
    two: ScriptedUpstream
    key: str

    @property
    def calls(self) -> tuple[int, int, int]:
        """How many calls each provider has seen: the engine, then the clouds."""
        return len(self.gateway.upstream.bodies), len(self.one.bodies), len(self.two.bodies)

    async def chat(self, model: str = "both", text: str = "Hi", **more: Any) -> httpx.Response:
        """Ask."""
        return await self.gateway.chat(self.key, text, model=model, **more)

    async def told(self, count: int = 1) -> tuple[RequestRow, tuple[AttemptRow, ...]]:
        """Return the latest request of so many in the ledger, with its attempts."""
        row, *_ = await self.gateway.rows(count)
        found = await request(self.gateway.database, row.request_id)
        assert found is not None
        return row, found.attempts


def document(ports: tuple[int, int], **changes: Any) -> dict[str, Any]:
    """Return the policy, in which `both` tries `first` at cloud one, then `second` and `cheap` at cloud two."""

    def cloud(port: int) -> dict[str, Any]:
        return {"kind": "openai", "zone": "cloud", "base_url": f"http://127.0.0.1:{port}/v1", "api_key": "${CLOUD_KEY}"}

    def model(name: str, provider: str, tier: str, **price: float) -> dict[str, Any]:
        return {"name": name, "provider": provider, "model": f"{name}-1", "tier": tier, "price": price}

    return {
        **POLICY,
        "providers": {**POLICY["providers"], "one": cloud(ports[0]), "two": cloud(ports[1])},
        "tiers": ["local", "economy", "cloud"],
        "models": [
            *POLICY["models"],
            model("first", "one", "cloud", input=10, output=30),
            model("second", "two", "cloud", input=20, output=60),
            model("cheap", "two", "economy", input=1, output=3),
        ],
        "routes": [
            *POLICY["routes"],
            {"name": "both", "weak": "first", "strong": "second", "fallbacks": ["cheap"]},
            {"name": "mixed", "weak": "small", "strong": "first"},
        ],
        "cache": {},
        **changes,
    }


@asynccontextmanager
async def three_providers(tmp_path: Path, **changes: Any) -> AsyncGenerator[ThreeProviders]:
    """Serve a gateway under the policy with top-level sections replaced, and make a key that may use all of it."""
    one, two = ScriptedUpstream(), ScriptedUpstream()
    async with (
        serve(one.app()) as first,
        serve(two.app()) as second,
        running_gateway(tmp_path, document((first, second), **changes), CLOUD_KEY="sk-cloud") as gateway,
    ):
        yield ThreeProviders(gateway, one, two, await gateway.key("blue"))
