import asyncio
from collections.abc import AsyncGenerator
from random import Random

import numpy as np
import pytest
from numpy.typing import NDArray

from cache.index.memory import MemoryVectors
from gateway.bench.vectors import clustered

HERE, ELSEWHERE = b"h" * 32, b"e" * 32
MANY, LARGE, DIMENSIONS = 2_000, 200, 32


def key(number: int) -> bytes:
    return number.to_bytes(32, "big")


@pytest.fixture(scope="module")
def vectors() -> NDArray[np.float32]:
    return clustered(MANY + 200, 1, dimensions=DIMENSIONS)


@pytest.fixture
async def index() -> AsyncGenerator[MemoryVectors]:
    index = MemoryVectors(DIMENSIONS, 3 * MANY, Random(0), large=LARGE)
    try:
        yield index
    finally:
        await index.close()


async def fill(index: MemoryVectors, vectors: NDArray[np.float32], count: int = MANY) -> None:
    for place in range(count):
        await index.add(HERE, key(place), vectors[place])
        await index.add(ELSEWHERE, key(place), -vectors[place])


async def recall(index: MemoryVectors, vectors: NDArray[np.float32], stored: list[int]) -> float:
    found = 0
    for asked in vectors[MANY:]:
        nearest = {stored[place] for place in np.argsort(-(vectors[stored] @ asked))[:10].tolist()}
        found += len(nearest & {int.from_bytes(near.key, "big") for near in await index.search(HERE, asked, 10)})
    return found / (10 * len(vectors[MANY:]))


async def test_a_large_partition_is_sorted_and_found_as_if_it_were_not(
    index: MemoryVectors, vectors: NDArray[np.float32]
) -> None:
    await fill(index, vectors)
    flat = await recall(index, vectors, list(range(MANY)))
    await index.settle()
    file = index.partitions[HERE].file
    assert file is not None
    assert file.entries == MANY
    assert not index.partitions[HERE].tail
    assert await recall(index, vectors, list(range(MANY))) >= flat - 0.02 >= 0.93


async def test_what_is_added_to_a_sorted_partition_is_found_at_once(
    index: MemoryVectors, vectors: NDArray[np.float32]
) -> None:
    await fill(index, vectors)
    await index.settle()
    await index.add(HERE, key(MANY), vectors[MANY])
    assert index.partitions[HERE].tail
    (found,) = await index.search(HERE, vectors[MANY], 1)
    assert found.key == key(MANY)
    await index.settle()
    assert not index.partitions[HERE].tail
    (again,) = await index.search(HERE, vectors[MANY], 1)
    assert again.key == key(MANY)


async def test_what_is_removed_from_a_sorted_partition_is_found_no_more(
    index: MemoryVectors, vectors: NDArray[np.float32]
) -> None:
    await fill(index, vectors)
    await index.settle()
    for place in range(0, MANY, 3):
        await index.remove(HERE, key(place))
    kept = [place for place in range(MANY) if place % 3]
    assert await recall(index, vectors, kept) >= 0.9


async def test_a_file_of_which_much_was_removed_is_built_anew(
    index: MemoryVectors, vectors: NDArray[np.float32]
) -> None:
    await fill(index, vectors)
    await index.settle()
    for place in range(MANY * 3 // 4):
        await index.remove(HERE, key(place))
    await index.settle()
    file = index.partitions[HERE].file
    assert file is not None
    assert file.entries < MANY * 3 // 4


async def test_a_partition_that_has_shrunk_needs_no_file(index: MemoryVectors, vectors: NDArray[np.float32]) -> None:
    await fill(index, vectors)
    await index.settle()
    for place in range(MANY - 50):
        await index.remove(HERE, key(place))
    await index.settle()
    assert index.partitions[HERE].file is None
    assert len(await index.search(HERE, vectors[0], 100)) == 50


async def test_rows_that_moved_to_another_partition_are_not_found_by_the_file_that_held_them(
    index: MemoryVectors, vectors: NDArray[np.float32]
) -> None:
    await fill(index, vectors, 1_000)
    await index.settle()
    for place in range(400):
        await index.remove(HERE, key(place))
    for place in range(400):  # these take the freed rows
        await index.add(b"n" * 32, key(place), vectors[place])
    for place in range(400):
        found = {near.key for near in await index.search(HERE, vectors[place], 5)}
        assert not found & {key(place) for place in range(400)}


async def test_searches_are_answered_while_a_file_is_built(index: MemoryVectors, vectors: NDArray[np.float32]) -> None:
    await fill(index, vectors)
    building = asyncio.create_task(index.settle())
    searched = 0
    while not building.done():
        (found,) = await index.search(HERE, vectors[searched % MANY], 1)
        assert found.similarity > 0.99
        searched += 1
    await building
    assert searched > 0


async def test_an_index_is_closed_while_a_file_is_built(vectors: NDArray[np.float32]) -> None:
    index = MemoryVectors(DIMENSIONS, 3 * MANY, Random(0), large=LARGE)
    await fill(index, vectors)
    await asyncio.sleep(0)
    await index.close()
    assert index.partitions[HERE].file is None


async def test_a_partition_cleared_while_its_file_is_built_stays_empty(
    index: MemoryVectors, vectors: NDArray[np.float32]
) -> None:
    await fill(index, vectors)
    await asyncio.sleep(0)
    assert await index.clear(HERE) == MANY
    await index.settle()
    assert await index.search(HERE, vectors[0], 10) == ()
    assert len(await index.search(ELSEWHERE, vectors[0], 10)) == 10
