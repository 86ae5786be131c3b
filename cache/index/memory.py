"""The vectors of one process, in its memory."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

import numpy as np

from cache.index import DIGEST, IndexSize, Neighbour
from cache.index.arena import Arena
from cache.index.greedy_dual import GreedyDual
from cache.index.inverted_file import search_thread
from cache.index.partitions import Partition, numbers
from cache.index.quantised import checked, encode
from cache.index.upkeep import LARGE, Upkeep

if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from random import Random

    from numpy.typing import NDArray

    from cache.index.inverted_file import InvertedFile

INLINE: Final = 1_024
"""Rows that are compared on the event loop: a third of a millisecond, which a thread would not save."""

_TAIL: Final = 16_384
"""Rows beside a file that are gathered on the event loop; more are found by a thread."""

_SPARE: Final = 22
"""Candidates looked at beyond what is asked for, because some may be gone or be put in order anew."""

_AT_ONCE: Final = 4_096
_KEY_BYTES: Final = 190
"""Room that the row of a key takes: two objects and their place in a table."""


class Found(NamedTuple):
    """Rows and how similar they are, both of shape [n]."""

    rows: NDArray[np.int64]
    similarities: NDArray[np.float32]


class Recorder(Protocol):
    """Is told what changes, as it does."""

    def added(self, partition: bytes, key: bytes, codes: NDArray[np.int8]) -> None:
        """Take note of an entry that is new, or replaces another."""
        ...

    def removed(self, partition: bytes, key: bytes) -> None:
        """Take note of an entry that is gone, removed or driven out."""
        ...

    def cleared(self, partition: bytes) -> None:
        """Take note of a partition that is gone."""
        ...


class MemoryVectors:
    """A `VectorIndex` in this process's memory, for calls from one event loop.

    Attributes:
        arena: The rows.
        dimensions: Components of a vector.
        partitions: What there is, by digest.
    """

    def __init__(
        self,
        dimensions: int,
        max_entries: int,
        chance: Random,
        *,
        large: int = LARGE,
        recorder: Recorder | None = None,
    ) -> None:
        """Open an empty index.

        Args:
            dimensions: Components of a vector.
            max_entries: The most vectors kept, over all partitions.
            chance: Draws among whom the one that leaves is sought.
            large: Entries from which on a partition is sorted by faiss.
            recorder: Is told what changes.
        """
        self.arena = Arena(max_entries, dimensions)
        self.dimensions = dimensions
        self.partitions = dict[bytes, Partition]()
        self._owners = dict[int, Partition]()
        self._numbers = count(1)
        self._worth = GreedyDual(max_entries, chance)
        self._upkeep = Upkeep(self.arena, large)
        self._recorder = recorder
        self._threads = ThreadPoolExecutor(2, "index-search", search_thread)

    async def add(self, partition: bytes, key: bytes, vector: NDArray[np.float32], weight: float = 1.0) -> None:
        """Keep a vector; see `VectorIndex.add`."""
        if len(partition) != DIGEST or len(key) != DIGEST:
            raise ValueError(f"partitions and keys have {DIGEST} bytes")
        codes = encode(checked(vector, self.dimensions))
        self.put(partition, key, codes, weight)
        if self._recorder is not None:
            self._recorder.added(partition, key, codes)

    def put(self, partition: bytes, key: bytes, codes: NDArray[np.int8], weight: float = 1.0) -> None:
        """Keep a vector that is quantised, telling nobody but of whom it drives out."""
        self.drop(partition, key)
        if self.arena.full:
            self._evict()
        place = self.partition(partition)
        row = self.arena.take(place.number, key, codes)
        self._worth.enter(row, weight)
        place.enter(key, row)
        self._upkeep.look(place)

    async def used(self, partition: bytes, key: bytes, saved: float = 1.0) -> None:
        """Count that an entry has saved something; see `VectorIndex.used`."""
        found = self.partitions.get(partition)
        row = None if found is None else found.rows.get(key)
        if row is not None:
            self._worth.used(row, saved)

    async def search(self, partition: bytes, vector: NDArray[np.float32], k: int) -> tuple[Neighbour, ...]:
        """Find near vectors; see `VectorIndex.search`."""
        found = self.partitions.get(partition)
        if found is None or k < 1:
            return ()
        vector, since = checked(vector, self.dimensions), self.arena.now
        if len(found.rows) <= INLINE:
            nearest = self._nearest(numbers(found.rows.values(), len(found.rows)), vector, k + _SPARE)
        else:
            file, rows = found.file, self._rows(found)
            nearest = await self._in_thread(self._candidates, found.number, file, rows, vector, k + _SPARE)
        return self._neighbours(found, nearest, since)[:k]

    async def within(self, partition: bytes, vector: NDArray[np.float32], similarity: float) -> tuple[Neighbour, ...]:
        """Find all that are near enough; see `VectorIndex.within`."""
        found = self.partitions.get(partition)
        if found is None:
            return ()
        vector, since = checked(vector, self.dimensions), self.arena.now
        near = await self._in_thread(self._near, found.number, vector, similarity)
        return self._neighbours(found, near, since)

    async def names(self) -> tuple[bytes, ...]:
        """Name the partitions; see `VectorIndex.names`."""
        return tuple(name for name, place in self.partitions.items() if place.rows)

    async def remove(self, partition: bytes, key: bytes) -> bool:
        """Forget an entry; see `VectorIndex.remove`."""
        gone = self.drop(partition, key)
        if gone and self._recorder is not None:
            self._recorder.removed(partition, key)
        return gone

    async def clear(self, partition: bytes) -> int:
        """Forget a partition; see `VectorIndex.clear`. Nobody finds its rows from now on; they come free bit by bit."""
        place = self.partitions.pop(partition, None)
        if place is None:
            return 0
        if self._recorder is not None:
            self._recorder.cleared(partition)
        entries, place.file = len(place.rows), None
        place.tail.clear()
        while place.rows:
            for _ in range(min(_AT_ONCE, len(place.rows))):
                self.arena.free(place.rows.popitem()[1])
            await asyncio.sleep(0)
        del self._owners[place.number]
        return entries

    async def size(self) -> IndexSize:
        """Count what is kept; see `VectorIndex.size`."""
        places = self.partitions.values()
        entries = sum(len(place.rows) for place in places)
        filed = sum(place.file.entries for place in places if place.file is not None)
        room = entries * (self.arena.row_bytes + self._worth.worth.itemsize + _KEY_BYTES)
        return IndexSize(entries, len(places), room + filed * (self.dimensions + 8))

    async def settle(self) -> None:
        """Wait until every large partition is sorted."""
        await self._upkeep.settle()

    async def close(self) -> None:
        """Let go of the threads; see `VectorIndex.close`."""
        await self._upkeep.close()
        await asyncio.to_thread(self._threads.shutdown)

    def partition(self, digest: bytes) -> Partition:
        """Return the partition of a name, a new one when there is none."""
        place = self.partitions.get(digest)
        if place is None:
            place = self.partitions[digest] = Partition(digest, next(self._numbers))
            self._owners[place.number] = place
        return place

    def drop(self, partition: bytes, key: bytes) -> bool:
        """Forget an entry and tell nobody; tell whether there was one."""
        place = self.partitions.get(partition)
        row = None if place is None else place.leave(key)
        if place is None or row is None:
            return False
        self._free(place, row)
        return True

    def _evict(self) -> None:
        row = self._worth.least(self.arena.stamps)
        place, key = self._owners[int(self.arena.owners[row])], self.arena.keys[row].tobytes()
        place.leave(key)
        self._free(place, row)
        if self._recorder is not None:
            self._recorder.removed(place.digest, key)

    def _free(self, place: Partition, row: int) -> None:
        self.arena.free(row)
        if place.rows:
            self._upkeep.look(place)
        elif self.partitions.get(place.digest) is place:
            del self.partitions[place.digest]
            del self._owners[place.number]

    def _rows(self, place: Partition) -> NDArray[np.int64] | None:
        """Gather the rows that must be compared one by one; None lets the thread gather all of the partition."""
        few: Collection[int] = place.rows.values() if place.file is None else place.tail
        return numbers(few, len(few)) if len(few) <= _TAIL else None

    def _candidates(
        self,
        number: int,
        file: InvertedFile | None,
        rows: NDArray[np.int64] | None,
        vector: NDArray[np.float32],
        most: int,
    ) -> Found:
        if rows is None:
            rows = self.arena.rows_of(number)
        elif file is not None:
            rows = np.union1d(rows, file.search(vector, most))
        return self._nearest(rows, vector, most)

    def _nearest(self, rows: NDArray[np.int64], vector: NDArray[np.float32], most: int) -> Found:
        similarities = self.arena.similarities(rows, vector)
        if len(rows) > most:
            best = np.argpartition(similarities, -most)[-most:]
            rows, similarities = rows[best], similarities[best]
        return Found(rows, similarities)

    def _near(self, number: int, vector: NDArray[np.float32], similarity: float) -> Found:
        rows = self.arena.rows_of(number)
        similarities = self.arena.similarities(rows, vector)
        near = similarities >= similarity
        return Found(rows[near], similarities[near])

    def _neighbours(self, place: Partition, found: Found, since: int) -> tuple[Neighbour, ...]:
        """Name what was found, but for what has been written since; on the event loop, so nothing changes meanwhile."""
        sure = self.arena.unchanged(found.rows, place.number, since)
        rows, similarities = found.rows[sure], found.similarities[sure]
        order = np.argsort(-similarities, kind="stable")
        return tuple(
            Neighbour(key.tobytes(), min(1.0, similarity))
            for key, similarity in zip(self.arena.keys[rows[order]], similarities[order].tolist(), strict=True)
        )

    async def _in_thread(self, work: Callable[..., Found], *args: object) -> Found:
        return await asyncio.get_running_loop().run_in_executor(self._threads, work, *args)
