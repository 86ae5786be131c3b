"""A gateway killed in mid-flight, and started again: every answer that was given is in the ledger once."""

import asyncio
import json
import os
import random
import signal
import sqlite3
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import yaml

from tests.e2e.test_up import environment, free_port
from tests.support.running_gateway import POLICY
from tests.support.scripted_upstream import ScriptedUpstream, serve

ROUNDS = int(os.environ.get("SLUICE_TEST_DEATHS", "2"))
CLIENTS = 8
SEED = 20261130


class Life:
    """One gateway process on a home."""

    def __init__(self, folder: Path, port: int) -> None:
        self.folder = folder
        self.base_url = f"http://127.0.0.1:{port}"
        self.environment = environment(folder / "home", port) | {
            "SLUICE_POLICY": str(folder / "policy.yaml"),
            "SLUICE_ENGINE_URL": f"unix:{folder / 'up.sock'}",
        }

    async def run(self, *line: str) -> asyncio.subprocess.Process:
        with (self.folder / "log").open("ab") as log:
            return await asyncio.create_subprocess_exec(
                sys.executable, "-m", "gateway.cli", *line,
                env=self.environment, stdout=asyncio.subprocess.PIPE if line[0] == "keys" else log, stderr=log,
            )  # fmt: skip

    async def key(self) -> str:
        made = await self.run("keys", "create", "--team", "blue", "--app", "bot", "--json")
        out, _ = await made.communicate()
        return str(json.loads(out)["key"])

    async def serve(self) -> asyncio.subprocess.Process:
        process = await self.run("serve")
        async with httpx.AsyncClient(base_url=self.base_url) as client, asyncio.timeout(60):
            while True:
                assert process.returncode is None, (self.folder / "log").read_text()
                try:
                    if (await client.get("/readyz")).status_code == 200:
                        return process
                except httpx.HTTPError:
                    pass
                await asyncio.sleep(0.05)


async def load(base_url: str, key: str, answered: list[tuple[str, str]]) -> None:
    """Ask until the gateway is gone, and note the id and the cost of each answer that came whole."""
    async with httpx.AsyncClient(base_url=base_url, headers={"authorization": f"Bearer {key}"}) as client:
        while True:
            asked = {"model": "dear", "messages": [{"role": "user", "content": f"{time.monotonic_ns()} {id(client)}"}]}
            try:
                reply = await client.post("/v1/chat/completions", json=asked)
            except httpx.HTTPError:
                return
            assert reply.status_code == 200, reply.text
            answered.append((reply.headers["x-request-id"], reply.headers["x-sluice-cost-usd"]))


def ask(folder: Path, query: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(folder / "home" / "sluice.db")) as connection:
        return connection.execute(query).fetchall()


async def test_every_answer_is_in_the_ledger_once_after_kills_in_mid_flight(tmp_path: Path) -> None:
    document = POLICY | {"budgets": [{"scope": "org", "limit": 1000, "window": "month"}]}
    (tmp_path / "policy.yaml").write_text(yaml.safe_dump(document))
    upstream, chance = ScriptedUpstream(), random.Random(SEED)
    answered: list[tuple[str, str]] = []
    async with serve(upstream.app(), uds=tmp_path / "up.sock"):
        life = Life(tmp_path, free_port())
        key = await life.key()
        for _ in range(ROUNDS):
            process = await life.serve()
            clients = [asyncio.create_task(load(life.base_url, key, answered)) for _ in range(CLIENTS)]
            enough = len(answered) + chance.randrange(1, 80)
            async with asyncio.timeout(30):
                while len(answered) < enough:  # noqa: ASYNC110  a number grows: no event to wait for
                    await asyncio.sleep(chance.uniform(0, 0.01))
            process.kill()
            await process.wait()
            await asyncio.gather(*clients)
        last = await life.serve()
        last.send_signal(signal.SIGTERM)
        assert await last.wait() == 0

    kept = dict(ask(tmp_path, "SELECT request_id, cost_nanos FROM ledger_event WHERE kind = 'settled'"))
    told = {request_id: round(float(usd) * 1e9) for request_id, usd in answered}
    assert {request_id: kept.get(request_id) for request_id in told} == told
    ((attempts,),) = ask(tmp_path, "SELECT count(*) FROM ledger_attempt")
    ((expired,),) = ask(tmp_path, "SELECT count(*) FROM ledger_event WHERE kind = 'expired'")
    assert attempts >= len(answered)
    assert attempts <= len(upstream.bodies) <= attempts + expired
    open_still = "SELECT request_id FROM ledger_event GROUP BY 1 HAVING sum(kind = 'held') <> sum(kind <> 'held')"
    assert ask(tmp_path, open_still) == []
    events = ask(tmp_path, "SELECT sum(cost_nanos), count(*) FROM ledger_event WHERE kind <> 'held'")
    per_dimension = "SELECT DISTINCT sum(cost_nanos), sum(requests) FROM ledger_rollup GROUP BY dimension"
    assert ask(tmp_path, per_dimension) == events
    assert list((tmp_path / "home" / "spool").iterdir()) == []
