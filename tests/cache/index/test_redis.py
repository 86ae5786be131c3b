import asyncio
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager
from uuid import uuid4

import pytest

from cache.errors import IndexUnavailable
from cache.index.files.records import Origin
from cache.index.redis import RedisVectors
from gateway.bench.vectors import clustered
from tests.support.clocks import HandClock
from tests.support.servers import RedisServer, redis_server, vector_redis

DIMENSIONS = 16
HERE = b"h" * 32
ORIGIN = Origin("minilm", DIMENSIONS)
VECTORS = clustered(2_000, 1, dimensions=DIMENSIONS)
PATIENT_S = 10.0


def key(number: int) -> bytes:
    return number.to_bytes(32, "big")


@asynccontextmanager
async def opened(
    server: RedisServer,
    namespace: str,
    origin: Origin = ORIGIN,
    budget_s: float = PATIENT_S,
    ticks: HandClock | None = None,
) -> AsyncGenerator[RedisVectors]:
    index = RedisVectors(server.url, origin, 10_000, namespace, budget_s=budget_s, ticks=ticks or HandClock())
    try:
        yield index
    finally:
        await index.close()


@pytest.fixture
def own_server() -> Generator[RedisServer]:
    with redis_server(program=vector_redis()) as server:
        yield server


async def test_what_one_process_does_is_so_for_all(vector_redis_server: RedisServer) -> None:
    name = uuid4().hex
    async with opened(vector_redis_server, name) as one, opened(vector_redis_server, name) as other:
        await one.add(HERE, key(1), VECTORS[0])
        (found,) = await other.search(HERE, VECTORS[0], 10)
        assert found.key == key(1)
        await other.remove(HERE, key(1))
        assert await one.search(HERE, VECTORS[0], 10) == ()
        await one.add(HERE, key(2), VECTORS[0])
        assert await other.clear(HERE) == 1
        assert await one.search(HERE, VECTORS[0], 10) == ()


async def test_installations_and_embeddings_do_not_see_one_another(vector_redis_server: RedisServer) -> None:
    name = uuid4().hex
    async with opened(vector_redis_server, name) as index:
        await index.add(HERE, key(1), VECTORS[0])
    for namespace, origin in ((uuid4().hex, ORIGIN), (name, Origin("another", DIMENSIONS))):
        async with opened(vector_redis_server, namespace, origin) as index:
            assert await index.search(HERE, VECTORS[0], 10) == ()
            assert await index.clear(HERE) == 0


async def test_a_large_partition_is_swept_bit_by_bit_and_leaves_nothing(vector_redis_server: RedisServer) -> None:
    name = uuid4().hex
    async with opened(vector_redis_server, name) as index:
        for place in range(1_200):
            await index.add(HERE, key(place), VECTORS[place])
        clearing = asyncio.create_task(index.clear(HERE))
        await asyncio.sleep(0.01)
        await index.add(HERE, key(5), VECTORS[5])
        assert await clearing in {1_200, 1_201}
        while await index._script("sweep"):
            pass
        (found,) = await index.search(HERE, VECTORS[5], 10) or await index.search(HERE, VECTORS[5], 10)
        assert found.key == key(5)
        assert (await index.size()).entries == 1


async def test_a_redis_without_vector_sets_is_named(redis_server: RedisServer) -> None:
    async with opened(redis_server, uuid4().hex) as index:
        with pytest.raises(IndexUnavailable, match=r"8\.2 or newer"):
            await index.search(HERE, VECTORS[0], 10)


async def test_a_redis_that_is_away_is_left_alone_for_a_while(own_server: RedisServer) -> None:
    clock = HandClock()
    async with opened(own_server, "n", ticks=clock) as index:
        await index.add(HERE, key(1), VECTORS[0])
        own_server.kill()
        with pytest.raises(IndexUnavailable, match="does not serve"):
            await index.search(HERE, VECTORS[0], 10)
        own_server.start()
        with pytest.raises(IndexUnavailable, match="a moment ago"):
            await index.search(HERE, VECTORS[0], 10)
        clock.pass_on(1.0)
        assert await index.search(HERE, VECTORS[0], 10) == ()
        await index.add(HERE, key(1), VECTORS[0])
        assert len(await index.search(HERE, VECTORS[0], 10)) == 1


async def test_an_answer_that_comes_too_late_is_nobody_elses(own_server: RedisServer) -> None:
    clock = HandClock()
    async with opened(own_server, "n", budget_s=0.2, ticks=clock) as index:
        for place in range(50):
            await index.add(place.to_bytes(32, "big"), key(place), VECTORS[place])
        own_server.pause()
        for place in range(20):
            clock.pass_on(2.0)
            with pytest.raises(IndexUnavailable):
                await index.search(place.to_bytes(32, "big"), VECTORS[place], 10)
        own_server.resume()
        clock.pass_on(2.0)
        for place in range(20, 50):
            (found,) = await index.search(place.to_bytes(32, "big"), VECTORS[place], 10)
            assert found.key == key(place)


async def test_a_call_whose_caller_is_cut_off_is_kept_hold_of_until_the_end(vector_redis_server: RedisServer) -> None:
    async with opened(vector_redis_server, uuid4().hex) as index:
        await index.add(HERE, key(1), VECTORS[0])
        asked = asyncio.create_task(index.search(HERE, VECTORS[0], 1))
        await asyncio.sleep(0)
        asked.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asked
        assert len(index._shared._abandoned) == 1
        assert [found.key for found in await index.search(HERE, VECTORS[0], 1)] == [key(1)]
    assert not index._shared._abandoned
