"""A real Redis that stops answering, or dies with all it knew, while clients are calling."""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from governance.counters.guarded import GuardedCounters
from governance.ledger.reading.spending import spent
from governance.windows import WindowKind, window
from tests.support.running_gateway import RunningGateway, policy, running_gateway
from tests.support.servers import RedisServer, redis_server
from tests.support.waiting import until

CLIENTS = 4
BACK_S = 20.0


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

    async def more(self, condition: Callable[[], bool] = lambda: True) -> None:
        """Let every client be answered some times more, and wait until something is so."""
        target = self.replies.total() + 6 * CLIENTS
        await until(lambda: self.replies.total() >= target and condition(), BACK_S)


@asynccontextmanager
async def under_load(tmp_path: Path, redis: RedisServer, rule: Any) -> AsyncGenerator[Load]:
    team = {"name": "tight", "budgets": [{"limit": 1, "window": "month"}], "apps": [{"name": "bot"}]}
    document = policy(teams=[team], cache={}, on_store_error=rule)
    async with running_gateway(tmp_path, document, redis_url=redis.url) as gateway:
        load = Load(gateway, await gateway.key("tight"))
        await until(lambda: load.counters.away is None, BACK_S)
        async with asyncio.TaskGroup() as group:
            for number in range(CLIENTS):
                group.create_task(load.client(number))
            await load.more()
            yield load
            load.running = False
        await everything_adds_up(load)


async def everything_adds_up(load: Load) -> None:
    gateway = load.gateway
    await gateway.services.ledger.flush()
    served = load.replies[200, "", False] + load.replies[200, "", True]
    usage = await gateway.client.get("/v1/usage", headers={"x-api-key": load.key})
    (budget,) = usage.json()["budgets"]
    month = window(WindowKind.MONTH, datetime.now(UTC), gateway.services.in_force.governed.timezone)
    assert budget["spent_usd"] == (await spent(gateway.database, "team:tight", month)).usd
    assert budget["held_usd"] == "0.00"
    assert len(gateway.upstream.bodies) == served
    assert gateway.services.purse.open_holds == 0


@pytest.mark.parametrize("how", ["pause", "kill"])
async def test_closed_refuses_while_redis_is_away_and_counts_on_afterwards(tmp_path: Path, how: str) -> None:
    with redis_server() as redis:
        async with under_load(tmp_path, redis, "closed") as load:
            getattr(redis, how)()
            await load.more(lambda: load.counters.refuses)
            served = load.replies[200, "", False]
            await load.more()
            ready = await load.gateway.client.get("/readyz")
            assert load.replies[200, "", False] == served
            redis.resume() if how == "pause" else redis.start()
            await load.more(lambda: load.counters.away is None)
            await load.more()
    assert ready.status_code == 503
    assert ready.json()["reasons"][0].startswith("The counters are away: Redis does not answer")
    assert set(load.replies) == {(200, "", False), (503, "overloaded", False)}


async def test_open_serves_on_and_marks_what_it_serves(tmp_path: Path) -> None:
    with redis_server() as redis:
        async with under_load(tmp_path, redis, "open") as load:
            redis.kill()
            await load.more(lambda: load.counters.away is not None)
            await load.more()
            ready = await load.gateway.client.get("/readyz")
            redis.start()
            await load.more(lambda: load.counters.away is None)
            await load.more()
    assert ready.status_code == 200
    assert "counters" in ready.json()["unavailable"]
    assert set(load.replies) == {(200, "", False), (200, "", True)}


async def test_an_allowance_serves_so_much_and_then_refuses(tmp_path: Path) -> None:
    with redis_server() as redis:
        async with under_load(tmp_path, redis, {"allowance_usd": 0.001}) as load:
            redis.pause()
            await load.more(lambda: load.replies[503, "overloaded", False] > 0)
            await load.more()
            redis.resume()
            await load.more(lambda: load.counters.away is None)
            await load.more()
    each = 0.0000092
    assert 0 < load.replies[200, "", True] * each <= 0.001
