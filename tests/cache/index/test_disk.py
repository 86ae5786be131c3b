import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cache.errors import IndexUnavailable
from cache.index.disk import DiskRecorder, Pace, open_disk
from cache.index.files.records import Origin
from cache.index.memory import MemoryVectors
from gateway.bench.vectors import clustered
from tests.support.disks import full_disk

DIMENSIONS, LARGE = 16, 100
HERE, ELSEWHERE = b"h" * 32, b"e" * 32
ORIGIN = Origin("minilm", DIMENSIONS)
QUICK = Pace(write_s=0.0, retry_s=0.05, long=300)
VECTORS = clustered(1_000, 1, dimensions=DIMENSIONS)


def key(number: int) -> bytes:
    return number.to_bytes(32, "big")


@asynccontextmanager
async def opened(
    folder: Path, said: list[str] | None = None, origin: Origin = ORIGIN, pace: Pace = QUICK
) -> AsyncGenerator[MemoryVectors]:
    says = pytest.fail if said is None else said.append
    index = await open_disk(folder, origin, 2_000, Random(0), says, large=LARGE, pace=pace)
    try:
        yield index
    finally:
        await index.close()


async def content(index: MemoryVectors) -> dict[tuple[bytes, int], int]:
    """Tell which vector each entry has, by asking for all of them."""
    found = dict[tuple[bytes, int], int]()
    for partition, place in index.partitions.items():
        for name, row in place.rows.items():
            (vector,) = index.arena.vectors(np.array([row]))
            nearest = int(np.argmax(VECTORS @ vector))
            assert float(VECTORS[nearest] @ vector) > 0.995
            found[partition, int.from_bytes(name, "big")] = nearest
    return found


async def until(seen: Callable[[], bool]) -> None:
    """Wait until something can be seen."""
    async with asyncio.timeout(30):
        while not seen():  # noqa: ASYNC110  nobody tells
            await asyncio.sleep(0.01)


async def fill(index: MemoryVectors, count: int) -> dict[tuple[bytes, int], int]:
    for place in range(count):
        await index.add(HERE, key(place), VECTORS[place])
        await index.add(ELSEWHERE, key(place), VECTORS[-1 - place])
    return await content(index)


async def test_what_was_added_and_removed_is_so_after_a_restart(tmp_path: Path) -> None:
    async with opened(tmp_path) as index:
        await fill(index, 50)
        await index.remove(HERE, key(7))
        await index.clear(ELSEWHERE)
        await index.add(HERE, key(8), VECTORS[500])
        before = await content(index)
    for _ in range(3):
        async with opened(tmp_path) as index:
            assert await content(index) == before
            (found,) = await index.search(HERE, VECTORS[500], 1)
            assert found.key == key(8)


async def test_a_snapshot_takes_the_place_of_a_long_log(tmp_path: Path) -> None:
    async with opened(tmp_path) as index:
        for _ in range(5):
            await fill(index, 100)
            await asyncio.sleep(0.05)
        for place in range(0, 100, 2):
            await index.remove(HERE, key(place))
        before = await content(index)
    sizes = {path.suffix: path.stat().st_size for path in tmp_path.iterdir()}  # noqa: ASYNC240  at once
    assert sizes[".entries"] > 0
    assert sum(sizes.values()) < 100_000
    async with opened(tmp_path) as index:
        assert await content(index) == before


async def test_a_large_partition_is_sorted_at_once_after_a_restart(tmp_path: Path) -> None:
    async with opened(tmp_path) as index:
        before = await fill(index, 400)
        await index.settle()
    async with opened(tmp_path) as index:  # this one brings the sorting into a snapshot
        await index.settle()
        recorder = index.recorder
        assert isinstance(recorder, DiskRecorder)
        await recorder._snap()
    async with opened(tmp_path) as index:
        files = [place.file for place in index.partitions.values()]
        assert all(file is not None and file.entries == 400 for file in files)
        assert await content(index) == before
        for place in range(400):
            (found,) = await index.search(HERE, VECTORS[place], 1)
            assert found.similarity > 0.99


async def test_an_index_of_another_embedding_starts_empty_and_says_so(tmp_path: Path) -> None:
    async with opened(tmp_path) as index:
        await fill(index, 5)
    for other in (Origin("another", DIMENSIONS), Origin("minilm", DIMENSIONS + 1)):
        said = list[str]()
        async with opened(tmp_path, said, other) as index:
            assert (await index.size()).entries == 0
            await index.add(HERE, key(1), np.ones(other.dimensions, np.float32))
        (sentence,) = said
        assert "was made with" in sentence
        assert other.embedding in sentence


async def test_two_processes_do_not_share_a_folder(tmp_path: Path) -> None:
    async with opened(tmp_path):
        with pytest.raises(IndexUnavailable, match="another process"):
            await open_disk(tmp_path, ORIGIN, 10, Random(0), pytest.fail)


