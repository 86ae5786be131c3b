"""What only a PostgreSQL can do to its clients."""

import asyncio

import pytest

from governance.counters import Draw, Level
from governance.counters.postgres import PostgresCounters, _hold
from governance.errors import StoreUnavailable
from tests.conformance.test_counters import NOW, RUNNING, TEAM
from tests.support.homes import migrated, postgres_home
from tests.support.servers import PostgresServer
from tests.support.servers import postgres_server as own_postgres
from tests.support.waiting import eventually

SOON = NOW + 60
DRAWS = [Draw(TEAM, 30, 100), Draw(RUNNING, 1, 5)]


async def test_cancelling_waits_for_a_hold_that_is_still_to_commit(postgres_server: PostgresServer) -> None:
    async with postgres_home(postgres_server) as counters:
        async with counters._database.transaction() as connection:
            await _hold(connection, "h", DRAWS, SOON, limited=True)
            cancelling = asyncio.create_task(counters.cancel("h"))
            assert not (await asyncio.wait({cancelling}, timeout=0.1))[0]
        assert await cancelling is True
        assert await counters.read([TEAM, RUNNING]) == (Level(), Level())
        assert await counters.expire(SOON) == ()


async def test_a_paused_postgres_fails_within_its_time_and_what_it_was_asked_for_can_be_taken_back() -> None:
    with own_postgres() as server:
        counters = PostgresCounters(migrated(server), silence_s=0.1)
        await counters.reach()
        server.pause()
        with pytest.raises(StoreUnavailable, match="PostgreSQL does not answer within 100 ms"):
            await counters.hold("h", DRAWS, SOON)
        server.resume()
        await eventually(lambda: answers(counters))
        await counters.cancel("h")
        assert await counters.read([TEAM, RUNNING]) == (Level(), Level())
        await counters.close()


async def answers(counters: PostgresCounters) -> bool:
    try:
        return bool(await counters.read([TEAM]))
    except StoreUnavailable:
        return False


async def test_a_postgres_that_was_killed_still_knows_every_hold() -> None:
    with own_postgres() as server:
        counters = PostgresCounters(migrated(server), silence_s=10)
        await counters.hold("h", DRAWS, SOON)
        server.kill()
        with pytest.raises(StoreUnavailable):
            await counters.settle("h", [12, 0])
        server.start()
        assert await counters.settle("h", [12, 0]) == (Level(12, 0), Level())
        await counters.close()
