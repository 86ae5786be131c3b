"""What a client without a key may make a connection hold, and how an answer ends that is cut off."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import msgspec
import pytest
import uvicorn

from gateway.server import GatewayServer
from gateway.wire.connection import Bounds, Connection

JSON = b"content-type: application/json"
HEAD = b"POST / HTTP/1.1\r\nhost: x\r\n"


@dataclass
class Application:
    """Gives back what it was asked, or streams without end when asked for `/stream`."""

    asked: list[tuple[dict[bytes, bytes], bytes]] = field(default_factory=list[tuple[dict[bytes, bytes], bytes]])
    left: asyncio.Event = field(default_factory=asyncio.Event)
    piece: bytes = b"data: 1\n\n"
    waiting: bool = False

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["path"] == "/silent":
            await asyncio.Event().wait()
        if scope["path"] == "/stream":
            return await self._stream(receive, send)
        body, more = b"", True
        while more:
            message = await receive()
            body, more = body + message.get("body", b""), message.get("more_body", False)
        self.asked.append((dict(scope["headers"]), body))
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % len(body))]})
        await send({"type": "http.response.body", "body": body})
        return None

    async def _stream(self, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        watch = asyncio.create_task(receive())
        try:
            while not watch.done():
                await send({"type": "http.response.body", "body": self.piece, "more_body": True})
                await asyncio.sleep(0)
                if self.waiting:
                    await watch
            self.left.set()
        finally:
            watch.cancel()


@asynccontextmanager
async def serving(app: Application, grace_s: int = 1, **within: Any) -> AsyncGenerator[tuple[GatewayServer, int]]:
    """Serve `app`; gives the server and its port."""

    class Bounded(Connection):
        bounds = Bounds(**within)

    config = uvicorn.Config(
        app, port=0, http=Bounded, ws="none", lifespan="off", log_config=None, timeout_graceful_shutdown=grace_s
    )
    server = GatewayServer(config)
    task = asyncio.create_task(server.serve())
    await until(lambda: server.started)
    try:
        yield server, server.servers[0].sockets[0].getsockname()[1]
    finally:
        server.should_exit = True
        await task


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        while not condition():  # noqa: ASYNC110  a server sets flags, no events
            await asyncio.sleep(0.005)


async def exchange(port: int, *sent: bytes) -> bytes:
    """Send, and return all that comes back until the server closes."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        for part in sent:
            writer.write(part)
            await writer.drain()
        async with asyncio.timeout(10):
            return await reader.read()
    finally:
        writer.close()


def error_of(reply: bytes) -> dict[str, Any]:
    head, _, body = reply.partition(b"\r\n\r\n")
    assert JSON in head
    return msgspec.json.decode(body)["error"]


@pytest.mark.parametrize(
    "head", [b"a: " + b"x" * 70_000, b"".join(b"h%05d: v\r\n" % n for n in range(8000)), b"a: " + b"x" * 300_000]
)
async def test_a_head_beyond_64_kib_is_refused(head: bytes) -> None:
    app = Application()
    async with serving(app) as (_, port):
        reply = await exchange(port, HEAD + head + b"\r\n\r\n")

    assert reply.startswith(b"HTTP/1.1 431 ")
    assert "64 KiB" in error_of(reply)["message"]
    assert app.asked == []


async def test_a_header_that_never_ends_is_refused_long_before_the_memory_is_full() -> None:
    async with serving(Application()) as (_, port):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        sent = 0
        writer.write(HEAD + b"a: ")
        with suppress(ConnectionError):
            while not reader.at_eof() and sent < 50_000_000:
                writer.write(b"x" * 65536)
                await writer.drain()
                sent += 65536
        writer.close()
    assert sent < 20_000_000  # what the kernel's buffers took


async def test_trailers_without_end_close_the_connection() -> None:
    chunked = HEAD + b"transfer-encoding: chunked\r\n\r\n1\r\na\r\n0\r\n"
    async with serving(Application()) as (server, port):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(chunked)
        with suppress(ConnectionError):
            while not reader.at_eof():
                writer.write(b"t: " + b"x" * 65536)
                await writer.drain()
        await until(lambda: not server.server_state.connections)


@pytest.mark.parametrize("size", [10, 100_000, 1_000_000])
async def test_a_long_body_is_no_long_head(size: int) -> None:
    app, body = Application(), b"b" * size
    async with serving(app) as (_, port):
        reply = await exchange(port, HEAD + b"connection: close\r\ncontent-length: %d\r\n\r\n" % size + body)

    assert reply.endswith(b"\r\n\r\n" + body)


async def test_a_head_may_come_in_parts_and_requests_one_after_another() -> None:
    app, first = Application(), HEAD + b"content-length: 2\r\n\r\nhi"
    second = HEAD + b"connection: close\r\ncontent-length: 3\r\n\r\nyou"
    async with serving(app) as (_, port):
        await exchange(port, *(bytes([byte]) for byte in first), second)

    assert [body for _, body in app.asked] == [b"hi", b"you"]


