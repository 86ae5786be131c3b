"""Segments: the files that a journal is made of.

The space of a segment is set aside when it is made. A full disk therefore shows when a segment is made, and never when
a record is written into one.
"""

import os
import sys
from errno import EIO
from pathlib import Path
from typing import Final

SUFFIX: Final = ".journal"
_MODE: Final = 0o600


class Segment:
    """One file that records are appended to. `end` is the offset after the last whole record."""

    def __init__(self, number: int, path: Path, descriptor: int, size: int) -> None:
        self.number = number
        self.path = path
        self.size = size
        self.end = 0
        self.dirty = True
        self._descriptor = descriptor

    @classmethod
    def create(cls, folder: Path, number: int, size: int) -> "Segment":
        """Make a segment and set its space aside.

        Raises:
            OSError: The disk has no room for it.
        """
        path = folder / f"{number:010d}{SUFFIX}"
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, _MODE)
        try:
            _set_aside(descriptor, size)
        except BaseException:
            os.close(descriptor)
            path.unlink()
            raise
        return cls(number, path, descriptor, size)

    @property
    def room(self) -> int:
        """Bytes that can still be written."""
        return self.size - self.end

    def append(self, frame: bytes) -> int:
        """Write a frame with one system call and return the offset after it.

        A frame that was not written whole is overwritten by the next one.

        Raises:
            OSError: The device failed.
        """
        if os.pwrite(self._descriptor, frame, self.end) != len(frame):
            raise OSError(EIO, "a record was not written whole", str(self.path))
        self.end += len(frame)
        self.dirty = True
        return self.end

    def read(self) -> bytes:
        """Return what has been written."""
        return os.pread(self._descriptor, self.end, 0)

    def borrow(self) -> int:
        """Return another descriptor of the same file, the caller's to close, and count what is in it as synced."""
        self.dirty = False
        return os.dup(self._descriptor)

    def delete(self) -> None:
        """Remove the file."""
        self.path.unlink(missing_ok=True)
        self.close()

    def close(self) -> None:
        """Close the file and leave it where it is."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


def segments_in(folder: Path) -> list[Path]:
    """List the segments in a folder, oldest first."""
    return sorted(folder.glob(f"*{SUFFIX}"))


def _set_aside(descriptor: int, size: int) -> None:
    if sys.platform == "linux":
        os.posix_fallocate(descriptor, 0, size)
    else:
        os.pwrite(descriptor, bytes(size), 0)
