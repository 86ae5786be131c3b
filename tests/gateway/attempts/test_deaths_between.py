"""A process dies between two attempts of a request: the ledger has the first, and ends it at no less than that cost."""

import asyncio
import os
import signal
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest
from sqlalchemy import text

from governance.counters import CounterKey, Level, Unit
from governance.database import open_database
from governance.windows import WindowKind, window
from tests.gateway.test_worker_deaths import UTC_ZONE, a_day_later
from tests.support.books import books
from tests.support.running_gateway import policy
from tests.support.scripted_upstream import Script
from tests.support.servers import redis_server
from tests.support.waiting import until
from tests.support.worker_processes import START_S, Workers, worker_processes

WORKERS = 2
EVENTS = "SELECT held_nanos, cost_nanos FROM ledger_event WHERE kind = 'expired'"
ATTEMPTS = "SELECT outcome, cost_nanos FROM ledger_attempt"


async def die_between_two_attempts(gateway: Workers, key: str) -> None:
    """Let a first call break off after it has cost something, and kill every worker while the second is under way."""
    gateway.upstream.before, silent = [Script(cut_after=2)], asyncio.Event()
    gateway.upstream.script = Script(silent=silent)
    pending = asyncio.create_task(gateway.chat(key, "Hi", model="dear"))
    await gateway.upstream.until(lambda: len(gateway.upstream.bodies) == 2)
    for pid in gateway.pids:
        os.kill(pid, signal.SIGKILL)
    with pytest.raises(httpx.HTTPError):
        await pending
    silent.set()
    await until(lambda: len(gateway.pids) == WORKERS, START_S)


async def test_what_was_spent_before_a_death_between_two_attempts_is_on_record(tmp_path: Path) -> None:
    team = {"name": "team", "budgets": [{"limit": 1000, "window": "month"}], "apps": [{"name": "bot"}]}
    document = policy(teams=[team], cache={}, reliability={"retries": 1})
    with redis_server() as redis:
        environment = {"REDIS_URL": redis.url, "SLUICE_STORE_SILENCE_MS": "2000"}
        async with worker_processes(tmp_path, WORKERS, document, **environment) as gateway:
            await die_between_two_attempts(gateway, await gateway.key("team"))

        database = open_database(f"sqlite:///{tmp_path / 'home' / 'sluice.db'}")
        async with a_day_later(tmp_path / "home", redis.url, database) as counters:
            month = CounterKey("team:team", Unit.SPEND, window(WindowKind.MONTH, datetime.now(UTC), UTC_ZONE))
            (level,) = await counters.read([month])
        found = await books(database)
        async with database.reading() as connection:
            ((held, cost),) = (await connection.execute(text(EVENTS))).all()
            ((outcome, spent),) = (await connection.execute(text(ATTEMPTS))).all()
        await database.close()

    assert (outcome, found.balanced, found.ended) == ("failed", True, 1)
    assert 0 < spent < cost == held
    assert level == Level(cost, 0)
