import asyncio
from asyncio import StreamReader, StreamWriter
from pathlib import Path

import pytest

from gateway.supervision.probe import Place, Reply, ask


@pytest.mark.parametrize(
    ("url", "place"),
    [
        ("unix:/run/engine.sock", Place(path=Path("/run/engine.sock"))),
        ("http://10.0.0.5:8000", Place(host="10.0.0.5", port=8000)),
        ("http://engine", Place(host="engine", port=80)),
        ("http://[::1]:9/v1", Place(host="::1", port=9)),
    ],
)
def test_a_place_is_read_from_a_url(url: str, place: Place) -> None:
    assert Place.parse(url) == place


@pytest.mark.parametrize("url", ["", "engine", "ftp://host", "http://"])
def test_what_is_no_place_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match="is neither"):
        Place.parse(url)


async def answer(said: bytes, path: Path) -> Reply | None:
    async def serve(reader: StreamReader, writer: StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(said)
        await writer.drain()
        writer.close()

    async with await asyncio.start_unix_server(serve, path):
        return await ask(Place(path=path), "/health")


async def test_a_server_on_a_unix_socket_is_asked(tmp_path: Path) -> None:
    reply = await answer(b"HTTP/1.1 503 Busy\r\nX: y\r\n\r\nloading\r\n\r\n", tmp_path / "s")
    assert reply == Reply(status=503, body=b"loading\r\n\r\n")


@pytest.mark.parametrize("said", [b"", b"hello", b"SSH-2.0-OpenSSH please\r\n\r\n"])
async def test_what_is_not_http_is_no_answer(said: bytes, tmp_path: Path) -> None:
    assert await answer(said, tmp_path / "s") is None


async def test_nobody_there_is_no_answer(tmp_path: Path) -> None:
    assert await ask(Place(path=tmp_path / "nobody"), "/") is None


async def test_a_server_that_says_nothing_is_no_answer_in_time(tmp_path: Path) -> None:
    over = asyncio.Event()

    async def silent(_reader: StreamReader, writer: StreamWriter) -> None:
        await over.wait()
        writer.close()

    async with await asyncio.start_unix_server(silent, tmp_path / "s"):
        assert await ask(Place(path=tmp_path / "s"), "/", timeout_s=0.05) is None
        over.set()
