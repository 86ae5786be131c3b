"""Several gateway processes, one Redis, one upstream that counts what it served."""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml
from sqlalchemy import text

from gateway.errors import CannotServe
from gateway.server import run
from gateway.settings import Settings
from governance.database import Database, open_database
from tests.support.running_gateway import policy
from tests.support.scripted_upstream import ScriptedUpstream, serve
from tests.support.servers import PostgresServer, redis_server
from tests.support.waiting import eventually, until

CAP = 0.001
START_S = 60.0


@dataclass(frozen=True)
class Workers:
    """A running `sluice serve`, and ways to look at it from outside."""

    process: subprocess.Popen[bytes]
    client: httpx.AsyncClient
    upstream: ScriptedUpstream
    database: Database
    folder: Path
    environment: dict[str, str]

    async def sluice(self, *line: str) -> Any:
        """Run a verb beside the gateway."""
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "gateway.cli", *line, env=self.environment, stdout=subprocess.PIPE
        )
        out, _ = await process.communicate()
        assert process.returncode == 0
        return json.loads(out)

    async def ask(self, key: str, question: str) -> httpx.Response:
        body = {"model": "auto", "max_tokens": 40, "messages": [{"role": "user", "content": question}]}
        return await self.client.post(
            "/v1/chat/completions", json=body, headers={"authorization": f"Bearer {key}", "connection": "close"}
        )

    async def value(self, query: str) -> int:
        """Read one number from the ledger."""
        async with self.database.reading() as connection:
            return int(await connection.scalar(text(query)) or 0)

    async def has(self, query: str, least: int) -> bool:
        """Say whether the ledger has come so far."""
        return await self.value(query) >= least


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@asynccontextmanager
async def workers(tmp_path: Path, count: int, **store: str) -> AsyncGenerator[Workers]:
    """Run `sluice serve` with so many workers; it has stopped in peace when the block ends."""
    team = {"name": "tight", "budgets": [{"limit": CAP, "window": "month"}], "apps": [{"name": "bot"}]}
    path, home, port = tmp_path / "policy.yaml", tmp_path / "home", free_port()
    path.write_text(yaml.safe_dump(policy(teams=[team], cache={})))
    upstream, uds, log = ScriptedUpstream(), tmp_path / "up.sock", tmp_path / "log"
    kept = {name: value for name, value in os.environ.items() if not name.startswith("SLUICE_")}
    environment = kept | {
        "SLUICE_HOME": str(home), "SLUICE_POLICY": str(path), "SLUICE_ENGINE_URL": f"unix:{uds}", "PORT": str(port),
        "WORKERS": str(count), "SLUICE_LOG_LEVEL": "info", **store,
    }  # fmt: skip
    async with serve(upstream.app(), uds=uds), httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=60) as c:
        with log.open("wb") as out:
            line = [sys.executable, "-m", "gateway.cli", "serve"]
            process = subprocess.Popen(line, env=environment, stdout=out, stderr=out)  # noqa: ASYNC220, S603  our own
        database = open_database(store.get("DATABASE_URL") or f"sqlite:///{home / 'sluice.db'}")
        try:
            await _until_ready(c, process, log)
            await until(lambda: log.read_text().count('"event":"serving"') >= count, START_S)
            yield Workers(process, c, upstream, database, tmp_path, environment)
        finally:
            await database.close()
            process.send_signal(signal.SIGTERM)
            assert await asyncio.to_thread(process.wait, 30) == 0, log.read_text()


async def _until_ready(client: httpx.AsyncClient, process: subprocess.Popen[bytes], log: Path) -> None:
    async with asyncio.timeout(START_S):
        while True:
            assert process.poll() is None, log.read_text()  # noqa: ASYNC240  a few bytes, in a test
            try:
                if (await client.get("/readyz")).status_code == 200:
                    return
            except httpx.TransportError:
                pass
            await asyncio.sleep(0.05)


def children(process: subprocess.Popen[bytes]) -> list[int]:
    """Name the workers of a gateway."""
    tasks = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    return [pid for pid in map(int, tasks) if b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes()]


