"""A provider that is slow: for a connection, its first token, the next piece and the whole there is a time-out each."""

import asyncio
import socket
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from gateway.policy.reliability import Timeouts
from tests.support.providers.answer import Answer
from tests.support.providers.gateways import TELLS_PER_CHUNK, FarGateway, far_gateway
from tests.support.providers.script import Script

SHORT_S, LONG_S = 0.15, 30.0
PATIENT = Timeouts(connect_s=LONG_S, first_token_s=LONG_S, idle_s=LONG_S)


def late(reply: httpx.Response) -> str:
    assert (reply.status_code, reply.json()["error"]["code"]) == (504, "upstream_timeout")
    assert reply.headers["x-should-retry"] == "true"
    return str(reply.json()["error"]["message"])


@pytest.mark.parametrize("stream", [True, False])
async def test_a_provider_that_says_nothing_is_given_up_with_a_status(far: FarGateway, stream: bool) -> None:
    far.upstream.timeouts = replace(PATIENT, first_token_s=SHORT_S)
    far.fake.script = Script(silent=asyncio.Event())

    reply = await far.plain(stream=stream)

    assert late(reply) == "Provider 'far' did not begin its answer within 0.15 s."
    assert (await far.fake.until_ended()).ended == "left"
    row = await far.row()
    assert (row.outcome, row.code) == ("failed", "upstream_timeout")
    assert (row.estimated, row.cost.nanos > 0) == (far.upstream.sells,) * 2  # a seller may bill the prompt all the same
    assert far.gateway.services.purse.open_holds == 0


async def test_comments_are_no_token(far: FarGateway) -> None:
    far.upstream.timeouts = replace(PATIENT, first_token_s=SHORT_S)
    far.fake.script = Script(silent=asyncio.Event(), murmur_s=0.02)

    assert "did not begin" in late(await far.plain(stream=True))


async def test_the_beginning_of_a_message_and_pings_are_no_token(far: FarGateway) -> None:
    far.upstream.timeouts = replace(PATIENT, first_token_s=SHORT_S)
    far.fake.script = Script(pondering=asyncio.Event())

    assert "did not begin" in late(await far.plain())


async def test_an_answer_that_stops_in_the_middle_is_given_up(far: FarGateway) -> None:
    far.upstream.timeouts = replace(PATIENT, idle_s=SHORT_S)
    far.fake.script = Script(gate=asyncio.Semaphore(1))

    assert late(await far.plain()) == "Provider 'far' stopped in its answer for 0.15 s."
    async with far.streamed() as reply:
        said = b"".join([read async for read in reply.aiter_raw()])

    assert reply.status_code == 200
    assert b"stopped in its answer" in said.split(b"\n\n")[-2]
    assert b"[DONE]" not in said
    assert (await far.row(2)).estimated == (far.kind not in TELLS_PER_CHUNK)


async def test_a_slow_but_living_stream_is_never_given_up(far: FarGateway) -> None:
    far.upstream.timeouts = replace(PATIENT, idle_s=1.0)
    far.fake.script = Script(answer=Answer(texts=("a",) * 12), pause_s=0.1)

    reply = await far.plain()

    assert reply.json()["choices"][0]["message"]["content"] == "a" * 12


async def test_comments_keep_an_answer_alive_that_has_begun(far: FarGateway) -> None:
    if far.kind == "converse":  # its streams have no comments
        return
    far.upstream.timeouts, gate = replace(PATIENT, idle_s=1.5), asyncio.Semaphore(1)
    far.fake.script = Script(gate=gate, murmur_s=0.02)
    pending = asyncio.create_task(far.plain())
    await far.fake.until(lambda: bool(far.fake.served) and not far.fake.last.ended)
    done, _ = await asyncio.wait([pending], timeout=2.5)
    assert not done
    far.fake.script.let_go()

    assert (await pending).status_code == 200


async def test_the_wait_for_the_first_token_may_be_longer_than_that_between_two(far: FarGateway) -> None:
    far.upstream.timeouts = replace(PATIENT, idle_s=SHORT_S)
    silent = asyncio.Event()
    far.fake.script = Script(silent=silent)
    pending = asyncio.create_task(far.plain())
    await far.fake.until(lambda: bool(far.fake.served))
    done, _ = await asyncio.wait([pending], timeout=2 * SHORT_S)
    assert not done
    silent.set()

    assert (await pending).status_code == 200


async def test_a_stream_that_goes_on_for_ever_is_given_up_in_the_end(far: FarGateway) -> None:
    far.upstream.timeouts = replace(PATIENT, idle_s=1.0)
    far.fake.script = Script(answer=Answer(texts=("a",) * 1000), pause_s=0.02)
    headers = {"x-sluice-timeout-ms": "300", "x-api-key": far.key}
    body = {"model": "far", "messages": [{"role": "user", "content": "Hi"}], "stream": True}

    reply = await far.gateway.client.post("/v1/chat/completions", json=body, headers=headers)

    assert reply.status_code == 200
    assert "The answer was not complete in time." in reply.text.split("\n\n")[-2]
    assert (await far.row()).cost.nanos > 0


@pytest.fixture
def deaf() -> Iterator[int]:
    """Give the port of a socket that takes no more connections."""
    with ExitStack() as stack:
        listening = stack.enter_context(socket.socket())
        listening.bind(("127.0.0.1", 0))
        listening.listen(0)
        for _ in range(3):  # the queue of those who wait is full with the first
            waiting = stack.enter_context(socket.socket())
            waiting.setblocking(False)  # noqa: FBT003  as the socket module has it
            waiting.connect_ex(listening.getsockname())
        yield listening.getsockname()[1]


async def test_a_provider_that_takes_no_connection_is_given_up_and_not_paid(tmp_path: Path, deaf: int) -> None:
    async with far_gateway(tmp_path, "chat", base_url=f"http://127.0.0.1:{deaf}/v1") as far:
        far.upstream.timeouts = replace(PATIENT, connect_s=SHORT_S)

        assert late(await far.plain()) == "Provider 'far' took no connection within 0.15 s."
        row = await far.row()
        assert (row.outcome, row.code, row.cost.nanos) == ("failed", "upstream_timeout", 0)


async def test_the_policy_says_how_long_for_everyone_and_for_one(tmp_path: Path) -> None:
    async with far_gateway(tmp_path, "chat", timeouts={"connect": "3s", "idle": "1m"}) as far:
        assert far.upstream.timeouts == Timeouts(connect_s=3, first_token_s=120, idle_s=60, total_s=600)
