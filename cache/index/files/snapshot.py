"""A snapshot of an index: each entry that it had at one moment, and how the rows of large partitions were sorted.

It is written while the index goes on changing. What has changed since the moment is left out, because it stands in the
log that begins there.
"""

from __future__ import annotations

import os
import zipfile
from typing import TYPE_CHECKING, Final

import numpy as np

from cache.index import DIGEST
from cache.index.files.records import Kind, read
from cache.index.rows.inverted_file import InvertedFile, Sorting

if TYPE_CHECKING:
    from pathlib import Path

    from cache.index.files.records import Origin
    from cache.index.memory import MemoryVectors
    from cache.index.rows.partitions import Partition

_BLOCK: Final = 4_096


def write(index: MemoryVectors, since: int, origin: Origin, entries: Path, sorting: Path) -> None:
    """Write down what an index had at a moment; any thread may.

    Args:
        index: The index, which may go on changing.
        since: The moment, as a stamp of its arena.
        origin: What it is made with.
        entries: Where entries go.
        sorting: Where it is written how rows are sorted.

    Raises:
        OSError: The disk does not take it.
    """
    places = list(index.partitions.values())
    positions = _write_entries(index, places, since, origin, entries)
    columns = dict[str, np.ndarray]()
    for number, place in enumerate(place for place in places if place.file is not None):
        sorted_rows = place.file.sorting() if place.file is not None else None
        if sorted_rows is not None:
            kept = sorted_rows.rows < len(positions)
            columns[f"digest{number}"] = np.frombuffer(place.digest, np.uint8)
            columns[f"centres{number}"] = sorted_rows.centres
            columns[f"positions{number}"] = positions[sorted_rows.rows[kept]]
            columns[f"cells{number}"] = sorted_rows.cells[kept].astype(np.int32)
    with sorting.open("wb") as file:
        np.savez(file, allow_pickle=False, **columns)


def load(index: MemoryVectors, origin: Origin, entries: Path, sorting: Path) -> int:
    """Read a snapshot into an empty index, and return how many of its entries were damaged and are left out."""
    rows, damaged = list[np.ndarray](), 0
    for records, sound in read(entries, origin):
        rows.append(index.load(records, sound & (records["kind"] == Kind.ADD)))
        damaged += int(len(sound) - sound.sum())
    if rows:
        _load_sorting(index, np.concatenate(rows), sorting)
    return damaged


def _write_entries(index: MemoryVectors, places: list[Partition], since: int, origin: Origin, path: Path) -> np.ndarray:
    """Write entries and return the position that each row has in the file, -1 for none."""
    arena, top = index.arena, index.arena.top
    numbers = np.array([place.number for place in places], np.int32)
    digests = np.frombuffer(b"".join([place.digest for place in places]), np.uint8).reshape(-1, DIGEST)
    order = np.argsort(numbers)
    numbers, digests = numbers[order], digests[order]
    positions, written = np.full(top, -1, np.int64), 0
    with path.open("wb") as file:
        file.write(origin.head)
        for start in range(0, top if places else 0, _BLOCK):
            part = slice(start, min(start + _BLOCK, top))
            owners = arena.owners[part].copy()
            which = np.minimum(np.searchsorted(numbers, owners), len(numbers) - 1)
            records = np.zeros(len(owners), origin.layout)
            records["kind"] = Kind.ADD
            records["partition"] = digests[which]
            records["weight"] = index.worth(part)
            records["key"] = arena.keys[part]
            records["codes"] = arena.codes[part]
            sure = (arena.stamps[part] <= since) & (numbers[which] == owners)  # asked last: see the arena
            positions[part][sure] = np.arange(written, written + int(sure.sum()))
            written += int(sure.sum())
            file.write(origin.seal(records[sure]).tobytes())
        file.flush()
        os.fsync(file.fileno())
    return positions


def _load_sorting(index: MemoryVectors, rows: np.ndarray, path: Path) -> None:
    """Sort rows as they were; where that is not known any more they are sorted anew in time."""
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as columns:
            for number in range(len(columns.files) // 4):
                place = index.partitions.get(columns[f"digest{number}"].tobytes())
                positions, cells = columns[f"positions{number}"], columns[f"cells{number}"].astype(np.int64)
                kept = (positions >= 0) & (positions < len(rows))
                found, cells = rows[positions[kept]], cells[kept]
                mine = index.arena.owners[found] == (0 if place is None else place.number)
                sorting = Sorting(columns[f"centres{number}"], found[mine], cells[mine])
                if place is not None and sorting.whole:
                    place.restore(InvertedFile.restore(index.arena, sorting), sorting.rows)
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        return
