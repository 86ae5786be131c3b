"""Real connections: uvicorn on a Unix socket, the official client, and clients that leave."""

import asyncio
import json
import socket
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import httpx2
import pytest
from openai import AsyncOpenAI, BadRequestError, NotFoundError

from local_engine.models import Models
from local_engine.server import Server
from local_engine.types import Numerics
from tests.support.engine_server import Pace, app_of, engine_of, hash_runner, service_of, serving
from tests.support.tiny_model import tiny_runner
from tests.support.waiting import until

LONG: dict[str, Any] = {"messages": [{"role": "user", "content": "hi"}], "max_tokens": 400, "ignore_eos": True}


@asynccontextmanager
async def listening(models: Models, folder: Path) -> AsyncGenerator[Path, None]:
    path = folder / "engine.sock"
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(str(path))
    server = Server(app_of(models), models, grace_s=0.0)
    serving_it = asyncio.create_task(server.serve(sockets=[listener]))
    await until(lambda: server.started)
    try:
        yield path
    finally:
        server.should_exit = True
        await serving_it


def client_of(path: Path) -> httpx.AsyncClient:
    return httpx.AsyncClient(transport=httpx.AsyncHTTPTransport(uds=str(path)), base_url="http://engine", timeout=20)


async def test_the_official_client_reads_chats_streams_completions_and_embeddings(tmp_path: Path) -> None:
    async with (
        serving(tiny_runner(Numerics.FP32)) as models,
        listening(models, tmp_path) as path,
        httpx2.AsyncClient(transport=httpx2.AsyncHTTPTransport(uds=str(path))) as http,
        AsyncOpenAI(base_url="http://engine/v1", api_key="none", http_client=http) as client,
    ):
        question: Any = {"model": "tiny", "messages": [{"role": "user", "content": "hi"}], "temperature": 0}
        whole = await client.chat.completions.create(**question, max_tokens=8, logprobs=True, top_logprobs=2)
        assert whole.usage is not None
        assert whole.usage.completion_tokens <= 8
        assert whole.choices[0].logprobs is not None
        assert whole.choices[0].logprobs.content is not None
        assert len(whole.choices[0].logprobs.content[0].top_logprobs) == 2
        text = ""
        async for chunk in await client.chat.completions.create(**question, max_tokens=8, stream=True):
            text += chunk.choices[0].delta.content or ""
        assert text == whole.choices[0].message.content
        completion = await client.completions.create(model="tiny", prompt=["a", "b"], max_tokens=3, n=2, seed=1)
        assert [choice.index for choice in completion.choices] == [0, 1, 2, 3]
        embedded = await client.embeddings.create(model="tiny-embeddings", input=["a", "b"])
        assert len(embedded.data[0].embedding) == 26
        assert [model.id async for model in client.models.list()] == ["tiny", "tiny-embeddings"]
        with pytest.raises(BadRequestError) as refused:
            await client.chat.completions.create(**question, max_tokens=100_000)
        assert refused.value.code == "context_length_exceeded"
        with pytest.raises(NotFoundError):
            await client.chat.completions.create(model="other", messages=question["messages"])


async def test_a_client_that_leaves_a_stream_frees_its_blocks(tmp_path: Path) -> None:
    pace = Pace()
    async with serving(hash_runner(on_step=pace)) as models, listening(models, tmp_path) as path:
        pace.allow(5)
        async with client_of(path) as client:
            async with client.stream("POST", "/v1/chat/completions", json=LONG | {"stream": True}) as response:
                lines = response.aiter_lines()
                await anext(lines)
            await until(lambda: pace.is_idle_after_another(models))
            assert engine_of(models).stats().generation_tokens < 400
            pace.allow(1000)
            assert (await client.post("/v1/chat/completions", json=LONG | {"max_tokens": 2})).status_code == 200


async def test_a_client_that_leaves_before_its_answer_frees_its_blocks(tmp_path: Path) -> None:
    pace = Pace()
    async with serving(hash_runner(on_step=pace)) as models, listening(models, tmp_path) as path:
        async with client_of(path) as client:
            asking = asyncio.create_task(client.post("/v1/chat/completions", json=LONG))
            pace.allow(3)
            await until(lambda: service_of(models).stats.generation_tokens > 0)
            asking.cancel()
            await asyncio.gather(asking, return_exceptions=True)
        await until(lambda: pace.is_idle_after_another(models))
        assert engine_of(models).stats().generation_tokens < 400


CLIENT = """
import socket, sys
body = sys.argv[2].encode()
s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1])
s.sendall(b"POST /v1/chat/completions HTTP/1.1\\r\\nhost: x\\r\\ncontent-length: %d\\r\\n\\r\\n" % len(body) + body)
print(s.recv(100), flush=True)
s.recv(1 << 30, socket.MSG_WAITALL)
"""


async def test_a_client_that_is_killed_frees_its_blocks(tmp_path: Path) -> None:
    pace = Pace()
    async with serving(hash_runner(on_step=pace)) as models, listening(models, tmp_path) as path:
        pace.allow(5)
        client = await asyncio.create_subprocess_exec(
            sys.executable, "-c", CLIENT, str(path), json.dumps(LONG | {"stream": True}), stdout=asyncio.subprocess.PIPE
        )
        assert client.stdout is not None
        assert b"200 OK" in await client.stdout.readline()
        client.kill()
        await client.wait()
        await until(lambda: pace.is_idle_after_another(models))
        assert engine_of(models).stats().generation_tokens < 400


async def test_a_server_that_stops_ends_its_streams_with_an_error(tmp_path: Path) -> None:
    pace = Pace()
    async with serving(hash_runner(on_step=pace)) as models:
        began = asyncio.Event()
        async with listening(models, tmp_path) as path:
            reading = asyncio.create_task(_read(path, began))
            pace.allow(5)
            await began.wait()
            feeding = asyncio.create_task(until(lambda: pace.is_idle_after_another(models)))
        lines, _ = await asyncio.gather(reading, feeding)
        assert json.loads(lines[-1].removeprefix("data: "))["error"]["code"] == "engine_stopped"


async def _read(path: Path, began: asyncio.Event) -> list[str]:
    lines: list[str] = []
    async with (
        client_of(path) as client,
        client.stream("POST", "/v1/chat/completions", json=LONG | {"stream": True}) as response,
    ):
        async for line in response.aiter_lines():
            began.set()
            lines += [line] if line else []
    return lines
