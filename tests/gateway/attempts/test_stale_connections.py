"""A provider closes a kept connection while the next call is on its way: that call is made at once on a fresh one."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest

from gateway.providers.transport import open_client, was_kept
from tests.support.running_gateway import POLICY, running_gateway

EVENTS = (
    b'data: {"id":"c","choices":[{"index":0,"delta":{"role":"assistant","content":"Hi"},"finish_reason":"stop"}],'
    b'"usage":{"prompt_tokens":3,"completion_tokens":1,"total_tokens":4}}\n\ndata: [DONE]\n\n'
)
ANSWER = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: %d\r\n\r\n%s" % (len(EVENTS), EVENTS)


class Forgetful:
    """A provider that answers the first call of every connection, and drops the connection at the second."""

    def __init__(self, *, hears_whole: bool) -> None:
        self.hears_whole = hears_whole
        self.answered = self.dropped = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await self._hear(reader)
        writer.write(ANSWER)
        self.answered += 1
        try:
            await (self._hear(reader) if self.hears_whole else reader.readexactly(1))
            self.dropped += 1
        except asyncio.IncompleteReadError:
            pass
        writer.transport.abort()

    async def _hear(self, reader: asyncio.StreamReader) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        (length,) = (line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
        await reader.readexactly(int(length.partition(b":")[2]))


@asynccontextmanager
async def listening(provider: Forgetful) -> AsyncGenerator[str]:
    server = await asyncio.start_server(provider.serve, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    finally:
        server.close()


@pytest.mark.parametrize("hears_whole", [True, False])
async def test_a_call_on_a_connection_that_had_gone_stale_is_made_again_at_once(
    tmp_path: Path, hears_whole: bool
) -> None:
    provider = Forgetful(hears_whole=hears_whole)
    async with listening(provider) as address:
        cloud = {"kind": "openai", "zone": "cloud", "base_url": address}
        model = {"name": "far", "provider": "cloud", "model": "f", "tier": "cloud", "price": {"input": 1, "output": 1}}
        document = POLICY | {
            "providers": POLICY["providers"] | {"cloud": cloud},
            "models": [*POLICY["models"], model],
            "cache": {},
        }
        async with running_gateway(tmp_path, document) as gateway:
            key = await gateway.key("blue")
            replies = [await gateway.chat(key, model="far") for _ in range(3)]

            assert [reply.status_code for reply in replies] == [200] * 3
            assert [reply.headers["x-sluice-attempts"] for reply in replies] == ["1", "2", "2"]
            assert (provider.answered, provider.dropped) == (3, 2)
            assert {row.cost.usd for row in await gateway.rows(3)} == {"0.000004"}


async def test_only_a_connection_that_was_kept_is_known_as_such() -> None:
    provider = Forgetful(hears_whole=True)
    async with listening(provider) as address, open_client(address) as client:
        assert (await client.post("x", content=b"{}")).status_code == 200
        assert not was_kept()
        with pytest.raises(httpx.HTTPError):
            await client.post("x", content=b"{}")
        assert was_kept()
        assert (await client.post("x", content=b"{}")).status_code == 200
        assert not was_kept()
