"""A gateway in front of the fake provider, once for each kind that it can be: starting one takes longer than a test."""

from collections.abc import AsyncGenerator

import pytest

from tests.support.providers.gateways import KINDS, FarGateway, far_gateway
from tests.support.providers.script import Script
from tests.support.waiting import until


@pytest.fixture(scope="module", params=KINDS)
async def running(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncGenerator[FarGateway]:
    async with far_gateway(tmp_path_factory.mktemp(request.param), request.param) as far:
        yield far


@pytest.fixture
async def far(running: FarGateway) -> AsyncGenerator[FarGateway]:
    """Give the gateway as it was at its start, and wait afterwards for what the test has begun."""
    upstream, purse = running.upstream, running.gateway.services.purse
    leave, timeouts = upstream.leave, upstream.timeouts
    running.fake.script, running.before = Script(), len(await running.gateway.rows())
    yield running
    upstream.leave, upstream.timeouts = leave, timeouts
    running.fake.script.let_go()
    await until(lambda: purse.open_holds == 0)
    await running.gateway.rows()
