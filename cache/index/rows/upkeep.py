"""Sorting the rows of large partitions, off the event loop and one partition at a time.

A partition without a file is searched row by row, and so is the tail of one whose file lags behind. A file is built
beside the one in use and then takes its place, so searches are answered all the while.
"""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from enum import Enum, auto
from typing import TYPE_CHECKING, Final, TypeVar

from cache.index.rows.inverted_file import InvertedFile, build_thread
from cache.index.rows.partitions import numbers

if TYPE_CHECKING:
    from collections.abc import Callable

    from cache.index.rows.arena import Arena
    from cache.index.rows.partitions import Partition

LARGE: Final = 4_096
"""Entries from which on a partition is sorted: comparing with fewer takes a millisecond, as a thread does."""

_GROWN: Final = 4
_AT_ONCE: Final = 2_048
"""Rows that are sorted in at a time."""

_FEWEST: Final = 8
"""A partition that has shrunk to less while its file was to be built gets none."""

_Asked = TypeVar("_Asked")
_Done = TypeVar("_Done")


class Due(Enum):
    """What a partition needs."""

    NOTHING = auto()
    DROP = auto()
    BUILD = auto()
    ENTER = auto()


class Upkeep:
    """Builds and feeds the files of partitions."""

    def __init__(self, arena: Arena, large: int, built: Callable[[int], None]) -> None:
        """Keep up partitions.

        Args:
            arena: The rows.
            large: Entries from which on a partition has a file.
            built: Is told how many entries a file holds that was built.
        """
        self._arena = arena
        self._built_one = built
        self._large = max(large, _FEWEST)
        self._waiting = dict[int, "Partition"]()
        self._task: asyncio.Task[None] | None = None
        self._stop = threading.Event()
        self._thread: ThreadPoolExecutor | None = None

    def look(self, partition: Partition) -> None:
        """See whether a partition that has changed needs anything, and have it done."""
        if self.due(partition) is not Due.NOTHING:
            self._waiting[partition.number] = partition
            if self._task is None or self._task.done():
                self._task = asyncio.get_running_loop().create_task(self._tend_all())

    def due(self, partition: Partition) -> Due:
        """Say what a partition needs."""
        entries, file = len(partition.rows), partition.file
        if file is None:
            return Due.BUILD if entries >= self._large else Due.NOTHING
        if entries < self._large // 2:
            return Due.DROP
        lags, removed = len(partition.tail), file.entries - (entries - len(partition.tail))
        if entries >= _GROWN * file.built_for or max(lags, removed) > entries // 2:
            return Due.BUILD
        return Due.ENTER if partition.tail else Due.NOTHING

    async def settle(self) -> None:
        """Wait until nothing is due."""
        if self._task is not None:
            await self._task

    async def close(self) -> None:
        """Leave off; what is being built is not used any more."""
        if self._task is not None:
            self._stop.set()
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task
        if self._thread is not None:
            await asyncio.to_thread(self._thread.shutdown)

    async def _tend_all(self) -> None:
        while self._waiting:
            _, partition = self._waiting.popitem()
            while (due := self.due(partition)) is not Due.NOTHING:
                if due is Due.BUILD:
                    await self._build(partition)
                elif due is Due.ENTER and partition.file is not None:
                    await self._enter(partition, partition.file)
                else:
                    partition.file = None
                    partition.tail.clear()

    async def _build(self, partition: Partition) -> None:
        since, partition.building = self._arena.now, True
        try:
            file = await self._in_thread(self._built, partition.number)
        finally:
            partition.building = False
        partition.file = file
        tail = numbers(partition.tail, len(partition.tail))
        partition.tail = set(tail[self._arena.stamps[tail] > since].tolist())
        self._built_one(0 if file is None else file.entries)

    def _built(self, number: int) -> InvertedFile | None:
        rows = self._arena.rows_of(number)
        return InvertedFile.build(self._arena, rows, self._stop) if len(rows) >= _FEWEST else None

    async def _enter(self, partition: Partition, file: InvertedFile) -> None:
        since = self._arena.now
        some = [row for row, _ in zip(partition.tail, range(_AT_ONCE), strict=False)]
        await self._in_thread(file.add, numbers(some, len(some)))
        partition.tail.difference_update(row for row in some if self._arena.stamps[row] <= since)

    async def _in_thread(self, work: Callable[[_Asked], _Done], asked: _Asked) -> _Done:
        if self._thread is None:
            self._thread = ThreadPoolExecutor(1, "index-upkeep", build_thread)
        return await asyncio.get_running_loop().run_in_executor(self._thread, work, asked)
