"""The nearest rows of a partition.

Any thread may search while the event loop writes, because what is found is named afterwards, on the event loop: only
rows that are still the partition's and have not been written since the search began. So a search names no row of
another partition, and no similarity of one vector with the key of another.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from cache.index import Neighbour
from cache.index.rows.partitions import numbers

if TYPE_CHECKING:
    from collections.abc import Collection

    from numpy.typing import NDArray

    from cache.index.rows.arena import Arena
    from cache.index.rows.inverted_file import InvertedFile
    from cache.index.rows.partitions import Partition

INLINE: Final = 1_024
"""Rows that are compared on the event loop: a third of a millisecond, which a thread would not save."""

_TAIL: Final = 16_384
"""Rows that are gathered on the event loop; more are found by the thread."""

_SPARE: Final = 22
"""Candidates looked at beyond what is asked for, because some may be gone or be put in order anew."""


class Found(NamedTuple):
    """Rows and how similar they are, both of shape [n]."""

    rows: NDArray[np.int64]
    similarities: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Search:
    """A search, as it was when it began.

    Attributes:
        arena: The rows.
        partition: Whose rows are searched.
        vector: What is sought, shape [dimensions].
        since: The time at which it began.
        file: How rows are sorted, if they are.
        rows: Those to be compared one by one; None for all of the partition.
    """

    arena: Arena
    partition: Partition
    vector: NDArray[np.float32]
    since: int
    file: InvertedFile | None
    rows: NDArray[np.int64] | None

    @classmethod
    def begin(cls, arena: Arena, partition: Partition, vector: NDArray[np.float32]) -> Search:
        """Take note of how things are; on the event loop."""
        few: Collection[int] = partition.rows.values() if partition.file is None else partition.tail
        rows = numbers(few, len(few)) if len(few) <= _TAIL else None
        return cls(arena, partition, vector, arena.now, partition.file, rows)

    @property
    def small(self) -> bool:
        """Whether a thread would take longer than the search."""
        return self.file is None and self.rows is not None and len(self.rows) <= INLINE

    def nearest(self, k: int) -> Found:
        """Find the nearest rows, and some more than asked for; in any thread."""
        rows, most = self.rows, k + _SPARE
        if rows is None:
            rows = self.arena.rows_of(self.partition.number)
        elif self.file is not None:
            rows = np.union1d(rows, self.file.search(self.vector, most))
        similarities = self.arena.similarities(rows, self.vector)
        if len(rows) > most:
            best = np.argpartition(similarities, -most)[-most:]
            rows, similarities = rows[best], similarities[best]
        return Found(rows, similarities)

    def within(self, similarity: float) -> Found:
        """Find all rows that are at least so similar; in any thread."""
        rows = self.arena.rows_of(self.partition.number)
        similarities = self.arena.similarities(rows, self.vector)
        near = similarities >= similarity
        return Found(rows[near], similarities[near])

    def neighbours(self, found: Found) -> tuple[Neighbour, ...]:
        """Name what was found, the nearest first; on the event loop, so that nothing changes meanwhile."""
        sure = self.arena.unchanged(found.rows, self.partition.number, self.since)
        rows, similarities = found.rows[sure], found.similarities[sure]
        order = np.argsort(-similarities, kind="stable")
        return tuple(
            Neighbour(key.tobytes(), min(1.0, similarity))
            for key, similarity in zip(self.arena.keys[rows[order]], similarities[order].tolist(), strict=True)
        )
