"""Workers that count in a Redis and are killed in mid-flight: what was answered is on record once, and holds end."""

import asyncio
import os
import random
import signal
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import time
from zoneinfo import ZoneInfo

import httpx
from sqlalchemy import text

from governance.counters import CounterKey, Level, Unit
from governance.counters.redis import RedisCounters
from governance.database import Database, open_database
from governance.ledger.writer import LedgerWriter
from governance.purse import Purse
from governance.windows import WindowKind, window
from tests.support.books import books
from tests.support.running_gateway import policy
from tests.support.servers import redis_server
from tests.support.waiting import until
from tests.support.worker_processes import START_S, Workers, worker_processes

DEATHS = 20
CLIENTS = 8
WORKERS = 4
SEED = 20261130
UTC_ZONE = ZoneInfo("UTC")


async def load(gateway: Workers, key: str, answered: dict[str, float]) -> None:
    """Ask without end, and note the id and the cost of each answer that came whole."""
    while True:
        try:
            reply = await gateway.chat(key, f"question {len(answered)}", model="dear")
        except httpx.HTTPError:
            continue
        assert reply.status_code == 200, reply.text
        answered[reply.headers["x-request-id"]] = float(reply.headers["x-sluice-cost-usd"])


async def kill_at_random(gateway: Workers, chance: random.Random, answered: dict[str, float]) -> None:
    """Kill one worker after the other, each in the midst of what it does."""
    for _ in range(DEATHS):
        enough = len(answered) + chance.randrange(1, 25)
        await until(lambda enough=enough: len(answered) >= enough, START_S)
        await asyncio.sleep(chance.uniform(0, 0.02))
        os.kill(chance.choice(gateway.pids), signal.SIGKILL)


@asynccontextmanager
async def a_day_later(home: Path, redis_url: str, database: Database) -> AsyncGenerator[RedisCounters]:
    """Do what every gateway does at its start and once a second, when the leases of all holds are over."""
    counters = RedisCounters(redis_url, silence_s=10.0)
    await counters.reach()
    async with LedgerWriter(database, home / "spool") as ledger:
        purse = Purse(counters, ledger, time)
        later = datetime.now(UTC) + timedelta(days=1)
        await purse.expire(later.timestamp())
        await purse.bury(database)
        await purse.rebuild(database, (), later, UTC_ZONE, sole=False)
        yield counters
    await counters.close()


async def test_every_answer_is_on_record_once_and_no_hold_outlives_its_lease(tmp_path: Path) -> None:
    team = {"name": "team", "budgets": [{"limit": 1000, "window": "month"}], "apps": [{"name": "bot"}]}
    document = policy(teams=[team], cache={}, on_store_error="open")  # however busy the machine is, nobody is refused
    chance, answered = random.Random(SEED), dict[str, float]()
    with redis_server() as redis:
        environment = {"REDIS_URL": redis.url, "SLUICE_STORE_SILENCE_MS": "2000"}
        async with worker_processes(tmp_path, WORKERS, document, **environment) as gateway:
            key = await gateway.key("team")
            async with asyncio.TaskGroup() as group:
                clients = [group.create_task(load(gateway, key, answered)) for _ in range(CLIENTS)]
                await kill_at_random(gateway, chance, answered)
                for client in clients:
                    client.cancel()
            await until(lambda: len(gateway.pids) == WORKERS, START_S)

        database = open_database(f"sqlite:///{tmp_path / 'home' / 'sluice.db'}")
        async with a_day_later(tmp_path / "home", redis.url, database) as counters:
            month = CounterKey("team:team", Unit.SPEND, window(WindowKind.MONTH, datetime.now(UTC), UTC_ZONE))
            (level,) = await counters.read([month])
        found = await books(database)
        async with database.reading() as connection:
            costs = "SELECT request_id, cost_nanos FROM ledger_event WHERE kind = 'settled'"
            kept = {str(request): int(cost) for request, cost in await connection.execute(text(costs))}
        await database.close()

    assert {request: kept.get(request) for request in answered} == {r: round(c * 1e9) for r, c in answered.items()}
    assert found.balanced
    assert found.attempts <= len(gateway.upstream.bodies) <= found.attempts + found.ended - found.settled
    assert level == Level(level.settled, 0)
    assert level.settled >= sum(kept.values())
