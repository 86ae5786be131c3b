"""The spool folder: one sub-folder for each living process, and those that the dead have left.

A process locks its own sub-folder for as long as it lives, whichever way it ends. What is not locked belongs to nobody:
the next process that starts takes it over.
"""

import fcntl
import os
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from governance.ledger.journal.legacies import Legacy
from governance.ledger.journal.writing import SEGMENT_BYTES, SPOOL_BYTES, Journal


@dataclass(frozen=True, slots=True)
class Spool:
    """A process's own journal, and those of dead processes that it has taken over."""

    journal: Journal
    legacies: tuple[Legacy, ...]

    @classmethod
    def open(cls, folder: Path, *, limit_bytes: int = SPOOL_BYTES, segment_bytes: int = SEGMENT_BYTES) -> Self:
        """Make this process's sub-folder and take over whatever no living process holds.

        Raises:
            OSError: The folder cannot be made or written.
        """
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with _alone(folder):
            legacies = [
                Legacy(path, lock) for path in sorted(folder.iterdir()) if path.is_dir() and (lock := _take(path)) >= 0
            ]
            own = Path(tempfile.mkdtemp(prefix=f"{os.getpid()}-", dir=folder))
            journal = Journal(own, _take(own), limit_bytes=limit_bytes, segment_bytes=segment_bytes)
        return cls(journal, tuple(legacies))


@contextmanager
def _alone(folder: Path) -> Generator[None]:
    """Keep other starting processes out, or they would take a sub-folder between its making and its locking."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _take(folder: Path) -> int:
    """Lock a folder until the returned descriptor is closed; -1 when a living process has it."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return -1
    return descriptor
