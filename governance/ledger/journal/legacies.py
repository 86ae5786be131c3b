"""What a dead process left in the spool: whole records, and perhaps damage."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from governance.ledger.journal.frames import frames, is_blank
from governance.ledger.journal.segments import segments_in


@dataclass(frozen=True, slots=True)
class Left:
    """One file: its whole records in order, and how many stretches of it are neither a record nor blank."""

    path: Path
    records: tuple[bytes, ...]
    damaged: int

    @classmethod
    def read(cls, path: Path) -> "Left":
        """Read a file.

        Raises:
            OSError: It cannot be read.
        """
        data = path.read_bytes()
        found = list(frames(data))
        edges = [0, *(edge for frame in found for edge in (frame.start, frame.end)), len(data)]
        gaps = list(pairwise(edges))[::2]
        damaged = sum(not is_blank(data, start, end) for start, end in gaps)
        return cls(path, tuple(frame.payload for frame in found), damaged)


def discard(path: Path, *, keep: bool) -> None:
    """Remove a file once its records are stored, or set one with damage aside for people to look at."""
    if keep:
        path.rename(path.with_suffix(".damaged"))
    else:
        path.unlink()


class Legacy:
    """The journal of a dead process, now ours."""

    def __init__(self, folder: Path, lock: int) -> None:
        self._folder = folder
        self._lock = lock

    def files(self) -> Iterator[Left]:
        """Read its files, oldest first.

        Raises:
            OSError: One cannot be read.
        """
        for path in segments_in(self._folder):
            yield Left.read(path)

    def close(self) -> None:
        """Let go of it, and remove the folder if nothing is left in it."""
        if not any(self._folder.iterdir()):
            self._folder.rmdir()
        os.close(self._lock)