@pytest.mark.parametrize("sent", [b"", b"\r\n", HEAD])
async def test_a_client_that_does_not_finish_its_head_is_dropped(sent: bytes) -> None:
    async with serving(Application(), head_s=0.1) as (_, port):
        reply = await exchange(port, sent)

    assert reply.startswith(b"HTTP/1.1 408 ") if sent == HEAD else reply == b""


async def test_a_second_head_must_come_in_time_too() -> None:
    async with serving(Application(), head_s=0.1) as (_, port):
        reply = await exchange(port, HEAD + b"content-length: 2\r\n\r\nhi", HEAD)

    assert b"HTTP/1.1 408 " in reply


async def test_one_connection_too_many_is_turned_away() -> None:
    async with serving(Application(), connections=2) as (server, port):
        kept = [await asyncio.open_connection("127.0.0.1", port) for _ in range(2)]
        await until(lambda: len(server.server_state.connections) == 2)
        reply = await exchange(port)
        for _, writer in kept:
            writer.close()
        await until(lambda: not server.server_state.connections)
        served = await exchange(port, HEAD + b"connection: close\r\n\r\n")

    assert reply.startswith(b"HTTP/1.1 503 ")
    assert error_of(reply)["code"] == "overloaded"
    assert served.startswith(b"HTTP/1.1 200 ")


async def test_what_is_no_http_is_refused_as_json() -> None:
    async with serving(Application()) as (_, port):
        reply = await exchange(port, b"hello\r\n\r\n")

    assert (reply[:13], error_of(reply)["code"]) == (b"HTTP/1.1 400 ", "invalid_request_error")


@pytest.mark.parametrize("apart", [True, False])
async def test_an_offer_to_speak_another_protocol_is_passed_over(apart: bool) -> None:
    app, body = Application(), b'{"a":1}'
    head = (
        HEAD + b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMA\r\n"
        b"content-length: %d\r\n\r\n" % len(body)
    )
    last = HEAD + b"connection: close\r\n\r\n"
    async with serving(app) as (_, port):
        await exchange(port, *((head, body, last) if apart else (head + body + last,)))

    assert [body for _, body in app.asked] == [body, b""]
    assert app.asked[0][0] == {
        b"host": b"x", b"connection": b"Upgrade, HTTP2-Settings", b"http2-settings": b"AAMA", b"content-length": b"7",
    }  # fmt: skip


async def test_a_tunnel_is_refused() -> None:
    async with serving(Application()) as (_, port):
        assert (await exchange(port, b"CONNECT x:1 HTTP/1.1\r\nhost: x\r\n\r\n")).startswith(b"HTTP/1.1 400 ")


async def test_a_client_that_reads_nothing_is_taken_to_have_left() -> None:
    app = Application(piece=b"x" * 65536)
    async with serving(app, stalled_s=0.2) as (server, port):
        _, writer = await asyncio.open_connection("127.0.0.1", port, limit=1024)
        writer.write(b"GET /stream HTTP/1.1\r\nhost: x\r\n\r\n")
        async with asyncio.timeout(10):
            await app.left.wait()
        await until(lambda: not server.server_state.connections)
        writer.close()


async def test_a_finished_answer_that_nobody_reads_does_not_keep_its_connection() -> None:
    size = 20_000_000
    async with serving(Application(), stalled_s=0.2) as (server, port):
        _, writer = await asyncio.open_connection("127.0.0.1", port, limit=1024)
        writer.write(HEAD + b"connection: close\r\ncontent-length: %d\r\n\r\n" % size + b"b" * size)
        await writer.drain()
        await until(lambda: len(server.server_state.connections) == 1)
        await until(lambda: not server.server_state.connections)
        writer.close()


@pytest.mark.parametrize("forced", [False, True])
async def test_a_stream_that_the_end_of_the_server_cuts_off_ends_with_an_error_event(
    forced: bool, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    async with serving(Application(waiting=True), grace_s=30 if forced else 1) as (server, port):
        stream, silent = (
            asyncio.create_task(exchange(port, b"GET /%b HTTP/1.1\r\nhost: x\r\n\r\n" % path))
            for path in (b"stream", b"silent")
        )
        await until(lambda: len(server.server_state.tasks) == 2)
        server.should_exit, server.force_exit = True, forced
        streamed, refused = await stream, await silent

    _, started, *chunks = streamed.replace(b"\r\n\r\n", b"\r\n", 1).partition(b"data: 1\n\n")
    assert started
    assert b'data: {"error":{' in chunks[0]
    assert chunks[0].endswith(b"\r\n0\r\n\r\n")
    assert refused.startswith(b"HTTP/1.1 503 ")
    assert error_of(refused)["code"] == "overloaded"
    assert not any(record.exc_info for record in caplog.records)
