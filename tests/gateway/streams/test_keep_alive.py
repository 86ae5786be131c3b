"""A client that hears nothing for a while is sent comments; until the first of them a failure is still a status."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest

from gateway.endpoints import conversation
from gateway.providers.leaving import CANCEL
from gateway.speech import Speech
from gateway.speech.chat import ChatSpeech
from gateway.wire.departure import Departure
from gateway.wire.reply import Send, StreamedReply
from gateway.wire.sse import COMMENT
from tests.support.providers.gateways import FarGateway, far_gateway
from tests.support.providers.script import Script

QUIET_S = 0.05


class Impatient(StreamedReply):
    def __init__(self, send: Send, departure: Departure, speech: Speech, keep_alive_s: float) -> None:
        super().__init__(send, departure, speech, QUIET_S)


@pytest.fixture
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conversation, "StreamedReply", Impatient)


pytestmark = pytest.mark.usefixtures("_quick")


@asynccontextmanager
async def asked(far: FarGateway, **more: Any) -> AsyncGenerator[tuple[httpx.Response, Any]]:
    async with far.streamed(**more) as reply:
        yield reply, reply.aiter_raw()


async def until_comments(reads: Any, count: int) -> bytes:
    raw = b""
    while raw.count(COMMENT) < count:
        raw += await anext(reads)
    return raw


async def test_comments_come_before_the_first_piece_and_between_two(far: FarGateway) -> None:
    silent, gate = asyncio.Event(), asyncio.Semaphore(0)
    far.fake.script = Script(silent=silent, gate=gate)
    async with asked(far) as (reply, reads):
        first = await until_comments(reads, 2)
        silent.set()
        second = await until_comments(reads, 2)
        for _ in range(9):
            gate.release()
        rest = b"".join([read async for read in reads])

    assert reply.status_code == 200
    assert first == COMMENT * 2
    assert b"Hello" in second
    assert (first + second + rest).replace(COMMENT, b"").endswith(b"data: [DONE]\n\n")


async def test_an_error_before_the_first_comment_is_a_status_and_after_it_an_event(far: FarGateway) -> None:
    far.fake.script = Script(status=503)
    assert (await far.plain(stream=True)).status_code == 503

    silent = asyncio.Event()
    far.fake.script = Script(silent=silent, fail_after=0)
    async with asked(far) as (reply, reads):
        await until_comments(reads, 1)
        silent.set()
        rest = b"".join([read async for read in reads])
    assert reply.status_code == 200
    assert b'"code":"upstream_error"' in rest
    assert b"[DONE]" not in rest


async def test_a_client_that_left_a_silent_provider_is_found_gone(far: FarGateway) -> None:
    far.fake.script = Script(silent=asyncio.Event())
    far.upstream.leave = CANCEL
    async with asked(far) as (_, reads):
        await until_comments(reads, 1)

    assert (await far.fake.until_ended()).ended == "left"
    assert (await far.row()).outcome == "left"


async def test_a_plain_answer_has_no_comments(far: FarGateway) -> None:
    silent = asyncio.Event()
    far.fake.script = Script(silent=silent)
    pending = asyncio.create_task(far.plain())
    await far.fake.until(lambda: bool(far.fake.served) and not far.fake.last.ended)
    await asyncio.wait([pending], timeout=3 * QUIET_S)
    silent.set()

    assert (await pending).json()["choices"][0]["message"]["content"] == "Hello, world!"


async def test_the_openai_sdk_hears_nothing_of_them(far: FarGateway) -> None:
    silent = asyncio.Event()
    far.fake.script = Script(silent=silent)
    async with openai.AsyncOpenAI(base_url=far.gateway.base_url, api_key=far.key, max_retries=0) as sdk:
        stream = await sdk.chat.completions.create(
            model="far", messages=[{"role": "user", "content": "Hi"}], stream=True
        )  # returns with the headers, which go out with the first comment
        silent.set()
        said = "".join([chunk.choices[0].delta.content or "" async for chunk in stream])

    assert said == "Hello, world!"


async def test_no_comment_is_written_into_a_piece_that_waits_for_its_reader() -> None:
    begun: list[bytes] = []
    slow = asyncio.Event()

    async def send(message: dict[str, Any]) -> None:
        if message["type"] == "http.response.body":
            begun.append(message["body"])
            await slow.wait()

    async def never() -> Any:
        await asyncio.Event().wait()

    with Departure(never) as departure, Impatient(send, departure, ChatSpeech(usage=False), 0) as reply:
        reply._keep_alive.start()
        writing = asyncio.create_task(reply._write(b"piece"))
        await asyncio.wait([writing], timeout=3 * QUIET_S)
        assert begun == [b"piece"]
        slow.set()
        await writing


async def test_the_policy_says_how_long_a_silence_may_be(tmp_path: Path) -> None:
    async with far_gateway(tmp_path, "chat") as far:
        assert far.gateway.services.in_force.governed.policy.document.reliability.keep_alive == 15
