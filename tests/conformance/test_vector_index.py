"""What every home of vectors promises."""

import asyncio
from collections.abc import AsyncGenerator
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from cache.index import VectorIndex
from gateway.bench.vectors import clustered
from tests.support.vector_homes import DIMENSIONS, NAMES, vector_home, vector_redis_of

HERE, ELSEWHERE = b"h" * 32, b"e" * 32
NEAR = 0.01
"""How far a similarity may be from the exact one with so few dimensions."""

Vectors = NDArray[np.float32]


def key(number: int) -> bytes:
    return number.to_bytes(32, "big")


def number(key: bytes) -> int:
    return int.from_bytes(key, "big")


@pytest.fixture(params=NAMES)
def name(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
async def index(name: str, request: pytest.FixtureRequest) -> AsyncGenerator[VectorIndex]:
    async with vector_home(name, vector_redis_of(request)) as index:
        yield index


@pytest.fixture(scope="module")
def vectors() -> Vectors:
    return clustered(300, 1, dimensions=DIMENSIONS)


async def keys(index: VectorIndex, vector: Vectors, k: int = 10, partition: bytes = HERE) -> list[int]:
    return [number(found.key) for found in await index.search(partition, vector, k)]


async def test_an_empty_index_finds_nothing(index: VectorIndex, vectors: Vectors) -> None:
    assert await index.search(HERE, vectors[0], 10) == ()
    assert await index.within(HERE, vectors[0], -1.0) == ()
    assert (await index.size()).entries == 0


async def test_what_was_added_is_found_by_itself(index: VectorIndex, vectors: Vectors) -> None:
    for place in range(20):
        await index.add(HERE, key(place), vectors[place])
    for place in range(20):
        (found,) = await index.search(HERE, vectors[place], 1)
        assert found.key == key(place)
        assert found.similarity == pytest.approx(1.0, abs=NEAR)


async def test_neighbours_come_nearest_first_with_their_cosines(index: VectorIndex, vectors: Vectors) -> None:
    for place in range(20):
        await index.add(HERE, key(place), vectors[place])
    found = await index.search(HERE, vectors[40], 20)
    assert sorted(number(near.key) for near in found) == list(range(20))
    assert [near.similarity for near in found] == sorted((near.similarity for near in found), reverse=True)
    for near in found:
        assert near.similarity == pytest.approx(float(vectors[40] @ vectors[number(near.key)]), abs=2 * NEAR)


async def test_no_more_are_found_than_asked_for(index: VectorIndex, vectors: Vectors) -> None:
    for place in range(20):
        await index.add(HERE, key(place), vectors[place])
    assert len(await index.search(HERE, vectors[0], 3)) == 3
    assert await index.search(HERE, vectors[0], 0) == ()


async def test_the_same_key_elsewhere_is_another_entry(index: VectorIndex, vectors: Vectors) -> None:
    await index.add(HERE, key(1), vectors[0])
    await index.add(ELSEWHERE, key(1), vectors[1])
    assert await index.search(ELSEWHERE, vectors[0], 1) != await index.search(HERE, vectors[0], 1)
    assert await index.remove(HERE, key(1)) is True
    assert await keys(index, vectors[0]) == []
    assert await keys(index, vectors[1], partition=ELSEWHERE) == [1]


async def test_adding_a_key_again_replaces_its_vector(index: VectorIndex, vectors: Vectors) -> None:
    await index.add(HERE, key(1), vectors[0])
    await index.add(HERE, key(1), -vectors[0])
    (found,) = await index.search(HERE, vectors[0], 10)
    assert found.similarity == pytest.approx(-1.0, abs=NEAR)
    assert (await index.size()).entries == 1


async def test_removing_tells_whether_there_was_an_entry(index: VectorIndex, vectors: Vectors) -> None:
    await index.add(HERE, key(1), vectors[0])
    assert await index.remove(ELSEWHERE, key(1)) is False
    assert await index.remove(HERE, key(2)) is False
    assert await index.remove(HERE, key(1)) is True
    assert await index.remove(HERE, key(1)) is False
    size = await index.size()
    assert (size.entries, size.partitions) == (0, 0)


async def test_clearing_forgets_a_partition_and_no_other(index: VectorIndex, vectors: Vectors) -> None:
    for place in range(100):
        await index.add(HERE, key(place), vectors[place])
    await index.add(ELSEWHERE, key(1), vectors[1])
    assert await index.clear(HERE) == 100
    assert await index.clear(HERE) == 0
    assert await keys(index, vectors[1]) == []
    assert await keys(index, vectors[1], partition=ELSEWHERE) == [1]
    size = await index.size()
    assert (size.entries, size.partitions) == (1, 1)


async def test_a_cleared_partition_can_be_filled_again(index: VectorIndex, vectors: Vectors) -> None:
    await index.add(HERE, key(1), vectors[1])
    await index.clear(HERE)
    await index.add(HERE, key(2), vectors[2])
    assert await keys(index, vectors[1]) == [2]


async def test_all_that_are_near_enough_are_found_and_none_else(index: VectorIndex, vectors: Vectors) -> None:
    for place in range(200):
        await index.add(HERE, key(place), vectors[place])
        await index.add(ELSEWHERE, key(place), vectors[0])
    exact = vectors[:200] @ vectors[250]
    for least in (0.2, 0.6):
        found = {number(near.key) for near in await index.within(HERE, vectors[250], least)}
        assert found >= set(np.flatnonzero(exact >= least + 2 * NEAR).tolist())
        assert found <= set(np.flatnonzero(exact >= least - 2 * NEAR).tolist())


async def test_sizes_are_counted_over_all_partitions(index: VectorIndex, vectors: Vectors) -> None:
    for place in range(6):
        await index.add(bytes([place % 3]) * 32, key(place), vectors[place])
    size = await index.size()
    assert (size.entries, size.partitions) == (6, 3)
    assert size.bytes >= 6 * DIMENSIONS


async def test_a_vector_of_another_shape_or_no_number_is_refused(index: VectorIndex, vectors: Vectors) -> None:
    with pytest.raises(ValueError, match="16 finite numbers"):
        await index.add(HERE, key(1), vectors[0][:-1])
    with pytest.raises(ValueError, match="16 finite numbers"):
        await index.add(HERE, key(1), np.full(DIMENSIONS, np.nan, np.float32))
    with pytest.raises(ValueError, match="32 bytes"):
        await index.add(b"short", key(1), vectors[0])
    assert (await index.size()).entries == 0


async def test_a_full_index_drives_out_the_oldest_of_what_saved_nothing(
    name: str, request: pytest.FixtureRequest, vectors: Vectors
) -> None:
    async with vector_home(name, vector_redis_of(request), max_entries=10) as index:
        for place in range(10):
            await index.add(bytes([place % 2]) * 32, key(place), vectors[place])
        await index.used(bytes(32), key(0))
        await index.used(bytes(32), key(99))
        for place in range(10, 14):
            await index.add(HERE, key(place), vectors[place])
        assert (await index.size()).entries == 10
        kept = await keys(index, vectors[0], partition=bytes(32)) + await keys(index, vectors[0], partition=b"\1" * 32)
        assert sorted(kept) == [0, 5, 6, 7, 8, 9]
        assert sorted(await keys(index, vectors[0])) == [10, 11, 12, 13]


async def test_a_full_index_keeps_what_saves_more(name: str, request: pytest.FixtureRequest, vectors: Vectors) -> None:
    async with vector_home(name, vector_redis_of(request), max_entries=10) as index:
        for place in range(20):
            await index.add(HERE, key(place), vectors[place], weight=9.0 if place < 3 else 1.0)
        kept = set(await keys(index, vectors[0]))
        assert kept >= {0, 1, 2}
        assert len(kept) == 10


async def test_searches_while_others_write_name_only_what_is_or_was_there(index: VectorIndex, vectors: Vectors) -> None:
    async def write() -> None:
        for turn in range(3):
            for place in range(200):
                partition, other = (HERE, ELSEWHERE) if (place + turn) % 2 else (ELSEWHERE, HERE)
                await index.remove(other, key(place))
                await index.add(partition, key(place), vectors[place])
                await asyncio.sleep(0)

    writing = asyncio.create_task(write())
    while not writing.done():
        for found in await index.search(HERE, vectors[7], 10):
            exact = float(vectors[7] @ vectors[number(found.key)])
            assert found.similarity == pytest.approx(exact, abs=2 * NEAR)
        await asyncio.sleep(0)
    await writing


PARTITIONS = st.sampled_from([b"\0" * 32, b"\1" * 32, b"\0" * 31 + b"\1"])
STEPS = st.lists(
    st.tuples(st.sampled_from(["add", "add", "add", "remove", "clear"]), PARTITIONS, st.integers(0, 30)), max_size=60
)


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=25)
@given(steps=STEPS, seed=st.integers(0, 3))
async def test_no_search_sees_another_partition(
    name: str, request: pytest.FixtureRequest, vectors: Vectors, steps: list[tuple[str, bytes, int]], seed: int
) -> None:
    model = dict[tuple[bytes, int], int]()
    chance = Random(seed)
    async with vector_home(name, vector_redis_of(request)) as index:
        for what, partition, place in steps:
            if what == "add":
                model[partition, place] = chance.randrange(300)
                await index.add(partition, key(place), vectors[model[partition, place]])
            elif what == "remove":
                assert await index.remove(partition, key(place)) is (model.pop((partition, place), None) is not None)
            else:
                gone = [entry for entry in model if entry[0] == partition]
                assert await index.clear(partition) == len(gone)
                for entry in gone:
                    del model[entry]
            for asked in {partition for _, partition, _ in steps}:
                found = await index.search(asked, vectors[place], 100)
                mine = {place: vector for (partition, place), vector in model.items() if partition == asked}
                assert {number(near.key) for near in found} == set(mine)
                for near in found:
                    exact = float(vectors[place] @ vectors[mine[number(near.key)]])
                    assert near.similarity == pytest.approx(exact, abs=2 * NEAR)
