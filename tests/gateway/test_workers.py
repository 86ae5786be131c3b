"""Several processes of one gateway: they need a store to share, and one that falls is replaced."""

import asyncio
import os
import signal
from collections import Counter
from pathlib import Path

import pytest
import yaml

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


@pytest.mark.parametrize("store", ["redis", "postgres"])
async def test_every_worker_follows_a_policy_that_is_applied(
    tmp_path: Path, store: str, request: pytest.FixtureRequest
) -> None:
    if store == "redis":
        shared = {"REDIS_URL": request.getfixturevalue("redis_server").url}
    else:
        shared = {"DATABASE_URL": request.getfixturevalue("postgres_server").database()}
    team = {"name": "team", "apps": [{"name": "bot"}]}
    tight = team | {"budgets": [{"limit": 0.001, "window": "month"}]}
    environment = {"SLUICE_STORE_SILENCE_MS": "2000", **shared}
    async with worker_processes(tmp_path, 2, policy(teams=[tight], cache={}), **environment) as gateway:
        key = await gateway.key("team")
        (tmp_path / "next.yaml").write_text(yaml.safe_dump(policy(teams=[team], cache={})))
        applied = await gateway.sluice("policy", "apply", str(tmp_path / "next.yaml"), "--json")
        told = f'"version":"{applied["version"]}"'
        await until(lambda: sum('"before"' in line and told in line for line in _lines(gateway.log)) == 2, START_S)
        replies = await asyncio.gather(*(gateway.chat(key, f"question {number}") for number in range(40)))

    assert Counter(reply.status_code for reply in replies) == {200: 40}
    assert {reply.headers["x-sluice-policy"] for reply in replies} == {applied["version"]}


def _lines(log: Path) -> list[str]:
    return log.read_text().splitlines()


@pytest.mark.parametrize("database", ["", "sqlite:///x.db"])
def test_several_workers_without_a_store_to_share_do_not_start(tmp_path: Path, database: str) -> None:
    with pytest.raises(CannotServe, match=r"WORKERS=2.*REDIS_URL.*PostgreSQL.*WORKERS=1"):
        run(Settings(home=tmp_path, workers=2, database_url=database))
