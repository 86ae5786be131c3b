"""The engine as a process of its own."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import anyio.abc
import httpx

from local_engine.process import usable_cpus
from tests.support.bundled import open_bundled
from tests.support.tiny_gguf import write_tiny_gguf
from tests.support.waiting import until

COMMAND = [sys.executable, "-m", "local_engine.process", "--no-embeddings", "--blocks", "64", "--threads", "1"]


def client_of(path: Path) -> httpx.AsyncClient:
    return httpx.AsyncClient(transport=httpx.AsyncHTTPTransport(uds=str(path)), base_url="http://engine", timeout=30)


async def health(client: httpx.AsyncClient) -> int:
    try:
        return (await client.get("/health")).status_code
    except httpx.TransportError:
        return 0


async def until_health(client: httpx.AsyncClient, status: int) -> set[int]:
    seen: set[int] = set()
    with anyio.fail_after(60):
        while status not in seen:
            seen.add(await health(client))
            await anyio.sleep(0.02)
    return seen


@asynccontextmanager
async def process(path: Path, *arguments: str) -> AsyncGenerator[anyio.abc.Process, None]:
    command = [*COMMAND, "--uds", str(path), *arguments]
    running = await anyio.open_process(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        yield running
    finally:
        if running.returncode is None:
            running.kill()
        await running.aclose()


async def log_of(running: anyio.abc.Process) -> list[dict[str, Any]]:
    assert running.stderr is not None
    text = b"".join([part async for part in running.stderr]).decode()
    return [json.loads(line) for line in text.splitlines()]


async def test_it_answers_while_it_loads_serves_and_ends_a_stream_when_told_to_stop(tmp_path: Path) -> None:
    open_bundled()
    path = tmp_path / "engine.sock"
    async with process(path) as running, client_of(path) as client:
        assert await until_health(client, 200) >= {503}
        assert path.stat().st_mode & 0o777 == 0o600
        question = {"messages": [{"role": "user", "content": "What is the capital of France?"}], "temperature": 0}
        answer = (await client.post("/v1/chat/completions", json=question | {"max_tokens": 12})).json()
        assert "Paris" in answer["choices"][0]["message"]["content"]
        [model] = (await client.get("/v1/models")).json()["data"]
        assert model["measured"]["prefill_tokens_per_second"] > model["measured"]["decode_tokens_per_second"] > 0
        endless = question | {"max_tokens": 900, "ignore_eos": True, "stream": True}
        async with client.stream("POST", "/v1/chat/completions", json=endless) as response:
            lines = response.aiter_lines()
            await anext(lines)
            running.send_signal(signal.SIGTERM)
            rest = [line async for line in lines if line]
        assert "[DONE]" in rest[-1] or "engine_stopped" in rest[-1]
        with anyio.fail_after(10):
            assert await running.wait() == 0
        events = await log_of(running)
    assert not path.exists()
    assert {"listening", "text model ready", "request ended"} <= {event["event"] for event in events}
    assert "France" not in json.dumps(events)


async def test_it_ends_with_status_1_when_the_weights_cannot_be_trusted(tmp_path: Path) -> None:
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"GGUF" + bytes(100))
    async with process(tmp_path / "engine.sock", "--model-path", str(broken)) as running:
        with anyio.fail_after(60):
            events = await log_of(running)
            assert await running.wait() == 1
    [failure] = [event for event in events if event["event"] == "a model could not be loaded"]
    assert failure["error"] == "ModelFileInvalid"
    assert str(broken) in failure["reason"]


async def test_it_does_not_take_the_socket_of_another_and_leaves_it_in_place(tmp_path: Path) -> None:
    path = tmp_path / "engine.sock"
    async with process(path) as first, client_of(path) as client:
        await until_health(client, 503)
        async with process(path) as second:
            with anyio.fail_after(30):
                assert await second.wait() == 1
            assert second.stderr is not None
            said = b"".join([part async for part in second.stderr]).decode()
        assert said == f"sluice engine serve: cannot listen on {path}: another process listens there already\n"
        assert await health(client) in {200, 503}
        first.terminate()
        with anyio.fail_after(30):
            assert await first.wait() == 0
    assert not path.exists()


DYING = """
import sys
from local_engine import process
from local_engine.schedule.scheduler import Scheduler
def plan(self, now_s): raise MemoryError
Scheduler.plan = plan
process.main(sys.argv[1:])
"""


async def test_it_ends_with_status_1_when_its_inference_thread_dies(tmp_path: Path) -> None:
    model = write_tiny_gguf(tmp_path / "tiny.gguf")
    path = tmp_path / "engine.sock"
    command = [sys.executable, "-c", DYING, *COMMAND[3:], "--uds", str(path), "--model-path", str(model)]
    running = await anyio.open_process(command, stderr=subprocess.PIPE)
    async with running, client_of(path) as client:
        await until_health(client, 200)
        failed = await client.post("/v1/completions", json={"prompt": "a", "max_tokens": 2})
        assert failed.status_code == 500
        with anyio.fail_after(20):
            events = await log_of(running)
            assert await running.wait() == 1
    assert {"the inference thread died", "the text model is lost"} <= {event["event"] for event in events}
    assert not path.exists()


PARENT = (
    "import subprocess, sys; child = subprocess.Popen(sys.argv[1:]); print(child.pid, flush=True); sys.stdin.read()"
)


async def test_it_ends_with_the_process_that_started_it_even_while_it_loads(tmp_path: Path) -> None:
    path = tmp_path / "engine.sock"
    parent = await anyio.open_process(
        [sys.executable, "-c", PARENT, *COMMAND, "--uds", str(path)], stderr=subprocess.DEVNULL
    )
    assert parent.stdout is not None
    child = int(await parent.stdout.receive())
    async with client_of(path) as client:
        await until_health(client, 503)
        parent.kill()
        await parent.wait()
        await until(lambda: not _is_alive(child), deadline_s=10)
    await parent.aclose()


def _is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_threads_follow_affinity_and_quota(tmp_path: Path) -> None:
    cpus = len(os.sched_getaffinity(0))
    quota = tmp_path / "cpu.max"
    assert usable_cpus(quota) == cpus
    quota.write_text("max 100000\n")
    assert usable_cpus(quota) == cpus
    quota.write_text("50000 100000\n")
    assert usable_cpus(quota) == 1