async def test_two_hundred_clients_of_four_processes_cannot_pass_a_cap_together(tmp_path: Path) -> None:
    with redis_server() as redis:
        async with workers(tmp_path, 4, REDIS_URL=redis.url) as gateway:
            key = (await gateway.sluice("keys", "create", "--team", "tight", "--app", "bot", "--json"))["key"]
            await asyncio.sleep(1.0)  # what the contract gives a process to know a key
            served = len(children(gateway.process))
            replies = await asyncio.gather(*(gateway.ask(key, f"question {n}") for n in range(200)))
            codes = Counter(reply.status_code for reply in replies)
            refusals = {reply.json()["error"]["code"] for reply in replies if reply.status_code == 429}
            again = [await gateway.ask(key, "more") for _ in range(40)]
            codes.update(reply.status_code for reply in again)
            terminal = "SELECT count(*) FROM ledger_event WHERE kind <> 'held'"
            await eventually(lambda: gateway.has(terminal, 240))

            spent = await gateway.value("SELECT sum(cost_nanos) FROM ledger_event WHERE kind <> 'held'")
            attempts = await gateway.value("SELECT count(*) FROM ledger_attempt")
            leases = redis.call("ZCARD", "sluice:1:{sluice}:leases")
            counted = redis.call("HGET", _month_counter(), "s")

    assert served == 4
    assert set(codes) == {200, 429}
    assert refusals == {"insufficient_quota"}
    assert spent <= CAP * 10**9
    assert attempts == len(gateway.upstream.bodies) == codes[200]
    assert leases == b":0\r\n"
    assert counted.split(b"\r\n")[1] == str(spent).encode()


def _month_counter() -> str:
    start = datetime.now(UTC).replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    return f"sluice:1:{{sluice}}:c:spend|team:tight|month|{start.timestamp():.6f}"


async def test_two_workers_count_in_postgres_and_one_that_falls_is_replaced(
    tmp_path: Path, postgres_server: PostgresServer
) -> None:
    async with workers(tmp_path, 2, DATABASE_URL=postgres_server.database()) as gateway:
        before = children(gateway.process)
        os.kill(before[0], signal.SIGKILL)
        await until(lambda: (tmp_path / "log").read_text().count('"event":"serving"') >= 3, START_S)
        now = children(gateway.process)
        key = (await gateway.sluice("keys", "create", "--team", "tight", "--app", "bot", "--json"))["key"]
        await asyncio.sleep(1.0)  # what the contract gives a process to know a key
        replies = await asyncio.gather(*(gateway.ask(key, f"question {n}") for n in range(150)))
        codes = Counter(reply.status_code for reply in replies)
        terminal = "SELECT count(*) FROM ledger_event WHERE kind <> 'held'"
        await eventually(lambda: gateway.has(terminal, 150))
        spent = await gateway.value("SELECT sum(cost_nanos) FROM ledger_event WHERE kind <> 'held'")
        counted = await gateway.value("SELECT settled FROM counter WHERE key LIKE 'spend|team:tight|%'")
        await eventually(lambda: gateway.has("SELECT CASE count(*) WHEN 0 THEN 1 END FROM counter_hold", 1))

    assert len(now) == 2
    assert before[1] in now
    assert before[0] not in now
    assert codes[200] + codes[429] + codes[503] == 150  # 503 where a busy machine keeps PostgreSQL past its time
    assert len(gateway.upstream.bodies) == codes[200] > 0
    assert counted == spent <= CAP * 10**9


@pytest.mark.parametrize("store", ["redis", "postgres"])
async def test_every_worker_follows_a_policy_that_is_applied(
    tmp_path: Path, store: str, request: pytest.FixtureRequest
) -> None:
    if store == "redis":
        shared = {"REDIS_URL": request.getfixturevalue("redis_server").url}
    else:
        shared = {"DATABASE_URL": request.getfixturevalue("postgres_server").database()}
    async with workers(tmp_path, 2, **shared) as gateway:
        key = (await gateway.sluice("keys", "create", "--team", "tight", "--app", "bot", "--json"))["key"]
        wide = {"name": "tight", "apps": [{"name": "bot"}]}
        (tmp_path / "next.yaml").write_text(yaml.safe_dump(policy(teams=[wide], cache={})))
        applied = await gateway.sluice("policy", "apply", str(tmp_path / "next.yaml"), "--json")
        told = f'"version":"{applied["version"]}"'
        await until(lambda: len(_lines(tmp_path / "log", '"before"', told)) == 2, START_S)
        await asyncio.sleep(1.0)  # what the contract gives a process to know a key
        replies = await asyncio.gather(*(gateway.ask(key, f"question {n}") for n in range(40)))
        history = await gateway.sluice("policy", "history", "--json")

    assert Counter(reply.status_code for reply in replies) == {200: 40}
    assert {reply.headers["x-sluice-policy"] for reply in replies} == {applied["version"]}
    assert [decision["by"] for decision in history][1:] == ["gateway"]


def _lines(log: Path, *words: str) -> list[str]:
    return [line for line in log.read_text().splitlines() if all(word in line for word in words)]


@pytest.mark.parametrize("database", ["", "sqlite:///x.db"])
def test_several_workers_without_a_store_to_share_do_not_start(tmp_path: Path, database: str) -> None:
    with pytest.raises(CannotServe, match=r"WORKERS=2.*REDIS_URL.*PostgreSQL.*WORKERS=1"):
        run(Settings(home=tmp_path, workers=2, database_url=database))
