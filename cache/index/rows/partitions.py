"""What each partition holds: its rows by key, and how they are sorted once it is large."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from cache.index.rows.inverted_file import InvertedFile


@dataclass(slots=True, eq=False)
class Partition:
    """The entries of one partition.

    Attributes:
        digest: Its name.
        number: The owner of its rows in the arena, never given to another.
        rows: The row of each key.
        file: Its rows sorted, once there are many.
        building: Whether a file is being built.
        tail: Rows that the file does not hold yet, or the one that is being built may not.
    """

    digest: bytes
    number: int
    rows: dict[bytes, int] = field(default_factory=dict[bytes, int])
    file: InvertedFile | None = None
    building: bool = False
    tail: set[int] = field(default_factory=set[int])

    def enter(self, key: bytes, row: int) -> None:
        """Put a key's row in."""
        self.rows[key] = row
        if self.file is not None or self.building:
            self.tail.add(row)

    def leave(self, key: bytes) -> int | None:
        """Take a key out and return its row."""
        row = self.rows.pop(key, None)
        if row is not None:
            self.tail.discard(row)
        return row

    def restore(self, file: InvertedFile, rows: NDArray[np.int64]) -> None:
        """Search by a file that holds these rows."""
        self.file, self.tail = file, set(self.rows.values()).difference(rows.tolist())

    def catch_up(self) -> None:
        """Sort in what the file does not hold; takes a while."""
        if self.file is not None:
            self.file.add(numbers(self.tail, len(self.tail)))
            self.tail.clear()


def numbers(rows: Iterable[int], count: int) -> NDArray[np.int64]:
    """Gather row numbers."""
    return np.fromiter(rows, np.int64, count)
