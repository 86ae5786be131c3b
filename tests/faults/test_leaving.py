"""Faults that others have published about clients that leave; each test is named for what is right."""

import asyncio
from collections.abc import AsyncGenerator

import pytest

from gateway.providers.leaving import CANCEL, DRAIN
from governance.ledger.reading.reports import RequestRow
from tests.support.books import books
from tests.support.providers.gateways import FarGateway, cost, far_gateway
from tests.support.providers.script import Script
from tests.support.waiting import until


@pytest.fixture(scope="module", params=["chat", "messages", "vllm"])
async def far(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[FarGateway]:
    async with far_gateway(tmp_path_factory.mktemp("left"), request.param) as running:
        yield running
        await running.gateway.rows()
        assert (await books(running.gateway.database)).balanced


async def left(far: FarGateway, *, stream: bool) -> RequestRow:
    """Ask, leave after the second piece, let the provider go on, and return what was booked once nothing is held."""
    far.before, gate = len(await far.gateway.rows()), asyncio.Semaphore(1)
    far.fake.script = Script(gate=gate)
    pending = asyncio.create_task(far.plain(stream=stream))
    await far.fake.until(lambda: bool(far.fake.served) and far.fake.last.made == 2 and not far.fake.last.ended)
    pending.cancel()
    await asyncio.gather(pending, return_exceptions=True)
    await far.leavings.acquire()
    far.fake.script.let_go()
    row = await far.row()
    await until(lambda: far.gateway.services.purse.open_holds == 0)
    return row


@pytest.mark.parametrize("stream", [True, False])
async def test_an_answer_whose_client_left_is_one_row_with_all_that_its_provider_bills(
    far: FarGateway, stream: bool
) -> None:
    """BerriAI/litellm 14457, 36008, 37558, 37734, 39893: no row, or the hold stays; 13245: so without a stream."""
    far.upstream.leave = DRAIN
    row = await left(far, stream=stream)

    assert (row.kind, row.outcome, row.estimated) == ("settled", "left", False)
    assert (row.cost, far.fake.last.ended) == (cost(far.fake.last.tokens), "whole")


@pytest.mark.parametrize("stream", [True, False])
async def test_a_call_that_nobody_waits_for_is_stopped_where_the_rule_says_so(far: FarGateway, stream: bool) -> None:
    """BerriAI/litellm 17364: the provider goes on, and is paid for nobody."""
    far.upstream.leave = CANCEL
    row = await left(far, stream=stream)

    assert (await far.fake.until_ended()).ended == "left"
    assert (row.kind, row.outcome) == ("settled", "left")
    assert 0 < row.cost.nanos <= row.held.nanos
