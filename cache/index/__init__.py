"""Where the questions of stored answers are found again by their vectors, within one partition and never beyond.

Read in this order: this file (what a home of vectors promises), `memory.py` (the index of one process), `rows/` (what
it is made of), `disk.py` (the same, there again after a restart), `files/` (how it is written down) and `redis.py` (the
home that a fleet shares). Every home passes `tests/conformance/test_vector_index.py`.

The package knows no texts, no answers and no tenants: it is given digests and vectors. It needs the `semantic` extra,
but for this file.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

DIGEST: Final = 32
"""Bytes in the name of a partition, and in the key of an answer."""


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A stored answer whose question is near.

    Attributes:
        key: The fingerprint of the answer.
        similarity: The cosine between the questions, right to about 0.002: vectors are kept in a byte a component.
    """

    key: bytes
    similarity: float


@dataclass(frozen=True, slots=True)
class IndexSize:
    """How much an index holds.

    Attributes:
        entries: Vectors, over all partitions.
        partitions: Partitions that hold any.
        bytes: Room they take, about.
    """

    entries: int
    partitions: int
    bytes: int


class VectorIndex(Protocol):
    """Finds the keys of near vectors, in one partition at a time.

    A partition is the digest of all that must be equal before similarity counts. No call can reach, see or change a
    partition that it does not name, but for the room they share: when the index is full, what has saved least leaves,
    whoever's it is. Vectors have unit length, shape [dimensions].

    A home that others share raises `IndexUnavailable` when it does not answer.
    """

    async def add(self, partition: bytes, key: bytes, vector: NDArray[np.float32], weight: float = 1.0) -> None:
        """Keep a vector under a key, replacing what the partition has under it.

        Args:
            partition: 32 bytes.
            key: 32 bytes.
            vector: A unit vector.
            weight: What a hit on it saves, in any unit that all entries share; of full indexes the least leaves.
        """
        ...

    async def used(self, partition: bytes, key: bytes, saved: float = 1.0) -> None:
        """Count that an entry has saved something, so that it stays longer; one that is gone is no fault."""
        ...

    async def search(self, partition: bytes, vector: NDArray[np.float32], k: int) -> tuple[Neighbour, ...]:
        """Find up to k near vectors of the partition, the nearest first."""
        ...

    async def within(self, partition: bytes, vector: NDArray[np.float32], similarity: float) -> tuple[Neighbour, ...]:
        """Find every vector of the partition that is at least so similar, the nearest first, leaving none out."""
        ...

    async def names(self) -> tuple[bytes, ...]:
        """Name the partitions that hold anything, for who has to look through all of them."""
        ...

    async def remove(self, partition: bytes, key: bytes) -> bool:
        """Forget one entry; tell whether there was one."""
        ...

    async def clear(self, partition: bytes) -> int:
        """Forget a whole partition; tell how many entries it had."""
        ...

    async def size(self) -> IndexSize:
        """Count what is kept."""
        ...

    async def close(self) -> None:
        """Finish what is under way and let go of threads, files and connections."""
        ...
