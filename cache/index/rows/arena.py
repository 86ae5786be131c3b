"""The rows of an index: vectors, keys and owners of all partitions, in one stretch of memory each.

Only the event loop writes; any thread may read. A row's stamp is renewed before anything else of it, so a reader that
noted the time (`now`) before it began can tell what has been written since, and must leave that out: such a row may be
half old and half new, or by now another partition's.

Arrays have their full length from the start; the operating system gives them room as rows are first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from cache.index import DIGEST
from cache.index.rows.quantised import scales

if TYPE_CHECKING:
    from numpy.typing import NDArray

_BLOCK: Final = 16_384
"""Rows widened to floats at a time."""


class Arena:
    """Rows to be taken and freed.

    Attributes:
        now: The stamp given last.
        codes: Quantised vectors, shape [capacity, dimensions].
        scales: What gives codes unit length, shape [capacity].
        keys: Shape [capacity, 32].
        owners: The number of the partition that a row belongs to, 0 for nobody, shape [capacity].
        stamps: When a row was last taken or freed, shape [capacity].
    """

    def __init__(self, capacity: int, dimensions: int) -> None:
        """Make room for so many rows."""
        self.now = 0
        self.codes: NDArray[np.int8] = np.empty((capacity, dimensions), np.int8)
        self.scales: NDArray[np.float32] = np.empty(capacity, np.float32)
        self.keys: NDArray[np.uint8] = np.empty((capacity, DIGEST), np.uint8)
        self.owners: NDArray[np.int32] = np.zeros(capacity, np.int32)
        self.stamps: NDArray[np.uint64] = np.zeros(capacity, np.uint64)
        self._freed = list[int]()
        self.top = 0

    @property
    def full(self) -> bool:
        """Whether no row is to be had."""
        return not self._freed and self.top == len(self.owners)

    @property
    def taken(self) -> int:
        """How many rows are in use."""
        return self.top - len(self._freed)

    @property
    def row_bytes(self) -> int:
        """Room that one row takes."""
        return sum(column[:1].nbytes for column in (self.codes, self.scales, self.keys, self.owners, self.stamps))

    def take(self, owner: int, key: bytes, codes: NDArray[np.int8]) -> int:
        """Write a row for an owner and return its number."""
        if self._freed:
            row = self._freed.pop()
        else:
            row, self.top = self.top, self.top + 1
        self._stamp(row)
        self.codes[row] = codes
        self.scales[row] = scales(codes[np.newaxis])[0]
        self.keys[row] = np.frombuffer(key, np.uint8)
        self.owners[row] = owner
        return row

    def take_many(
        self, owners: NDArray[np.int32], keys: NDArray[np.uint8], codes: NDArray[np.int8]
    ) -> NDArray[np.int64]:
        """Write rows at once that were never used before, as many as there is room for, and return their numbers."""
        rows = np.arange(self.top, min(self.top + len(owners), len(self.owners)))
        self.top += len(rows)
        self.now += 1
        self.stamps[rows] = self.now
        self.codes[rows] = codes[: len(rows)]
        self.scales[rows] = scales(codes[: len(rows)])
        self.keys[rows] = keys[: len(rows)]
        self.owners[rows] = owners[: len(rows)]
        return rows

    def free(self, row: int) -> None:
        """Give a row back."""
        self._stamp(row)
        self.owners[row] = 0
        self._freed.append(row)

    def rows_of(self, owner: int) -> NDArray[np.int64]:
        """Find an owner's rows by looking at all."""
        return np.flatnonzero(self.owners[: self.top] == owner)

    def vectors(self, rows: NDArray[np.int64]) -> NDArray[np.float32]:
        """Widen rows to unit vectors, shape [n, dimensions]."""
        return self.codes[rows].astype(np.float32) * self.scales[rows, np.newaxis]

    def similarities(self, rows: NDArray[np.int64], vector: NDArray[np.float32]) -> NDArray[np.float32]:
        """Compare rows with a vector exactly, shape [n]."""
        parts = [rows[start : start + _BLOCK] for start in range(0, len(rows), _BLOCK)]
        found = [(self.codes[part].astype(np.float32) @ vector) * self.scales[part] for part in parts]
        return np.concatenate(found) if found else np.zeros(0, np.float32)

    def unchanged(self, rows: NDArray[np.int64], owner: int, since: int) -> NDArray[np.bool_]:
        """Tell which rows are the owner's and have not been written since a time, shape [n]."""
        return (self.stamps[rows] <= since) & (self.owners[rows] == owner)

    def _stamp(self, row: int) -> None:
        self.now += 1
        self.stamps[row] = self.now