async def test_a_folder_that_is_none_cannot_be_used(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(IndexUnavailable, match="cannot be used"):
        await open_disk(tmp_path / "file", ORIGIN, 10, Random(0), pytest.fail)


async def test_when_the_disk_is_full_the_index_serves_from_memory_and_says_so(tmp_path: Path) -> None:
    said = list[str]()
    async with opened(tmp_path, said) as index:
        await fill(index, 5)
        await asyncio.sleep(0.05)
        with full_disk(2_000):
            before = await fill(index, 50)
            await until(lambda: bool(said))
            assert await content(index) == before
        assert "kept in memory only" in said[0]
        await index.remove(HERE, key(3))
        del before[HERE, 3]
        await until(lambda: bool(list(tmp_path.glob("*.entries"))))
    async with opened(tmp_path) as index:
        assert await content(index) == before


WRITER = """
import asyncio, sys
from pathlib import Path
from random import Random
from cache.index.disk import Pace, open_disk
from cache.index.files.records import Origin
from gateway.bench.vectors import clustered

async def main():
    vectors = clustered(1_000, 1, dimensions=16)
    index = await open_disk(Path(sys.argv[1]), Origin("minilm", 16), 2_000, Random(0), print, large=100,
                            pace=Pace(write_s=0.001, long=300))
    for step in range(1_000_000):
        place = step % 500
        if step % 7 == 6:
            await index.remove(b"h" * 32, place.to_bytes(32, "big"))
        else:
            await index.add(b"h" * 32, place.to_bytes(32, "big"), vectors[(place + step // 500) % 1_000])
        if step % 10 == 0:
            print(step, flush=True)
            await asyncio.sleep(0)

asyncio.run(main())
"""


def state_after(steps: int) -> dict[tuple[bytes, int], int]:
    state = dict[tuple[bytes, int], int]()
    for step in range(steps):
        place = step % 500
        if step % 7 == 6:
            state.pop((HERE, place), None)
        else:
            state[HERE, place] = (place + step // 500) % 1_000
    return state


@pytest.mark.parametrize("lines", [1, 20, 70, 150, 400])
async def test_a_process_that_is_killed_loses_no_more_than_the_last_it_did(tmp_path: Path, lines: int) -> None:
    process = await asyncio.to_thread(
        subprocess.Popen, [sys.executable, "-c", WRITER, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    last = 0
    for _ in range(lines):
        last = int(process.stdout.readline())
    os.kill(process.pid, signal.SIGKILL)
    rest = process.stdout.read().split()
    process.wait()
    process.stdout.close()
    last = int(rest[-1]) if rest else last
    async with opened(tmp_path) as index:
        found = await content(index)
    assert any(found == state_after(steps) for steps in range(last + 2 + 10))


@pytest.fixture(scope="module")
def written() -> dict[str, bytes]:
    """Write a snapshot and a log that adds to it and removes from it, and return the files."""

    async def write(folder: Path) -> None:
        async with opened(folder) as index:
            await fill(index, 60)
            await index.settle()
        async with opened(folder) as index:
            await asyncio.sleep(0.1)
            for place in range(0, 60, 3):
                await index.remove(HERE, key(place))
            await index.add(HERE, key(100), VECTORS[100])
            await index.clear(ELSEWHERE)
            await index.add(ELSEWHERE, key(101), VECTORS[101])

    with TemporaryDirectory() as name:
        asyncio.run(write(Path(name)))
        return {path.name: path.read_bytes() for path in Path(name).iterdir()}


@settings(max_examples=60)
@given(data=st.data())
async def test_damaged_files_never_give_a_wrong_neighbour_nor_bring_back_what_was_removed(
    written: dict[str, bytes], data: st.DataObject
) -> None:
    name = data.draw(st.sampled_from(sorted(name for name in written if name != "lock")))
    old = written[name]
    place = data.draw(st.integers(0, len(old) - 1))
    if data.draw(st.booleans()):
        new = old[:place] + bytes([old[place] ^ data.draw(st.integers(1, 255))]) + old[place + 1 :]
    else:
        new = old[:place]
    with TemporaryDirectory() as folder:
        for other, text in written.items():
            (Path(folder) / other).write_bytes(text)
        (Path(folder) / name).write_bytes(new)
        said = list[str]()
        async with opened(Path(folder), said) as index:
            found = await content(index)
    right = {(HERE, number): number for number in range(60)} | {(HERE, 100): 100, (ELSEWHERE, 101): 101}
    removed_later = {(ELSEWHERE, number): 999 - number for number in range(60)}
    truncated_log = name.endswith(".log") and len(new) < len(old)
    for entry, vector in found.items():
        assert right.get(entry, removed_later.get(entry)) == vector
        was_removed = entry in removed_later or (entry[0] == HERE and entry[1] % 3 == 0)
        assert truncated_log or not was_removed or _in_last_record(name, old, place)


def _in_last_record(name: str, old: bytes, place: int) -> bool:
    """Tell whether a damage is in what may be a tail that was not yet on the disk."""
    return name.endswith(".log") and place >= len(old) - 2 * ORIGIN.layout.itemsize


async def test_a_log_that_is_missing_costs_what_was_known_before(tmp_path: Path, written: dict[str, bytes]) -> None:
    for name, text in written.items():
        if not name.endswith(".log"):
            (tmp_path / name).write_bytes(text)
    said = list[str]()
    async with opened(tmp_path, said) as index:
        assert await content(index) == {}
    assert "damaged" in said[0]
