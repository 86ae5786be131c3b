"""The vectors of one process, in its memory."""

from __future__ import annotations

import asyncio
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from typing import TYPE_CHECKING, Final, Protocol, TypeVar

import numpy as np

from cache.index import DIGEST, IndexSize
from cache.index.rows.arena import Arena
from cache.index.rows.greedy_dual import GreedyDual
from cache.index.rows.inverted_file import search_thread
from cache.index.rows.partitions import Partition, numbers
from cache.index.rows.quantised import checked, encode
from cache.index.rows.searching import Search
from cache.index.rows.upkeep import LARGE, Upkeep

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from random import Random

    from numpy.typing import NDArray

    from cache.index import Neighbour
    from cache.index.rows.searching import Found

_AT_ONCE: Final = 4_096
_KEY_BYTES: Final = 190
"""Room that the row of a key takes: two objects and their place in a table."""

_Asked = TypeVar("_Asked")


class Recorder(Protocol):
    """Is told what changes, as it does."""

    def added(self, partition: bytes, key: bytes, codes: NDArray[np.int8], weight: float) -> None:
        """Take note of an entry that is new, or replaces another."""
        ...

    def removed(self, partition: bytes, key: bytes) -> None:
        """Take note of an entry that is gone, removed or driven out."""
        ...

    def cleared(self, partition: bytes) -> None:
        """Take note of a partition that is gone."""
        ...

    def sorted(self) -> None:
        """Take note that a good part of the rows has been sorted, which took long."""
        ...

    async def settle(self) -> None:
        """Finish what is due."""
        ...

    async def close(self) -> None:
        """Be told nothing more."""
        ...


