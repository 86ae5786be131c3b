"""The log of an index: what has changed since its last snapshot, appended in the order it happened."""

from __future__ import annotations

import os
from collections import deque
from typing import TYPE_CHECKING, Final

from cache.index.files.records import Change

if TYPE_CHECKING:
    from pathlib import Path

    from cache.index.files.records import Origin

_MOST_WAITING: Final = 100_000


class Journal:
    """One log. The event loop notes; a thread writes, one call at a time."""

    def __init__(self, path: Path, origin: Origin) -> None:
        """Begin a log that was not there before.

        Raises:
            OSError: The disk does not take it.
        """
        self.records = 0
        self._origin = origin
        self._waiting = deque[Change]()
        self._file = path.open("xb", buffering=0)
        self._write(origin.head)

    def note(self, change: Change) -> None:
        """Have a change written soon; of too many that wait, none is kept."""
        self.records += 1
        if len(self._waiting) <= _MOST_WAITING:
            self._waiting.append(change)

    def flush(self) -> None:
        """Bring what was noted to the disk.

        Raises:
            OSError: The disk does not take it, or not as quickly as changes come.
        """
        if len(self._waiting) > _MOST_WAITING:
            raise OSError("it does not keep up")
        changes = [self._waiting.popleft() for _ in range(len(self._waiting))]
        if changes:
            self._write(self._origin.records(changes).tobytes())

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()

    def _write(self, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            rest = rest[self._file.write(rest) :]
        os.fsync(self._file.fileno())
