"""Files of records: what is written of each change of an index, and of each entry in a snapshot of it.

A file begins with a line that names the embedding. All records after it are equally long, so that one that is damaged
does not hide those that follow, and each holds all of an entry, so that a partition, a key and a vector cannot be
parted. A record's checksum is a multilinear hash (Lemire and Kaser, "Strongly universal string hashing is fast", 2014):
it finds every damage to a single word, misses others once in some 10^18, and many records are summed at a time.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from cache.index import DIGEST

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

_MAGIC: Final = "sluice-index-1"
_LONGEST_HEAD: Final = 4_096
_WORD: Final = 8
_BLOCK: Final = 8_192


class Kind(IntEnum):
    """What a record says."""

    ADD = 1
    REMOVE = 2
    CLEAR = 3


class Change(NamedTuple):
    """One change, as a record says it; what a kind has no use for is empty."""

    kind: Kind
    partition: bytes
    key: bytes = b""
    codes: NDArray[np.int8] | None = None
    weight: float = 0.0


@dataclass(frozen=True, slots=True)
class Origin:
    """What an index was made with: vectors of another embedding mean something else.

    Attributes:
        embedding: Its name.
        dimensions: Components of its vectors.
    """

    embedding: str
    dimensions: int

    @property
    def head(self) -> bytes:
        """The line that a file begins with; no two origins have the same."""
        return json.dumps([_MAGIC, self.embedding, self.dimensions]).encode() + b"\n"

    @property
    def layout(self) -> np.dtype[np.void]:
        """How a record lies in a file, in whole words."""
        rest = -(20 + 2 * DIGEST + self.dimensions) % _WORD
        return np.dtype(
            [
                ("sum", "<u8"),
                ("kind", "<u4"),
                ("weight", "<f8"),
                ("partition", np.uint8, DIGEST),
                ("key", np.uint8, DIGEST),
                ("codes", np.int8, self.dimensions),
                ("rest", np.uint8, rest),
            ]
        )

    def records(self, changes: Sequence[Change]) -> NDArray[np.void]:
        """Write changes as records, sealed."""
        records = np.zeros(len(changes), self.layout)
        for record, change in zip(records, changes, strict=True):
            record["kind"], record["weight"] = change.kind, change.weight
            record["partition"] = np.frombuffer(change.partition, np.uint8)
            if change.key:
                record["key"] = np.frombuffer(change.key, np.uint8)
            if change.codes is not None:
                record["codes"] = change.codes
        return self.seal(records)

    def seal(self, records: NDArray[np.void]) -> NDArray[np.void]:
        """Put each record's checksum in."""
        records["sum"] = self.sums(records)
        return records

    def sums(self, records: NDArray[np.void]) -> NDArray[np.uint64]:
        """Compute the checksums of records, which those of another origin do not have, shape [n]."""
        words = records.view(np.uint64).reshape(len(records), -1)[:, 1:]
        chance = np.random.default_rng(np.frombuffer(self.head, np.uint8))
        factors = chance.integers(0, 2**63, words.shape[1] + 1, np.uint64) * np.uint64(2) + np.uint64(1)
        return (words * factors[1:]).sum(axis=1, dtype=np.uint64) + factors[0]


class Block(NamedTuple):
    """Some records of a file, in order.

    Attributes:
        records: Shape [n].
        sound: Which of them are as they were written, shape [n].
    """

    records: NDArray[np.void]
    sound: NDArray[np.bool_]


def origin_of(path: Path) -> Origin | None:
    """Read what a file says it was made with; None when that cannot be read."""
    try:
        with path.open("rb") as file:
            found = json.loads(file.readline(_LONGEST_HEAD))
    except (OSError, ValueError):
        return None
    match found:
        case [str(magic), str(embedding), int(dimensions)] if magic == _MAGIC:
            return Origin(embedding, dimensions)
        case _:
            return None


def read(path: Path, origin: Origin) -> Iterator[Block]:
    """Read the records of a file of this origin, but for a last one that is not whole."""
    layout = origin.layout
    with path.open("rb") as file:
        file.seek(len(origin.head))
        whole = max(0, os.fstat(file.fileno()).st_size - file.tell()) // layout.itemsize
        for start in range(0, whole, _BLOCK):
            records = np.fromfile(file, layout, min(_BLOCK, whole - start))
            yield Block(records, records["sum"] == origin.sums(records))
