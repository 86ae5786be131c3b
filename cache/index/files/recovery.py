"""What a folder still knows of an index, after whatever has happened to it.

A file belongs to a generation: a snapshot `N.entries` is what was known when the log `N.log` began. What may not come
back is what was removed, so a damage that may have hidden a removal costs all that was known before it: a log that is
missing, or a record that is damaged and has sound ones after it. Damaged records at the end of a log are the tail that
was not yet on the disk. A damaged entry of a snapshot costs that entry.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cache.index.files import snapshot
from cache.index.files.records import Kind, origin_of, read
from cache.index.rows.inverted_file import search_thread

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.typing import NDArray

    from cache.index.files.records import Origin
    from cache.index.memory import MemoryVectors


@dataclass(frozen=True, slots=True)
class Folder:
    """The files of an index."""

    path: Path

    def entries(self, generation: int) -> Path:
        """Return the place of a snapshot."""
        return self.path / f"{generation}.entries"

    def sorting(self, generation: int) -> Path:
        """Return the place of how a snapshot's large partitions are sorted."""
        return self.path / f"{generation}.sorting"

    def part(self, generation: int) -> Path:
        """Return the place of a snapshot that is being written."""
        return self.path / f"{generation}.part"

    def log(self, generation: int) -> Path:
        """Return the place of a log."""
        return self.path / f"{generation}.log"

    def generations(self, suffix: str) -> list[int]:
        """List the generations that have a file of a kind, oldest first."""
        return sorted(int(path.stem) for path in self.path.glob(f"*.{suffix}") if path.stem.isdecimal())

    def forget(self, before: int | None = None) -> None:
        """Delete the files of generations before one, or all."""
        for path in self.path.glob("*.*"):
            if path.stem.isdecimal() and (before is None or int(path.stem) < before):
                path.unlink(missing_ok=True)


@dataclass(frozen=True, slots=True)
class Known:
    """What a folder knew.

    Attributes:
        index: All of it.
        generation: The last that has a file.
        settled: Whether a snapshot says it all.
    """

    index: MemoryVectors
    generation: int
    settled: bool


def recover(folder: Folder, origin: Origin, empty: Callable[[], MemoryVectors], say: Callable[[str], None]) -> Known:
    """Read what a folder knows.

    Args:
        folder: Where it may be.
        origin: What the index is made with; what was made with another is forgotten.
        empty: Opens an empty index.
        say: Is told what a person should know.
    """
    search_thread()  # threads that share out such small pieces wait for each other longer than they work
    if other := _another(folder, origin):
        say(f"the index was made with {other}; it starts empty for {origin.embedding}")
        folder.forget()
    snapshots, logs = folder.generations("entries"), folder.generations("log")
    index, settled = empty(), True
    if not snapshots and not logs:
        return Known(index, -1, settled)
    first = snapshots[-1] if snapshots else logs[0]
    if snapshots and (damaged := snapshot.load(index, origin, folder.entries(first), folder.sorting(first))):
        say(f"{damaged} entries of the index were damaged and are forgotten")
    last = max([first, *logs])
    for generation in range(first, last + 1):
        changes = _changes(folder.log(generation), origin, is_last=generation == last)
        if changes.doubtful:
            say("the log of the index was damaged; what was known before is forgotten")
            index = empty()
        _apply(changes.sound, index)
        settled = settled and not len(changes.sound) and not changes.doubtful
    for place in index.partitions.values():
        place.catch_up()
    return Known(index, last, settled)


class _Changes(NamedTuple):
    """What a log says; doubtful when it may have said, before this, what cannot be read."""

    sound: NDArray[np.void]
    doubtful: bool


def _changes(log: Path, origin: Origin, *, is_last: bool) -> _Changes:
    if not log.exists():
        return _Changes(np.zeros(0, origin.layout), doubtful=True)
    blocks = list(read(log, origin))
    records = np.concatenate([block.records for block in blocks]) if blocks else np.zeros(0, origin.layout)
    good = np.concatenate([block.sound for block in blocks]) if blocks else np.zeros(0, np.bool_)
    if is_last:
        end = int(np.flatnonzero(good)[-1]) + 1 if good.any() else 0
        records, good = records[:end], good[:end]
    bad = np.flatnonzero(~good)
    return _Changes(records[int(bad[-1]) + 1 if len(bad) else 0 :], doubtful=len(bad) > 0)


def _apply(records: NDArray[np.void], index: MemoryVectors) -> None:
    for record in records:
        partition, key = record["partition"].tobytes(), record["key"].tobytes()
        match int(record["kind"]):
            case Kind.ADD:
                index.put(partition, key, record["codes"], float(record["weight"]))
            case Kind.REMOVE:
                index.drop(partition, key)
            case _:
                index.forget(partition)


def _another(folder: Folder, origin: Origin) -> str | None:
    """Name the embedding of files that were made with another."""
    for suffix in ("entries", "log"):
        for generation in folder.generations(suffix):
            found = origin_of(folder.path / f"{generation}.{suffix}")
            if found is not None and found != origin:
                return f"{found.embedding} ({found.dimensions} dimensions)"
    return None
