"""Streams that break, clients that leave, providers that lie: the settled amount is right and nothing stays held."""

import asyncio
from collections.abc import AsyncGenerator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest

from gateway.endpoints.edge import Visit, ask
from gateway.speech.chat import ChatSpeech
from gateway.wire.departure import Departure
from gateway.wire.reply import PlainReply
from gateway.wire.request.chat_body import decode_chat
from tests.support.running_gateway import RunningGateway, policy, running_gateway


@pytest.fixture
async def gateway(tmp_path: Path) -> AsyncGenerator[RunningGateway]:
    async with running_gateway(tmp_path, policy(cache={})) as running:
        yield running


async def leave_after(gateway: RunningGateway, key: str, pieces: int, *, stream: bool) -> None:
    """Begin a request and drop its connection once the upstream has sent so many pieces."""
    gateway.upstream.script.gate = asyncio.Event()
    body = b'{"model":"auto","messages":[{"role":"user","content":"Hi"}],"stream":%s}' % (
        b"true" if stream else b"false"
    )
    _, writer = await asyncio.open_connection("127.0.0.1", gateway.port)
    head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nx-api-key: {key}\r\nContent-Length: {len(body)}\r\n\r\n"
    writer.write(head.encode() + body)
    for sent in range(1, pieces):
        await gateway.upstream.until(lambda sent=sent: gateway.upstream.pieces_sent == sent)
        gateway.upstream.script.gate.set()
    await gateway.upstream.until(lambda: gateway.upstream.pieces_sent == pieces)
    writer.close()
    await writer.wait_closed()


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("pieces", [1, 2, 3])
async def test_a_client_that_leaves_pays_for_what_was_made_and_stops_it(
    gateway: RunningGateway, pieces: int, stream: bool
) -> None:
    await leave_after(gateway, await gateway.key(), pieces, stream=stream)
    (row,) = await gateway.rows(1)
    await gateway.upstream.until(lambda: gateway.upstream.finished == 1)

    assert (row.kind, row.outcome, row.status) == ("settled", "left", 499)
    assert (row.input_tokens, row.output_tokens, row.estimated) == (12, pieces, False)
    assert gateway.upstream.abandoned == 1
    assert gateway.services.purse.open_holds == 0


async def test_a_stream_cut_by_the_upstream_ends_with_an_error_event_and_is_paid_for(gateway: RunningGateway) -> None:
    gateway.upstream.script.cut_after = 2

    reply = await gateway.chat(await gateway.key(), stream=True)

    events = reply.text.strip().split("\n\n")
    assert reply.status_code == 200
    assert '"code":"upstream_error"' in events[-1]
    assert "[DONE]" not in reply.text
    (row,) = await gateway.rows(1)
    assert (row.kind, row.outcome, row.code) == ("settled", "failed", "upstream_error")
    assert row.output_tokens == 2


async def test_an_error_event_inside_a_stream_is_passed_on_as_ours(gateway: RunningGateway) -> None:
    gateway.upstream.script.fail_after = 1

    reply = await gateway.chat(await gateway.key(), stream=True)

    assert '"code":"upstream_error"' in reply.text
    assert "[DONE]" not in reply.text


async def test_a_plain_answer_cut_by_the_upstream_is_a_502(gateway: RunningGateway) -> None:
    gateway.upstream.script.cut_after = 2

    reply = await gateway.chat(await gateway.key())

    assert reply.status_code == 502
    assert reply.json()["error"]["code"] == "upstream_error"
    assert reply.headers["x-should-retry"] == "true"


async def test_a_stream_that_ends_without_finishing_is_no_clean_end(gateway: RunningGateway) -> None:
    gateway.upstream.script.raw = b'data: {"choices":[{"index":0,"delta":{"content":"half"}}]}\n\ndata: [DONE]\n\n'

    reply = await gateway.chat(await gateway.key(), stream=True)

    assert '"code":"upstream_error"' in reply.text
    assert "data: [DONE]" not in reply.text


async def test_an_upstream_that_tells_no_usage_is_settled_by_a_marked_estimate(gateway: RunningGateway) -> None:
    gateway.upstream.script.usage = False

    reply = await gateway.chat(await gateway.key())

    (row,) = await gateway.rows(1)
    assert row.estimated
    assert row.cost.nanos > 0
    assert reply.json()["usage"]["completion_tokens"] == row.output_tokens == 4


async def test_nonsense_from_the_upstream_is_a_502(gateway: RunningGateway) -> None:
    gateway.upstream.script.raw = b"data: {not json}\n\n"

    assert (await gateway.chat(await gateway.key())).status_code == 502


