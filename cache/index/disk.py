"""Vectors that are there again after a restart: what a process has in memory, written down as it changes.

When the disk takes nothing more, the files are deleted, because they would bring back what has been removed since. The
index goes on in memory, says so, and is written down anew once there is room.
"""

from __future__ import annotations

import asyncio
import fcntl
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from math import inf
from typing import TYPE_CHECKING, Final, ParamSpec, TypeVar

from cache.errors import IndexUnavailable
from cache.index.files import snapshot
from cache.index.files.journal import Journal
from cache.index.files.records import Change, Kind, Origin
from cache.index.files.recovery import Folder, recover
from cache.index.memory import MemoryVectors
from cache.index.rows.upkeep import LARGE

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from random import Random
    from typing import IO

    import numpy as np
    from numpy.typing import NDArray

    from cache.index.files.recovery import Known

WRITE_S: Final = 0.2
"""Seconds that changes are gathered before they are brought to the disk: what a process that is killed loses."""

RETRY_S: Final = 60.0
"""Seconds after which a disk that took nothing is tried again."""

LONG: Final = 50_000
"""Records of a log that a snapshot takes the place of; of a large index, a quarter of its entries."""

_Asked = ParamSpec("_Asked")
_Done = TypeVar("_Done")


@dataclass(frozen=True, slots=True)
class Pace:
    """How often what is done."""

    write_s: float = WRITE_S
    retry_s: float = RETRY_S
    long: int = LONG


async def open_disk(
    folder: Path,
    origin: Origin,
    max_entries: int,
    chance: Random,
    say: Callable[[str], None],
    *,
    large: int = LARGE,
    pace: Pace | None = None,
) -> MemoryVectors:
    """Open the index of a folder, with all that the folder still knows.

    Args:
        folder: Where its files are; nothing else may be there.
        origin: The embedding; an index that was made with another is forgotten.
        max_entries: The most vectors kept.
        chance: Draws among whom the one that leaves is sought.
        say: Is told what a person should know, in a sentence.
        large: Entries from which on a partition is sorted by faiss.
        pace: How often what is done.

    Raises:
        IndexUnavailable: The folder cannot be used, or another process uses it.
    """

    def empty() -> MemoryVectors:
        return MemoryVectors(origin.dimensions, max_entries, chance, large=large)

    try:
        lock = await asyncio.to_thread(_lock, folder)
        try:
            known = await asyncio.to_thread(recover, Folder(folder), origin, empty, say)
        except BaseException:
            lock.close()
            raise
    except OSError as error:
        raise IndexUnavailable(f"the folder of the index cannot be used: {error}") from error
    known.index.recorder = recorder = DiskRecorder(known, Folder(folder), origin, lock, say, pace or Pace())
    await recorder.start()
    known.index.look()
    return known.index


def _lock(folder: Path) -> IO[bytes]:
    folder.mkdir(0o700, parents=True, exist_ok=True)
    lock = (folder / "lock").open("ab")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        lock.close()
        raise IndexUnavailable("another process uses the folder of the index") from None
    return lock