class MemoryVectors:
    """A `VectorIndex` in this process's memory, for calls from one event loop.

    Attributes:
        arena: The rows.
        dimensions: Components of a vector.
        partitions: What there is, by digest.
        recorder: Is told what changes, if there is one.
    """

    def __init__(
        self,
        dimensions: int,
        max_entries: int,
        chance: Random,
        *,
        large: int = LARGE,
    ) -> None:
        """Open an empty index.

        Args:
            dimensions: Components of a vector.
            max_entries: The most vectors kept, over all partitions.
            chance: Draws among whom the one that leaves is sought.
            large: Entries from which on a partition is sorted by faiss.
        """
        self.arena = Arena(max_entries, dimensions)
        self.dimensions = dimensions
        self.partitions = dict[bytes, Partition]()
        self._owners = dict[int, Partition]()
        self._numbers = count(1)
        self._worth = GreedyDual(max_entries, chance)
        self._upkeep = Upkeep(self.arena, large, self._sorted)
        self.recorder: Recorder | None = None
        self._threads = ThreadPoolExecutor(2, "index-search", search_thread)

    async def add(self, partition: bytes, key: bytes, vector: NDArray[np.float32], weight: float = 1.0) -> None:
        """Keep a vector; see `VectorIndex.add`."""
        if len(partition) != DIGEST or len(key) != DIGEST:
            raise ValueError(f"partitions and keys have {DIGEST} bytes")
        codes = encode(checked(vector, self.dimensions))
        place = self.put(partition, key, codes, weight)
        if self.recorder is not None:
            self.recorder.added(partition, key, codes, weight)
        self._upkeep.look(place)

    def put(self, partition: bytes, key: bytes, codes: NDArray[np.int8], weight: float) -> Partition:
        """Keep a vector that is quantised, telling only of whom it drives out."""
        self.drop(partition, key)
        if self.arena.full:
            self._evict()
        place = self.partition(partition)
        row = self.arena.take(place.number, key, codes)
        self._worth.enter(row, weight)
        place.enter(key, row)
        return place

    async def used(self, partition: bytes, key: bytes, saved: float = 1.0) -> None:
        """Count that an entry has saved something; see `VectorIndex.used`."""
        found = self.partitions.get(partition)
        row = None if found is None else found.rows.get(key)
        if row is not None:
            self._worth.used(row, saved)

    async def search(self, partition: bytes, vector: NDArray[np.float32], k: int) -> tuple[Neighbour, ...]:
        """Find near vectors; see `VectorIndex.search`."""
        place, vector = self.partitions.get(partition), checked(vector, self.dimensions)
        if place is None or k < 1:
            return ()
        search = Search.begin(self.arena, place, vector)
        found = search.nearest(k) if search.small else await self._in_thread(search.nearest, k)
        return search.neighbours(found)[:k]

    async def within(self, partition: bytes, vector: NDArray[np.float32], similarity: float) -> tuple[Neighbour, ...]:
        """Find all that are near enough; see `VectorIndex.within`."""
        place, vector = self.partitions.get(partition), checked(vector, self.dimensions)
        if place is None:
            return ()
        search = Search.begin(self.arena, place, vector)
        return search.neighbours(await self._in_thread(search.within, similarity))

    async def names(self) -> tuple[bytes, ...]:
        """Name the partitions; see `VectorIndex.names`."""
        return tuple(name for name, place in self.partitions.items() if place.rows)

    async def remove(self, partition: bytes, key: bytes) -> bool:
        """Forget an entry; see `VectorIndex.remove`."""
        place, gone = self.partitions.get(partition), self.drop(partition, key)
        if place is not None and gone:
            if self.recorder is not None:
                self.recorder.removed(partition, key)
            self._upkeep.look(place)
        return gone

    async def clear(self, partition: bytes) -> int:
        """Forget a partition; see `VectorIndex.clear`. Nobody finds its rows from now on; they come free bit by bit."""
        place = self.partitions.pop(partition, None)
        if place is None:
            return 0
        if self.recorder is not None:
            self.recorder.cleared(partition)
        entries = len(place.rows)
        for _ in self._freeing(place):
            await asyncio.sleep(0)
        return entries

    async def size(self) -> IndexSize:
        """Count what is kept; see `VectorIndex.size`."""
        places, entries = self.partitions.values(), self.entries
        filed = sum(place.file.entries for place in places if place.file is not None)
        room = entries * (self.arena.row_bytes + self._worth.worth.itemsize + _KEY_BYTES)
        return IndexSize(entries, len(places), room + filed * (self.dimensions + 8))

    def load(self, records: NDArray[np.void], wanted: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Take entries over from records, into an index where none of them is, as far as there is room.

        Args:
            records: As in a file (`records.py`), shape [n].
            wanted: Which of them to take, shape [n].

        Returns:
            The row that each has now, -1 for none, shape [n].
        """
        chosen = np.flatnonzero(wanted)[: len(self.arena.owners) - self.arena.top]
        found = records[chosen]
        places = [self.partition(digest.tobytes()) for digest in found["partition"]]
        owners = numbers([place.number for place in places], len(places)).astype(np.int32)
        rows = self.arena.take_many(owners, found["key"], found["codes"])
        for place, key, row, weight in zip(places, found["key"], rows.tolist(), found["weight"].tolist(), strict=True):
            place.rows[key.tobytes()] = row
            self._worth.enter(row, weight)
        taken = np.full(len(records), -1, np.int64)
        taken[chosen] = rows
        return taken

    def worth(self, rows: slice) -> NDArray[np.float64]:
        """Say what rows have saved that time has not yet overtaken, shape [n]."""
        return self._worth.worth[rows] - self._worth.floor

    def look(self) -> None:
        """Have everything sorted that is large and is not."""
        for place in self.partitions.values():
            self._upkeep.look(place)

    @property
    def entries(self) -> int:
        """How many vectors are kept, those of a partition that is being cleared included."""
        return self.arena.taken

    async def settle(self) -> None:
        """Wait until every large partition is sorted, and the recorder is done with it."""
        await self._upkeep.settle()
        if self.recorder is not None:
            await self.recorder.settle()

    async def close(self) -> None:
        """Let go of the threads and of the recorder; see `VectorIndex.close`."""
        if self.recorder is not None:
            await self.recorder.close()
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

    def forget(self, partition: bytes) -> None:
        """Forget a partition at once and tell nobody."""
        if (place := self.partitions.pop(partition, None)) is not None:
            deque(self._freeing(place), maxlen=0)

    def _freeing(self, place: Partition) -> Generator[None]:
        """Give back the rows of a partition that nobody finds any more, some at a step."""
        place.file = None
        while place.rows:
            for _ in range(min(_AT_ONCE, len(place.rows))):
                row = place.rows.popitem()[1]
                place.tail.discard(row)
                self.arena.free(row)
            yield
        del self._owners[place.number]

    def _sorted(self, entries: int) -> None:
        if self.recorder is not None and entries > self.entries // 4:
            self.recorder.sorted()

    def _evict(self) -> None:
        row = self._worth.least(self.arena.stamps)
        place, key = self._owners[int(self.arena.owners[row])], self.arena.keys[row].tobytes()
        place.leave(key)
        self._free(place, row)
        if self.recorder is not None:
            self.recorder.removed(place.digest, key)

    def _free(self, place: Partition, row: int) -> None:
        self.arena.free(row)
        if not place.rows and self.partitions.get(place.digest) is place:
            del self.partitions[place.digest]
            del self._owners[place.number]

    async def _in_thread(self, work: Callable[[_Asked], Found], asked: _Asked) -> Found:
        return await asyncio.get_running_loop().run_in_executor(self._threads, work, asked)
