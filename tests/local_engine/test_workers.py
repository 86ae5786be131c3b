import asyncio
import threading

import pytest

from local_engine.errors import CallerGone, EngineStopped
from local_engine.workers import Workers, unless_gone
from tests.support.waiting import until


class Errand:
    """A call that says when it began and ends when it is let."""

    def __init__(self) -> None:
        self.begun = threading.Event()
        self.may_end = threading.Event()

    def __call__(self) -> str:
        self.begun.set()
        assert self.may_end.wait(20)
        return "done"


async def test_a_call_is_made_and_its_answer_or_error_comes_back() -> None:
    workers = Workers(1)
    assert await workers.run(lambda: 5) == 5
    with pytest.raises(ZeroDivisionError):
        await workers.run(lambda: 1 / 0)
    workers.close()


async def test_a_call_whose_caller_left_before_its_turn_is_never_made() -> None:
    workers, first, never = Workers(1), Errand(), Errand()
    running = asyncio.create_task(workers.run(first))
    await until(first.begun.is_set)
    queued = asyncio.create_task(workers.run(never))
    await asyncio.sleep(0)
    queued.cancel()
    await asyncio.wait({queued})
    first.may_end.set()
    assert await running == "done"
    assert await workers.run(lambda: "next") == "next"
    assert not never.begun.is_set()
    workers.close()


async def test_closing_ends_those_who_wait_at_once_and_waits_for_no_call() -> None:
    workers, first = Workers(1), Errand()
    asked = [asyncio.create_task(workers.run(first)) for _ in range(2)]
    await until(first.begun.is_set)
    workers.close()
    workers.close()
    answers = await asyncio.wait_for(asyncio.gather(*asked, return_exceptions=True), 5)
    assert [type(answer) for answer in answers] == [EngineStopped, EngineStopped]
    with pytest.raises(EngineStopped):
        await workers.run(lambda: 1)
    first.may_end.set()


async def test_work_is_given_up_when_the_caller_has_gone() -> None:
    gone, given_up = asyncio.Event(), asyncio.Event()

    async def work() -> str:
        try:
            await asyncio.Event().wait()
        finally:
            given_up.set()
        return "never"

    asking = asyncio.create_task(unless_gone(gone.wait, work()))
    await asyncio.sleep(0)
    gone.set()
    with pytest.raises(CallerGone):
        await asking
    assert given_up.is_set()
