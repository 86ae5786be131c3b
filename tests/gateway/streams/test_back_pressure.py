"""A client that reads slowly slows its provider down; one that reads no more is taken to have left."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Final

import msgspec
import pytest
import uvicorn

from gateway.app import create_app
from gateway.policy.reliability import Timeouts
from gateway.providers.leaving import CANCEL
from gateway.wire.connection import Bounds, Connection
from tests.support.providers.answer import Answer
from tests.support.providers.gateways import FarGateway, far_gateway
from tests.support.providers.script import Script
from tests.support.scripted_upstream import QuietServer
from tests.support.waiting import until

PIECE: Final = "~" * 65_536
ANSWER = Answer(texts=(PIECE,) * 480)
"""Thirty megabytes: more than all buffers on the way together, less than we read of one answer."""

ENOUGH: Final = 240


class Brisk(Connection):
    """Waits less long for a client that reads nothing."""

    bounds = Bounds(stalled_s=0.3)


@asynccontextmanager
async def listening(far: FarGateway, protocol: type[Connection]) -> AsyncGenerator[int]:
    """Serve the same gateway on a socket of its own, as it is served in earnest."""
    config = uvicorn.Config(create_app(far.gateway.services), http=protocol, port=0, log_config=None, lifespan="off")
    server = QuietServer(config)
    task = asyncio.create_task(server._serve())
    try:
        await until(lambda: server.started)
        yield server.servers[0].sockets[0].getsockname()[1]
    finally:
        server.should_exit = True
        await task


@asynccontextmanager
async def asking(far: FarGateway, port: int) -> AsyncGenerator[asyncio.StreamReader]:
    """Ask on a connection whose reader takes no more than a little ahead."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=4096)
    asked = {"model": "far", "messages": [{"role": "user", "content": "Hi"}], "stream": True}
    body = msgspec.json.encode(asked)
    head = (
        f"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nx-api-key: {far.key}\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    writer.write(head.encode() + body)
    try:
        yield reader
    finally:
        writer.close()


async def lines(reader: asyncio.StreamReader) -> AsyncGenerator[bytes]:
    rest = b""
    while read := await reader.read(262_144):
        *whole, rest = (rest + read).split(b"\n")
        for line in whole:
            yield line


async def until_still(far: FarGateway) -> int:
    """Wait until the provider can write no more, and return how many pieces that were."""
    before = -1
    while not far.fake.served or before != far.fake.last.made:
        before = far.fake.last.made if far.fake.served else -1
        await asyncio.sleep(0.15)  # nothing tells that nothing happens
    return before


@pytest.fixture(params=["vllm", "messages"])
async def far(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[FarGateway]:
    async with far_gateway(tmp_path, request.param) as running:
        running.fake.script = Script(answer=ANSWER)
        yield running


async def test_a_client_that_stops_reading_stops_its_provider_and_may_go_on(far: FarGateway) -> None:
    far.upstream.timeouts = replace(Timeouts(), idle_s=0.2)  # the silence is the client's, not the provider's
    async with listening(far, Connection) as port, asking(far, port) as reader:
        assert await until_still(far) < ENOUGH
        assert b" 200 " in await reader.readuntil(b"\r\n\r\n")
        text = 0
        async for line in lines(reader):
            text += line.count(b"~")
            if b"[DONE]" in line:
                break

    assert text == len(PIECE) * len(ANSWER.texts)
    assert (await far.row()).outcome == "ok"
    assert far.fake.last.ended == "whole"


async def test_a_client_that_never_reads_again_has_left(far: FarGateway) -> None:
    far.upstream.leave = CANCEL
    async with listening(far, Brisk) as port, asking(far, port):
        assert (await far.fake.until_ended()).ended == "left"
        row = await far.row()

    assert (row.outcome, row.status) == ("left", 499)
    assert far.fake.last.made < ENOUGH
    assert row.cost.nanos > 0
    assert far.gateway.services.purse.open_holds == 0
