"""Whatever ends a request, and whenever: its hold ends, once, at what was used."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gateway.chat import ChatService
from gateway.providers.leaving import CANCEL, DRAIN, Leave
from gateway.steps.purchasing import _unbroken
from governance.counters.memory import MemoryCounters
from tests.support.providers.answer import Answer
from tests.support.providers.gateways import TELLS_PER_CHUNK, FarGateway, cost, far_gateway
from tests.support.providers.script import Script
from tests.support.running_gateway import policy, running_gateway


async def caught(far: FarGateway, monkeypatch: pytest.MonkeyPatch) -> Callable[[], asyncio.Task[Any]]:
    """Return what tells the gateway's own task for the next request."""
    tasks: list[asyncio.Task[Any]] = []
    answer = ChatService.answer

    async def noted(self: ChatService, *given: Any) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.append(task)
        await answer(self, *given)

    monkeypatch.setattr(ChatService, "answer", noted)
    return lambda: tasks[-1]


async def begun(far: FarGateway, pieces: int) -> asyncio.Task[Any]:
    """Ask, and come back once so many pieces have been made."""
    far.fake.script = Script(answer=Answer(), gate=asyncio.Semaphore(pieces - 1))
    asked = len(far.fake.served)
    pending = asyncio.create_task(far.plain(stream=True))
    await far.fake.until(lambda: len(far.fake.served) > asked)
    await far.fake.until_made(pieces)
    await asyncio.sleep(0.02)  # the gateway has read it
    return pending


async def test_the_death_of_its_task_settles_a_request_at_what_was_made(
    far: FarGateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    task_of = await caught(far, monkeypatch)
    for count, pieces in enumerate((1, 2, 3), 1):
        pending = await begun(far, pieces)
        task_of().cancel()
        await asyncio.gather(pending, return_exceptions=True)
        row = await far.row(count)

        assert (row.kind, row.outcome) == ("settled", "left")
        exact = far.kind in TELLS_PER_CHUNK
        assert row.estimated is not exact
        assert row.cost.nanos > 0
        assert not exact or row.cost == cost(far.fake.last.tokens)
        assert far.gateway.services.purse.open_holds == 0
        assert (await far.fake.until_ended()).ended == "left"


async def test_a_request_that_is_cancelled_again_and_again_while_it_is_settled_is_settled(
    far: FarGateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    task_of, settling, may = await caught(far, monkeypatch), asyncio.Event(), asyncio.Event()
    settle = MemoryCounters.settle

    async def slow(self: MemoryCounters, hold_id: str, actuals: Any) -> Any:
        settling.set()
        await may.wait()
        return await settle(self, hold_id, actuals)

    monkeypatch.setattr(MemoryCounters, "settle", slow)
    pending = await begun(far, 2)
    for _ in range(3):
        task_of().cancel()
        await settling.wait()
    may.set()
    await asyncio.gather(pending, return_exceptions=True)

    row = await far.row()
    assert (row.kind, row.outcome) == ("settled", "left")
    assert row.cost.nanos > 0
    assert far.gateway.services.purse.open_holds == 0


async def test_work_that_fails_while_it_is_cancelled_says_so() -> None:
    may = asyncio.Event()

    async def fails() -> None:
        await may.wait()
        raise ValueError("no")

    task = asyncio.create_task(_unbroken(fails()))
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.sleep(0)
    may.set()
    with pytest.raises(ValueError, match="no"):
        await task


@pytest.mark.parametrize("rule", [CANCEL, DRAIN], ids=["cancel", "drain"])
@pytest.mark.parametrize("gone", [True, False], ids=["gone", "there"])
async def test_a_server_that_stops_settles_what_it_was_answering(tmp_path: Path, rule: Leave, gone: bool) -> None:
    async with far_gateway(tmp_path, "vllm") as far:
        far.upstream.leave = rule
        pending = await begun(far, 2)
        if gone:
            pending.cancel()
            await far.leavings.acquire()
    await asyncio.gather(pending, return_exceptions=True)

    async with running_gateway(tmp_path, policy()) as again:
        (row,) = await again.rows(1)
        assert (row.kind, row.outcome, row.estimated, row.output_tokens) == ("settled", "left", False, 2)
        assert row.cost == cost(far.fake.last.answer.tokens(2))
