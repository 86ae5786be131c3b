"""How long a store is waited for, and when it is given up."""

import asyncio
import time
from typing import Any

import pytest

from governance.counters.turns import Turns
from governance.errors import StoreUnavailable
from tests.support.waiting import until


async def answer(after_s: float = 0.0) -> str:
    await asyncio.sleep(after_s)
    return "answer"


async def silence() -> str:
    await asyncio.Event().wait()
    return "never"


async def test_an_answer_is_handed_on() -> None:
    assert await Turns("Redis", 2, 10).take(answer) == "answer"


async def test_a_silent_store_is_named_with_the_time_it_had() -> None:
    with pytest.raises(StoreUnavailable, match="Redis does not answer within 20 ms"):
        await Turns("Redis", 2, 0.02).take(silence)


async def test_whoever_waits_for_a_turn_fails_with_whom_the_store_failed() -> None:
    turns, called = Turns("Redis", 1, 0.02), False

    async def call() -> None:
        nonlocal called
        called = True

    results = await asyncio.gather(turns.take(silence), turns.take(call), return_exceptions=True)
    assert [type(result) for result in results] == [StoreUnavailable, StoreUnavailable]
    assert not called
    await turns.take(call)
    assert called


async def test_a_store_that_answers_others_is_slow_and_not_away() -> None:
    turns = Turns("Redis", 2, 0.2)
    slow = asyncio.create_task(turns.take(lambda: answer(0.5)))
    while not slow.done():
        await turns.take(lambda: answer(0.01))
    assert await slow == "answer"


async def test_a_call_that_is_never_answered_ends_although_others_are() -> None:
    turns = Turns("Redis", 2, 0.04)
    lost = asyncio.create_task(turns.take(silence))
    while not lost.done():
        await turns.take(lambda: answer(0.001))
    with pytest.raises(StoreUnavailable):
        await lost


async def test_time_that_our_own_loop_lost_is_not_the_store_s() -> None:
    loop = asyncio.get_running_loop()

    async def late() -> str:
        loop.call_soon(time.sleep, 0.2)
        return await asyncio.to_thread(lambda: "answer")

    assert await Turns("Redis", 2, 0.05).take(late) == "answer"


async def test_the_store_s_own_failure_is_handed_on() -> None:
    async def fails() -> None:
        raise StoreUnavailable("it is on fire")

    with pytest.raises(StoreUnavailable, match="on fire"):
        await Turns("Redis", 2, 10).take(fails)


async def test_whoever_is_cancelled_takes_the_call_along() -> None:
    turns, ended = Turns("Redis", 1, 10), asyncio.Event()

    async def call() -> None:
        try:
            await silence()
        finally:
            ended.set()

    waiting = asyncio.create_task(turns.take(call))
    await asyncio.sleep(0.01)
    waiting.cancel()
    await ended.wait()
    assert await turns.take(answer) == "answer"


async def test_a_driver_that_puts_off_its_end_keeps_nobody_waiting() -> None:
    turns, released = Turns("PostgreSQL", 1, 0.02), asyncio.Event()
    ends: list[Any] = []

    async def stubborn() -> None:
        try:
            await silence()
        except asyncio.CancelledError:
            await released.wait()
            ends.append("given up")
            raise

    with pytest.raises(StoreUnavailable):
        await turns.take(stubborn)
    assert await turns.take(answer) == "answer"
    assert ends == []
    released.set()
    await until(lambda: ends == ["given up"])
    await turns.close()
