"""Several processes of one gateway: they need a store to share, and one that falls is replaced."""

import asyncio
import os
import signal
from pathlib import Path

import pytest

from gateway.errors import CannotServe
from gateway.server import run
from gateway.settings import Settings
from tests.support.books import books, ended
from tests.support.running_gateway import policy
from tests.support.servers import PostgresServer
from tests.support.waiting import eventually, until
from tests.support.worker_processes import START_S, worker_processes


async def test_a_worker_that_falls_is_replaced_and_the_others_serve_on(
    tmp_path: Path, postgres_server: PostgresServer
) -> None:
    team = {"name": "team", "budgets": [{"limit": 1, "window": "month"}], "apps": [{"name": "bot"}]}
    document, url = policy(teams=[team], cache={}), postgres_server.database()
    async with worker_processes(tmp_path, 2, document, DATABASE_URL=url, SLUICE_STORE_SILENCE_MS="2000") as gateway:
        key, before = await gateway.key("team"), gateway.pids
        os.kill(before[0], signal.SIGKILL)
        await until(lambda: gateway.pids == before[1:], START_S)
        replies = [await gateway.chat(key, f"question {number}") for number in range(10)]
        await until(lambda: gateway.serving == 3, START_S)
        now = gateway.pids
        replies += await asyncio.gather(*(gateway.chat(key, f"question {number}") for number in range(10, 50)))
        await eventually(lambda: ended(gateway.database, 50))
        found = await books(gateway.database)

    assert [reply.status_code for reply in replies] == [200] * 50
    assert len(set(now) - set(before)) == len(set(now) & set(before)) == 1
    assert found.attempts == len(gateway.upstream.bodies) == 50


@pytest.mark.parametrize("database", ["", "sqlite:///x.db"])
def test_several_workers_without_a_store_to_share_do_not_start(tmp_path: Path, database: str) -> None:
    with pytest.raises(CannotServe, match=r"WORKERS=2.*REDIS_URL.*PostgreSQL.*WORKERS=1"):
        run(Settings(home=tmp_path, workers=2, database_url=database))
