"""A request that nobody begins to answer is made a second time elsewhere, and both calls are paid for."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from gateway.wire.sse import COMMENT
from tests.support.scripted_upstream import Script
from tests.support.three_providers import ThreeProviders, three_providers
from tests.support.waiting import until


@asynccontextmanager
async def hedged(tmp_path: Path, **changes: Any) -> AsyncGenerator[ThreeProviders]:
    reliability = {"retries": 0, "hedge": {"after": "1s", "models": ["both"]}}
    async with three_providers(tmp_path, **{"reliability": reliability} | changes) as at:
        yield at


def silent(event: asyncio.Event | None = None) -> Script:
    return Script(silent=event or asyncio.Event())


@pytest.mark.parametrize("stream", [True, False])
async def test_the_second_call_answers_for_one_that_says_nothing_and_both_are_booked(
    tmp_path: Path, stream: bool
) -> None:
    async with hedged(tmp_path) as at:
        at.one.script = silent()
        reply = await at.chat(stream=stream)

        assert "world" in reply.text
        named = [reply.headers[f"x-sluice-{name}"] for name in ("model", "provider", "route", "attempts")]
        assert named == ["second", "two", "fallback:1", "2"]
        row, (stopped, answered) = await at.told()
        assert (stopped.model, stopped.outcome, answered.model, answered.outcome) == ("first", "left", "second", "ok")
        assert (row.model, row.outcome) == ("second", "ok")
        assert row.cost == stopped.cost + answered.cost
        assert stopped.cost.nanos > 0  # a cloud may bill what it has read
        await at.one.until(lambda: at.one.abandoned == 1)
        assert (at.calls, at.gateway.services.purse.open_holds) == ((0, 1, 1), 0)


async def test_one_that_answers_in_time_is_the_only_one(tmp_path: Path) -> None:
    async with hedged(tmp_path) as at:
        reply = await at.chat()
        assert (reply.headers["x-sluice-route"], reply.headers["x-sluice-attempts"], at.calls) == (
            "weak",
            "1",
            (0, 1, 0),
        )


async def test_what_is_not_hedged_waits_for_its_one_call(tmp_path: Path) -> None:
    async with hedged(tmp_path) as at:
        at.one.script = silent()
        reply = await at.chat("first", headers={"x-sluice-timeout-ms": "1500"})
        assert (reply.status_code, at.calls) == (504, (0, 1, 0))


async def test_the_first_call_answers_when_it_speaks_first_after_all(tmp_path: Path) -> None:
    async with hedged(tmp_path) as at:
        late = asyncio.Event()
        at.one.script, at.two.script = silent(late), silent()
        pending = asyncio.create_task(at.chat())
        await at.two.until(lambda: len(at.two.bodies) == 1)
        late.set()
        reply = await pending

        assert [reply.headers[f"x-sluice-{name}"] for name in ("model", "route", "attempts")] == ["first", "weak", "2"]
        row, attempts = await at.told()
        assert [(made.model, made.outcome) for made in attempts] == [("second", "left"), ("first", "ok")]
        assert (row.model, row.cost) == ("first", attempts[0].cost + attempts[1].cost)


async def test_both_are_held_for_while_both_run_and_one_when_one_answers(tmp_path: Path) -> None:
    async with hedged(tmp_path) as at:
        late = asyncio.Event()
        at.one.script, at.two.script = silent(), Script(gate=late)
        pending = asyncio.create_task(at.chat(stream=True))
        await until(lambda: worst(at) > 0)
        alone = worst(at)
        await at.two.until(lambda: at.two.pieces_sent == 1)
        await until(lambda: len(opened(at)) == 1 and opened(at)[0].spent.nanos > 0)
        (hold,) = opened(at)
        assert hold.opening.model == "second"
        assert hold.worst.cost.nanos == hold.spent.nanos + 2 * alone  # at twice the price of the first
        while not pending.done():
            late.set()
            await asyncio.sleep(0)
        await pending


async def test_without_money_for_two_there_is_one(tmp_path: Path) -> None:
    teams = [{"name": "blue", "apps": [{"name": "bot", "budgets": [{"limit": 0.006, "window": "day"}]}]}]
    async with hedged(tmp_path, teams=teams) as at:
        at.one.script = silent()
        reply = await at.chat(headers={"x-sluice-timeout-ms": "1500"})
        assert (reply.status_code, at.calls) == (504, (0, 1, 0))


async def test_a_first_call_that_speaks_while_the_second_is_held_for_stays_the_only_one(tmp_path: Path) -> None:
    async with hedged(tmp_path) as at:
        late, asked, granted = asyncio.Event(), asyncio.Event(), asyncio.Event()
        counters: Any = at.gateway.services.purse._till.counters
        redraw, before = counters.redraw, list[int]()

        async def slowly(hold_id: str, draws: Any) -> Any:
            asked.set()
            await granted.wait()
            before.append(worst(at))
            return await redraw(hold_id, draws)

        counters.redraw = slowly
        at.one.script = Script(silent=late, gate=asyncio.Event())
        async with AsyncExitStack() as stack:
            spoken = asyncio.create_task(stack.enter_async_context(streamed(at)))
            await asked.wait()
            alone = worst(at)
            late.set()
            reply = await spoken
            granted.set()
            await until(lambda: before == [alone, 3 * alone] and worst(at) == alone)  # the second is twice as dear

        assert (reply.headers["x-sluice-attempts"], at.calls) == ("1", (0, 1, 0))


async def test_the_second_call_answers_for_one_that_has_failed_meanwhile(tmp_path: Path) -> None:
    async with hedged(tmp_path) as at:
        late, later = asyncio.Event(), asyncio.Event()
        at.one.script, at.two.script = Script(silent=late, raw=b""), silent(later)
        pending = asyncio.create_task(at.chat(stream=True))
        await at.two.until(lambda: len(at.two.bodies) == 1)
        late.set()
        await until(lambda: at.one.finished == 1)
        later.set()
        reply = await pending

        assert [reply.headers[f"x-sluice-{name}"] for name in ("model", "attempts")] == ["second", "2"]
        _, attempts = await at.told()
        assert [(made.model, made.outcome) for made in attempts] == [("first", "failed"), ("second", "ok")]


async def test_a_client_hears_signs_of_life_while_neither_speaks(tmp_path: Path) -> None:
    late = asyncio.Event()
    reliability = {"keep_alive": "1s", "hedge": {"after": "60s", "models": ["both"]}}
    async with hedged(tmp_path, reliability=reliability) as at:
        at.one.script = silent(late)
        async with streamed(at) as reply:
            heard = reply.aiter_bytes()
            assert await anext(heard) == COMMENT
            late.set()
            assert "world" in b"".join([piece async for piece in heard]).decode()


async def test_when_both_fail_the_next_in_line_is_tried(tmp_path: Path) -> None:
    async with hedged(tmp_path) as at:
        late = asyncio.Event()
        at.one.script = Script(silent=late, raw=b"")
        at.two.before = [Script(status=500)]
        pending = asyncio.create_task(at.chat())
        await at.two.until(lambda: len(at.two.bodies) == 1)
        late.set()
        reply = await pending

        assert (reply.status_code, reply.headers["x-sluice-model"], at.calls) == (200, "cheap", (0, 1, 2))
        row, attempts = await at.told()
        assert [made.model for made in attempts] == ["second", "first", "cheap"]
        assert row.attempts == 3


async def test_a_client_that_leaves_both_leaves_nothing_open(tmp_path: Path) -> None:
    async with hedged(tmp_path) as at:
        gates = asyncio.Event(), asyncio.Event()
        at.one.script, at.two.script = silent(gates[0]), silent(gates[1])
        pending = asyncio.create_task(at.chat(stream=True))
        await at.two.until(lambda: len(at.two.bodies) == 1)
        pending.cancel()
        await asyncio.gather(pending, return_exceptions=True)
        gates[0].set()
        gates[1].set()

        row, attempts = await at.told()
        assert (row.kind, row.outcome, len(attempts)) == ("settled", "left", 2)
        assert at.gateway.services.purse.open_holds == 0


@asynccontextmanager
async def streamed(at: ThreeProviders) -> AsyncGenerator[httpx.Response]:
    body = {"model": "both", "messages": [{"role": "user", "content": "Hi"}], "stream": True}
    headers = {"x-api-key": at.key}
    async with at.gateway.client.stream("POST", "/v1/chat/completions", json=body, headers=headers) as reply:
        yield reply


def opened(at: ThreeProviders) -> list[Any]:
    return list(at.gateway.services.purse._till.open.values())


def worst(at: ThreeProviders) -> int:
    return max((hold.worst.cost.nanos for hold in opened(at)), default=0)