class DiskRecorder:
    """Writes down what changes in an index."""

    def __init__(
        self, known: Known, folder: Folder, origin: Origin, lock: IO[bytes], say: Callable[[str], None], pace: Pace
    ) -> None:
        """Go on from what a folder knew."""
        self._index = known.index
        self._generation = known.generation
        self._snap_at = inf if known.settled else 0.0
        self._folder = folder
        self._origin = origin
        self._lock = lock
        self._say = say
        self._pace = pace
        self._journal: Journal | None = None
        self._snapped = asyncio.Event()
        if known.settled:
            self._snapped.set()
        self._changed = asyncio.Event()
        self._closing = asyncio.Event()
        self._thread = ThreadPoolExecutor(1, "index-disk")
        self._keeping: asyncio.Task[None] | None = None

    def added(self, partition: bytes, key: bytes, codes: NDArray[np.int8], weight: float) -> None:
        """Write an entry down."""
        self._note(Change(Kind.ADD, partition, key, codes, weight))

    def removed(self, partition: bytes, key: bytes) -> None:
        """Write down that an entry is gone."""
        self._note(Change(Kind.REMOVE, partition, key))

    def cleared(self, partition: bytes) -> None:
        """Write down that a partition is gone."""
        self._note(Change(Kind.CLEAR, partition))

    def sorted(self) -> None:
        """Take a snapshot, so that rows need not be sorted again after a restart."""
        self._due()
        self._changed.set()

    async def settle(self) -> None:
        """Wait until no snapshot is due."""
        await self._snapped.wait()

    async def start(self) -> None:
        """Begin to write down; what changes before is not."""
        try:
            await self._begin()
        except OSError as error:
            await self._give_up(error)
        self._keeping = asyncio.get_running_loop().create_task(self._keep())

    async def close(self) -> None:
        """Write the rest down and let go of the folder."""
        self._closing.set()
        self._changed.set()
        if self._keeping is not None:
            await self._keeping
        with suppress(OSError):
            await self._flush()
        if self._journal is not None:
            self._journal.close()
        await asyncio.to_thread(self._thread.shutdown)
        self._lock.close()

    def _note(self, change: Change) -> None:
        if self._journal is not None:
            self._journal.note(change)
        self._changed.set()

    async def _keep(self) -> None:
        while not self._closing.is_set():
            try:
                if self._journal is None or self._journal.records > self._long:
                    await self._begin()
                if self._snap_at <= asyncio.get_running_loop().time():
                    await self._snap()
                await self._changed.wait()
                await self._pause(self._pace.write_s)
                self._changed.clear()
                await self._flush()
            except OSError as error:
                await self._give_up(error)
                await self._pause(self._pace.retry_s)

    async def _flush(self) -> None:
        if self._journal is not None:
            await self._in_thread(self._journal.flush)

    @property
    def _long(self) -> int:
        return max(self._pace.long, self._index.entries // 4)

    async def _begin(self) -> None:
        """Begin a new log; a snapshot is due if there was one before."""
        self._generation += 1
        journal = await self._in_thread(Journal, self._folder.log(self._generation), self._origin)
        before, self._journal = self._journal, journal
        if before is not None:
            self._due()
            try:
                await self._in_thread(before.flush)
            finally:
                before.close()

    async def _snap(self) -> None:
        """Take a snapshot for the log in use; what it holds and the log repeats does no harm.

        What has changed while it was written is not in it, so the log must have it before the snapshot counts.
        """
        generation, self._snap_at = self._generation, inf
        part, sorting, since = self._folder.part(generation), self._folder.sorting(generation), self._index.arena.now
        try:
            await self._in_thread(snapshot.write, self._index, since, self._origin, part, sorting)
        except OSError as error:
            self._snap_at = asyncio.get_running_loop().time() + self._pace.retry_s
            self._say(f"no snapshot of the index can be written: {error}")
        else:
            await self._flush()
            await self._in_thread(part.rename, self._folder.entries(generation))
            await self._in_thread(self._folder.forget, generation)
        if self._snap_at:  # nobody has asked for another meanwhile
            self._snapped.set()

    def _due(self) -> None:
        self._snap_at = 0.0
        self._snapped.clear()

    async def _give_up(self, error: OSError) -> None:
        if self._journal is not None:
            self._journal.close()
        self._journal, self._snap_at = None, 0.0
        self._snapped.set()  # nobody needs to wait for a disk
        with suppress(OSError):
            await self._in_thread(self._folder.forget)
        self._say(f"the index is kept in memory only, because the disk does not take it: {error}")

    async def _pause(self, seconds: float) -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(self._closing.wait(), seconds)

    async def _in_thread(self, work: Callable[_Asked, _Done], *args: _Asked.args, **kwargs: _Asked.kwargs) -> _Done:
        return await asyncio.get_running_loop().run_in_executor(self._thread, partial(work, *args, **kwargs))
