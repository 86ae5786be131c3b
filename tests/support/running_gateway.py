"""A whole gateway in a test: real policy, real SQLite, real sockets, a scripted upstream in the engine's place."""

import asyncio
import secrets
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import yaml

from gateway.app import create_app
from gateway.policy.history.applying import History
from gateway.policy.source import parse_policy
from gateway.services import Services, open_services
from gateway.settings import Settings
from governance.audit.chain import GATEWAY
from governance.database import Database, open_database
from governance.keys import create_key, refresh
from governance.ledger.reading.reports import RequestRow, recent_requests
from governance.policy.history import Written
from tests.support.scripted_upstream import ScriptedUpstream, serve
from tests.support.waiting import until

POLICY: dict[str, Any] = {
    "version": 1,
    "providers": {"engine": {"kind": "engine", "zone": "onprem", "machine_usd_per_hour": 0.36}},
    "tiers": ["local", "cloud"],
    "models": [
        {"name": "small", "provider": "engine", "model": "smollm2-135m-instruct", "tier": "local", "price": "measured"},
        {"name": "minilm", "provider": "engine", "model": "all-minilm-l6-v2", "tier": "local", "kind": "embedding",
         "price": "measured"},
        {"name": "dear", "provider": "engine", "model": "dear", "tier": "cloud", "price": {"input": 10, "output": 30}},
    ],
    "routes": [{"name": "auto", "weak": "small", "strong": "dear"}],
    "cache": {"exact": {"ttl": "1h", "shared_by": "app"}},
    "output": {"max_tokens": {"default": 64, "ceiling": 100}},
    "reliability": {"retries": 0, "breaker": {"failures": 1_000}},
    "teams": [
        {
            "name": "red",
            "tiers": ["local"],
            "apps": [
                {"name": "bot", "headers": ["feature", "session"],
                 "budgets": [{"limit": 1, "window": "day"}]},
                {"name": "other"},
            ],
        },
        {"name": "blue", "apps": [{"name": "bot"}]},
    ],
}  # fmt: skip
"""At 0.36 USD/h, 1000 prompt tokens/s and 50 answer tokens/s: 0.1 USD per million in, 2 USD per million out.

A failed call is not made again where it failed, so that a test knows how many there were, and no number of failures is
enough for a provider to be left alone.
"""

QUIET: Mapping[str, Any] = {"log_level": "error"}


def policy(**changes: Any) -> dict[str, Any]:
    """Return the test policy with top-level sections replaced."""
    return POLICY | changes


@dataclass(frozen=True)
class RunningGateway:
    """A gateway that listens, and ways to look inside."""

    port: int
    client: httpx.AsyncClient
    services: Services
    upstream: ScriptedUpstream
    database: Database

    @property
    def base_url(self) -> str:
        """What an SDK is given."""
        return f"http://127.0.0.1:{self.port}/v1"

    async def key(self, team: str = "red", app: str = "bot", **bound: Any) -> str:
        """Make a key the gateway knows at once."""
        minted = await create_key(
            self.database,
            team=team,
            app=app,
            by=GATEWAY,
            now=datetime.now(UTC),
            random_bytes=secrets.token_bytes,
            **bound,
        )
        await refresh(self.services.keyring, self.database)
        return minted.key

    async def chat(
        self, key: str, text: str = "Hi", *, headers: dict[str, str] | None = None, **body: Any
    ) -> httpx.Response:
        """Send one chat completion."""
        asked = {"model": "auto", "messages": [{"role": "user", "content": text}]} | body
        return await self.client.post(
            "/v1/chat/completions", json=asked, headers={"authorization": f"Bearer {key}"} | (headers or {})
        )

    async def rows(self, count: int | None = None) -> tuple[RequestRow, ...]:
        """Return the ledger's requests, newest first, once nothing is queued and (when given) so many have ended."""
        async with asyncio.timeout(10):
            while True:
                await self.services.ledger.flush()
                rows = await recent_requests(self.database, 1000)
                if count is None or len(rows) >= count:
                    return rows
                await asyncio.sleep(0.01)

    async def decide(self, document: dict[str, Any] | str, *, shadow: bool = False) -> str:
        """Put a policy in force, or in the shade, as the command line would; return its version."""
        text = document if isinstance(document, str) else yaml.safe_dump(document)
        at = datetime.now(UTC)
        policy = parse_policy(text, "test", self.services.desk.env, at)
        history = History(self.database, self.services.desk.env, GATEWAY)
        await history.apply(Written(policy.version, text, "test"), policy, at, shadow=shadow)
        return policy.version

    async def follow(self, document: dict[str, Any] | str) -> str:
        """Put a policy in force, and wait until it governs."""
        version = await self.decide(document)
        await until(lambda: self.services.in_force.governed.policy.version == version, 30)
        return version


@asynccontextmanager
async def running_gateway(
    tmp_path: Path, document: dict[str, Any] | None = None, *, stores: Mapping[str, Any] | None = None, **env: str
) -> AsyncGenerator[RunningGateway]:
    """Serve a gateway over `document` for the length of the block: quiet, and alone unless `stores` says otherwise."""
    path = tmp_path / "policy.yaml"
    path.write_text(yaml.safe_dump(document or POLICY))
    upstream, socket = ScriptedUpstream(), tmp_path / "up.sock"
    settings = Settings(home=tmp_path / "home", policy=path, engine_url=f"unix:{socket}", **{**QUIET, **(stores or {})})
    async with (
        serve(upstream.app(), uds=socket),
        open_services(settings, env) as services,
        serve(create_app(services)) as port,
        httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=20) as client,
    ):
        database = open_database(settings.database)
        try:
            yield RunningGateway(port, client, services, upstream, database)
        finally:
            await database.close()
