"""A real store of the counters that stops answering, ends or dies, or forgets all it knew, while clients are calling.

PostgreSQL keeps the ledger as well here, so that both are away together.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest

from governance.counters.guarded import GuardedCounters
from governance.ledger.reading.spending import spent
from governance.windows import WindowKind, window
from tests.support.books import books
from tests.support.running_gateway import RunningGateway, policy, running_gateway
from tests.support.servers import PostgresServer, RedisServer, postgres_server, redis_server
from tests.support.waiting import until

CLIENTS = 4
BACK_S = 30.0
SERVED, UNHELD, REFUSED = (200, "", False), (200, "", True), (503, "overloaded", False)


@dataclass(frozen=True)
class Store:
    """A server of the test's own, and the settings that point at it."""

    name: str
    server: RedisServer | PostgresServer
    settings: dict[str, Any]

    def leave(self, how: str) -> None:
        getattr(self.server, how)()

    def come_back(self, how: str) -> None:
        if how == "pause":
            self.server.resume()
        else:
            self.server.start()


@pytest.fixture(params=["Redis", "PostgreSQL"])
def store(request: pytest.FixtureRequest) -> Generator[Store]:
    if request.param == "Redis":
        with redis_server() as redis:
            yield Store("Redis", redis, {"redis_url": redis.url})
    else:
        with postgres_server() as postgres:
            yield Store("PostgreSQL", postgres, {"database_url": postgres.database(), "workers": 2})


class Load:
    """Clients that call as long as they are let, and what they were told."""

    def __init__(self, gateway: RunningGateway, key: str) -> None:
        self.gateway, self.key = gateway, key
        self.replies: Counter[tuple[int, str, bool]] = Counter()
        self.running = True

    @property
    def counters(self) -> GuardedCounters:
        assert self.gateway.services.counters is not None
        return self.gateway.services.counters

    async def client(self, number: int) -> None:
        while self.running:
            reply = await self.gateway.chat(self.key, f"question of {number}", max_tokens=40)
            code = reply.json()["error"]["code"] if reply.status_code != 200 else ""
            unheld = reply.headers.get("x-sluice-route", "").endswith(";unheld")
            self.replies[reply.status_code, code, unheld] += 1

    async def look(self, path: str) -> httpx.Response:
        """Get a path over a connection of its own: in a pool it may wait for ever behind clients that never rest."""
        async with httpx.AsyncClient(base_url=self.gateway.client.base_url, timeout=20) as other:
            return await other.get(path, headers={"x-api-key": self.key})

    async def more(self, condition: Callable[[], bool] = lambda: True) -> None:
        """Let every client be answered some times more, and wait until something is so."""
        target = self.replies.total() + 6 * CLIENTS
        await until(lambda: self.replies.total() >= target and condition(), BACK_S)

    async def back(self) -> None:
        """Wait until the counters are back, and let the clients be served as before."""
        await self.more(lambda: self.counters.away is None)
        served = self.replies[SERVED]
        await self.more(lambda: self.replies[SERVED] > served + CLIENTS)


@asynccontextmanager
async def under_load(tmp_path: Path, settings: dict[str, Any], rule: Any) -> AsyncGenerator[Load]:
    team = {"name": "tight", "budgets": [{"limit": 1, "window": "month"}], "apps": [{"name": "bot"}]}
    document = policy(teams=[team], cache={}, on_store_error=rule)
    async with running_gateway(tmp_path, document, stores=settings) as gateway:
        load = Load(gateway, await gateway.key("tight"))
        await until(lambda: load.counters.away is None, BACK_S)
        async with asyncio.TaskGroup() as group:
            for number in range(CLIENTS):
                group.create_task(load.client(number))
            try:
                await load.more()
                yield load
            finally:
                load.running = False
        await everything_adds_up(load)


async def everything_adds_up(load: Load) -> None:
    gateway = load.gateway
    await gateway.services.ledger.flush(within_s=BACK_S)
    found = await books(gateway.database)
    usage = await gateway.client.get("/v1/usage", headers={"x-api-key": load.key})
    (budget,) = usage.json()["budgets"]
    month = window(WindowKind.MONTH, datetime.now(UTC), gateway.services.in_force.governed.timezone)
    assert found.balanced
    assert (
        found.settled == found.attempts == len(gateway.upstream.bodies) == load.replies[SERVED] + load.replies[UNHELD]
    )
    assert budget["spent_usd"] == (await spent(gateway.database, "team:tight", month)).usd
    assert budget["held_usd"] == "0.00"
    assert gateway.services.purse.open_holds == 0


@pytest.mark.parametrize("how", ["pause", "stop", "kill"])
async def test_closed_refuses_while_the_store_is_away_and_counts_on_afterwards(
    tmp_path: Path, store: Store, how: str
) -> None:
    async with under_load(tmp_path, store.settings, "closed") as load:
        store.leave(how)
        await load.more(lambda: load.counters.refuses)
        served = load.replies[SERVED]
        await load.more()
        ready = await load.look("/readyz")
        usage = await load.look("/v1/usage")
        assert load.replies[SERVED] <= served + CLIENTS  # those that held before are answered
        store.come_back(how)
        await load.back()
    assert ready.status_code == 503
    assert any(reason.startswith("The counters are away: ") for reason in ready.json()["reasons"])
    assert (usage.status_code, usage.json()["error"]["code"]) == (503, "overloaded")
    assert set(load.replies) == {SERVED, REFUSED}


async def test_open_serves_on_and_marks_what_it_serves(tmp_path: Path, store: Store) -> None:
    async with under_load(tmp_path, store.settings, "open") as load:
        store.leave("kill")
        await load.more(lambda: load.counters.away is not None)
        await load.more()
        ready = await load.look("/readyz")
        store.come_back("kill")
        await load.back()
    assert "counters" in ready.json()["unavailable"]
    assert set(load.replies) == {SERVED, UNHELD}


async def test_an_allowance_serves_so_much_and_then_refuses(tmp_path: Path, store: Store) -> None:
    async with under_load(tmp_path, store.settings, {"allowance_usd": 0.001}) as load:
        store.leave("pause")
        await load.more(lambda: load.replies[REFUSED] > 0)
        await load.more()
        store.come_back("pause")
        await load.back()
    each = 0.0000092
    assert 0 < load.replies[UNHELD] * each <= 0.001
    assert set(load.replies) == {SERVED, UNHELD, REFUSED}


async def test_a_redis_that_forgets_everything_under_load_is_refilled(tmp_path: Path) -> None:
    with redis_server() as redis:
        async with under_load(tmp_path, {"redis_url": redis.url}, "closed") as load:
            redis.forget()
            await load.more(lambda: load.counters.refuses)
            await load.back()
    assert set(load.replies) == {SERVED, REFUSED}
