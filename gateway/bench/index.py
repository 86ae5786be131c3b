"""What the index of questions does with a million entries: in one partition, and in partitions of fifty.

Its home is the one that a disk keeps. Vectors are made up (`vectors.py`); those that are asked for are not among those
that are stored. Recall is of the ten nearest, against an exact comparison in full precision with all of the partition.
"""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Final

import numpy as np
from numpy.typing import NDArray

from cache.index import VectorIndex
from cache.index.disk import open_disk
from cache.index.files.records import Origin
from cache.index.memory import MemoryVectors
from gateway.bench.vectors import DIMENSIONS, Clusters

SMALL: Final = 50
K: Final = 10
AT_ONCE: Final = 2
"""Searches under way at a time: one for each of two cores."""

_TURNS: Final = 4
_BLOCK: Final = 10_000
_ORIGIN: Final = Origin("made-up", DIMENSIONS)


@dataclass(frozen=True, slots=True)
class Row:
    """What an index does in one shape.

    Attributes:
        shape: How many partitions of how many entries.
        entries: All of them.
        add_us: What one addition takes of the event loop, in microseconds.
        build_s: Seconds from the first addition until all is sorted.
        lookup_ms: The middle of the lookups, in milliseconds, two at a time.
        lookup_p99_ms: What 99 of 100 take at most.
        recall: Share of the ten nearest that were found.
        bytes_per_entry: Memory for each entry, by the index's own count.
        disk_per_entry: Bytes on the disk for each entry.
        restart_s: Seconds until the index is open again with all that it had.
    """

    shape: str
    entries: int
    add_us: float
    build_s: float
    lookup_ms: float
    lookup_p99_ms: float
    recall: float
    bytes_per_entry: float
    disk_per_entry: float
    restart_s: float


@dataclass(slots=True)
class Asked:
    """Lookups and the exact answers to them.

    Attributes:
        vectors: What is asked for, shape [n, dimensions].
        partitions: In which partition, shape [n].
        nearest: The nearest that were stored so far, shape [n, 10].
        similarities: How near, shape [n, 10].
    """

    vectors: NDArray[np.float32]
    partitions: NDArray[np.int64]
    nearest: NDArray[np.int64]
    similarities: NDArray[np.float32]

    def see(self, stored: NDArray[np.float32], numbers: NDArray[np.int64], partitions: NDArray[np.int64]) -> None:
        """Compare with vectors that are stored."""
        found = self.vectors @ stored.T
        found[self.partitions[:, np.newaxis] != partitions[np.newaxis]] = -2.0
        similarities = np.concatenate([self.similarities, found], axis=1)
        nearest = np.concatenate([self.nearest, np.broadcast_to(numbers, found.shape)], axis=1)
        best = np.argpartition(similarities, -K, axis=1)[:, -K:]
        self.similarities = np.take_along_axis(similarities, best, 1)
        self.nearest = np.take_along_axis(nearest, best, 1)


async def rows(*, entries: int, lookups: int) -> AsyncGenerator[Row]:
    """Measure both shapes, one after the other."""
    for size in (entries, SMALL):
        with TemporaryDirectory(prefix="sluice-bench-") as folder:
            yield await _row(Path(folder), entries, min(size, entries), lookups)


async def _row(folder: Path, entries: int, size: int, lookups: int) -> Row:
    clusters = Clusters(entries, 1)
    asked = _asked(clusters, lookups, entries // size)
    began = perf_counter()
    index = await _open(folder, entries)
    adding = await _fill(index, clusters, asked, entries, size)
    await index.settle()
    build_s = perf_counter() - began
    counted = (await index.size()).bytes
    took, recall = await _look_up(index, asked)
    await index.close()
    del index
    began = perf_counter()
    again = await _open(folder, entries)
    restart_s = perf_counter() - began
    found = (await again.size()).entries
    await again.close()
    if found != entries:
        raise AssertionError(f"{entries - found} entries did not come back")
    return Row(
        shape=f"{entries // size:,} x {size:,}",
        entries=entries,
        add_us=adding / entries * 1e6,
        build_s=build_s,
        lookup_ms=float(np.percentile(took, 50)) * 1e3,
        lookup_p99_ms=float(np.percentile(took, 99)) * 1e3,
        recall=recall,
        bytes_per_entry=counted / entries,
        disk_per_entry=sum(path.stat().st_size for path in folder.iterdir()) / entries,  # noqa: ASYNC240  a bench
        restart_s=restart_s,
    )


def _asked(clusters: Clusters, lookups: int, partitions: int) -> Asked:
    chance = np.random.default_rng(2)
    return Asked(
        vectors=clusters.draw(lookups),
        partitions=chance.integers(0, partitions, lookups),
        nearest=np.full((lookups, K), -1, np.int64),
        similarities=np.full((lookups, K), -2.0, np.float32),
    )


async def _open(folder: Path, entries: int) -> MemoryVectors:
    return await open_disk(folder, _ORIGIN, entries, Random(0), print)  # noqa: S311  no secret


async def _fill(index: VectorIndex, clusters: Clusters, asked: Asked, entries: int, size: int) -> float:
    """Store vectors and return the seconds that adding took."""
    took = 0.0
    for start in range(0, entries, _BLOCK):
        numbers = np.arange(start, min(start + _BLOCK, entries))
        vectors, partitions = clusters.draw(len(numbers)), numbers // size
        await asyncio.to_thread(asked.see, vectors, numbers, partitions)
        began = perf_counter()
        for number, partition, vector in zip(numbers.tolist(), partitions.tolist(), vectors, strict=True):
            await index.add(_digest(partition), _digest(number), vector)
        took += perf_counter() - began
        await asyncio.sleep(0)
    return took


async def _look_up(index: VectorIndex, asked: Asked) -> tuple[list[float], float]:
    """Search and return the seconds that each took, and the recall."""
    took, found, places = list[float](), 0, chain.from_iterable([range(len(asked.vectors))] * _TURNS)

    async def searcher() -> None:
        nonlocal found
        for place in places:
            partition = _digest(int(asked.partitions[place]))
            began = perf_counter()
            near = await index.search(partition, asked.vectors[place], K)
            took.append(perf_counter() - began)
            found += len({int.from_bytes(one.key, "big") for one in near} & set(asked.nearest[place].tolist()))

    await asyncio.gather(*[searcher() for _ in range(AT_ONCE)])
    return took, found / int((asked.nearest >= 0).sum()) / _TURNS


def _digest(number: int) -> bytes:
    return number.to_bytes(32, "big")
