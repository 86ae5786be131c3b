"""`sluice serve` as it is run in earnest: processes of its own, an upstream that counts what it served, real stores."""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import yaml

from governance.database import Database, open_database
from tests.support.scripted_upstream import ScriptedUpstream, serve
from tests.support.waiting import until

START_S = 60.0
KNOWN_S = 1.0
"""What the contract gives every process to know a key that another has made."""


@dataclass(frozen=True)
class Workers:
    """A running `sluice serve`, and ways to look at it from outside."""

    process: subprocess.Popen[bytes]
    count: int
    client: httpx.AsyncClient
    upstream: ScriptedUpstream
    database: Database
    log: Path
    environment: dict[str, str]

    async def sluice(self, *line: str) -> dict[str, Any]:
        """Run a verb beside the gateway."""
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "gateway.cli", *line, env=self.environment, stdout=subprocess.PIPE
        )
        out, _ = await process.communicate()
        assert process.returncode == 0
        return json.loads(out)

    async def key(self, team: str, app: str = "bot") -> str:
        """Make a key and wait until every process knows it."""
        made = await self.sluice("keys", "create", "--team", team, "--app", app, "--json")
        await asyncio.sleep(KNOWN_S)
        return str(made["key"])

    async def chat(self, key: str, question: str, **body: Any) -> httpx.Response:
        """Send one chat completion over a connection of its own, so that any process may get it."""
        asked = {"model": "auto", "max_tokens": 40, "messages": [{"role": "user", "content": question}]} | body
        headers = {"authorization": f"Bearer {key}", "connection": "close"}
        return await self.client.post("/v1/chat/completions", json=asked, headers=headers)

    @property
    def serving(self) -> int:
        """How many processes have begun to serve since the start, those that have ended since included."""
        return self.log.read_text().count('"event":"serving"')

    @property
    def pids(self) -> list[int]:
        """The workers that run now."""
        tasks = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        return [pid for pid in map(int, tasks) if b"spawn_main" in _command(pid)]


def _command(pid: int) -> bytes:
    """Return the command line of a process; empty when it has ended since it was listed."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return b""


@asynccontextmanager
async def worker_processes(
    tmp_path: Path, count: int, policy: dict[str, Any], **environment: str
) -> AsyncGenerator[Workers]:
    """Run `sluice serve` with so many workers; it has stopped in peace when the block ends."""
    path, home, port = tmp_path / "policy.yaml", tmp_path / "home", _free_port()
    path.write_text(yaml.safe_dump(policy))
    upstream, uds, log = ScriptedUpstream(), tmp_path / "up.sock", tmp_path / "log"
    kept = {name: value for name, value in os.environ.items() if not name.startswith("SLUICE_")}
    given = kept | {
        "SLUICE_HOME": str(home), "SLUICE_POLICY": str(path), "SLUICE_ENGINE_URL": f"unix:{uds}", "PORT": str(port),
        "WORKERS": str(count), "SLUICE_LOG_LEVEL": "info", **environment,
    }  # fmt: skip
    client = httpx.AsyncClient(
        base_url=f"http://127.0.0.1:{port}", timeout=60, limits=httpx.Limits(max_keepalive_connections=0)
    )
    async with serve(upstream.app(), uds=uds), client:
        with log.open("wb") as out:
            line = [sys.executable, "-m", "gateway.cli", "serve"]
            process = subprocess.Popen(line, env=given, stdout=out, stderr=out)  # noqa: ASYNC220, S603  our own
        database = open_database(environment.get("DATABASE_URL") or f"sqlite:///{home / 'sluice.db'}")
        workers = Workers(process, count, client, upstream, database, log, given)
        try:
            await _until_ready(workers)
            await until(lambda: workers.serving >= count, START_S)
            yield workers
        finally:
            await database.close()
            process.send_signal(signal.SIGTERM)
            assert await asyncio.to_thread(process.wait, 30) == 0, log.read_text()


async def _until_ready(workers: Workers) -> None:
    async with asyncio.timeout(START_S):
        while True:
            assert workers.process.poll() is None, workers.log.read_text()
            try:
                if (await workers.client.get("/readyz")).status_code == 200:
                    return
            except httpx.TransportError:
                pass
            await asyncio.sleep(0.05)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