async def test_a_request_with_a_deadline_times_out_and_stops_the_upstream(gateway: RunningGateway) -> None:
    gateway.upstream.script.gate = asyncio.Event()

    reply = await gateway.chat(await gateway.key(), headers={"x-sluice-timeout-ms": "150"})

    await gateway.upstream.until(lambda: gateway.upstream.finished == 1)
    assert reply.status_code == 504
    assert reply.json()["error"]["code"] == "upstream_timeout"
    assert gateway.upstream.abandoned == 1


async def test_the_first_piece_arrives_before_the_last_is_made(gateway: RunningGateway) -> None:
    gateway.upstream.script.gate = asyncio.Event()
    key = await gateway.key()
    asked = {"model": "auto", "messages": [{"role": "user", "content": "Hi"}], "stream": True}
    async with gateway.client.stream("POST", "/v1/chat/completions", json=asked, headers={"x-api-key": key}) as reply:
        received = b""
        async for chunk in reply.aiter_bytes():
            received += chunk
            if b"Hello" in received:
                break
        assert gateway.upstream.pieces_sent == 1


async def test_each_upstream_call_is_one_attempt_in_the_ledger(gateway: RunningGateway) -> None:
    key = await gateway.key()
    await asyncio.gather(*(gateway.chat(key, str(n), stream=bool(n % 2)) for n in range(10)))

    rows = await gateway.rows(10)
    assert sum(row.attempts for row in rows) == len(gateway.upstream.bodies) == 10


async def test_stopping_settles_what_is_in_flight(tmp_path: Path) -> None:
    async with running_gateway(tmp_path, policy(cache={})) as gateway:
        gateway.upstream.script.gate = asyncio.Event()
        pending = asyncio.create_task(gateway.chat(await gateway.key(), stream=True))
        await gateway.upstream.until(lambda: gateway.upstream.pieces_sent == 1)
    await asyncio.gather(pending, return_exceptions=True)

    async with running_gateway(tmp_path, policy(cache={})) as gateway:
        (row,) = await gateway.rows(1)
        assert (row.kind, row.output_tokens) == ("settled", 1)


async def test_a_chunk_of_odd_shape_does_not_make_an_answer_free(gateway: RunningGateway) -> None:
    odd = {"choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, "function": None}]}, "message": "hi",
                        "finish_reason": ["stop"]}], "usage": "x"}  # fmt: skip
    gateway.upstream.script.raw = b"data: " + msgspec.json.encode(odd) + b"\n\ndata: [DONE]\n\n"

    reply = await gateway.chat(await gateway.key())

    (row,) = await gateway.rows(1)
    assert reply.status_code == 200
    assert (row.kind, row.outcome, row.attempts, row.estimated) == ("settled", "ok", 1, True)
    assert row.cost.nanos > 0


async def test_a_report_beyond_what_was_held_is_booked_and_seen(gateway: RunningGateway) -> None:
    gateway.upstream.script.prompt_tokens = 50_000_000

    reply = await gateway.chat(await gateway.key())

    (row,) = await gateway.rows(1)
    assert row.cost > row.held
    assert reply.headers["x-sluice-cost-usd"] == row.cost.usd
    assert 'sluice_overshot_usd_total{provider="engine"} 4.9' in (await gateway.client.get("/metrics")).text


async def test_nothing_is_bought_for_a_client_that_has_left_before_it_was(gateway: RunningGateway) -> None:
    async def gone() -> dict[str, str]:
        return {"type": "http.disconnect"}

    async def unheard(message: dict[str, Any]) -> None:
        raise AssertionError(f"nobody is there to be sent {message}")

    key, left = await gateway.key(), asyncio.Event()
    body, fields = decode_chat(b'{"model":"auto","messages":[{"role":"user","content":"Hi"}]}')
    now = datetime.now(UTC)
    caller = gateway.services.keyring.authenticate(key, now)
    asked = ask(Visit("r1", now, 0.0, {}, gone, unheard), caller, "chat", 60, body, fields, total_s=9)
    with Departure(gone) as departure:
        departure.then(left.set)
        await left.wait()
        await gateway.services.in_force.governed.chat.answer(
            asked, PlainReply(unheard, departure, ChatSpeech(usage=False))
        )
    (row,) = await gateway.rows(1)

    assert (row.kind, row.cost.usd, row.attempts, gateway.upstream.bodies) == ("cancelled", "0.00", 0, [])
    assert gateway.services.purse.open_holds == 0
