"""The journal of a living process: records appended to segments, which go when the database has what is in them."""

import os
from collections import deque
from collections.abc import Iterator
from errno import ENOENT, ENOSPC
from pathlib import Path
from typing import Final, NamedTuple

from governance.ledger.journal.frames import framed, frames
from governance.ledger.journal.segments import Segment

SEGMENT_BYTES: Final = 4 * 1024 * 1024
SPOOL_BYTES: Final = 256 * 1024 * 1024


class Place(NamedTuple):
    """Where in a journal a record ends; later records have greater places."""

    segment: int
    offset: int


class Journal:
    """The journal of one process.

    New requests are let in only while half a segment is set aside beyond what is written, so that those in flight can
    always be recorded to their end, on a full disk too.
    """

    def __init__(
        self,
        folder: Path,
        lock: int,
        *,
        limit_bytes: int = SPOOL_BYTES,
        segment_bytes: int = SEGMENT_BYTES,
    ) -> None:
        """Prepare a journal in a folder that is locked by the descriptor `lock`; see `Spool.open`."""
        self.folder = folder
        self._lock = lock
        self._limit = limit_bytes
        self._segment_bytes = segment_bytes
        self._segments: deque[Segment] = deque()
        self._spare: Segment | None = None
        self._made = 0
        self._broken = False
        self._gone = False

    @property
    def end(self) -> Place:
        """The place of the last record."""
        last = self._segments[-1] if self._segments else None
        return Place(last.number, last.end) if last else Place(0, 0)

    @property
    def size(self) -> int:
        """Bytes set aside on the disk."""
        return sum(segment.size for segment in self._all())

    def reserve(self) -> None:
        """Make sure that there is room for the requests in flight.

        Raises:
            OSError: There is not, because the disk or the spool is full, or the device fails.
        """
        if self._gone:
            self.check()
        if self._broken:
            self.append(b"")
        room = self._segments[-1].room if self._segments else 0
        if self._spare is None and room < self._segment_bytes // 2:
            self._spare = self._create(self._segment_bytes)

    def check(self) -> None:
        """Look whether the folder is where it was; what is written into deleted files, nobody would find.

        Raises:
            OSError: It is gone.
        """
        self._gone = not self.folder.exists()
        if self._gone:
            raise FileNotFoundError(ENOENT, "its folder is gone")

    def append(self, payload: bytes) -> Place:
        """Write a record; when this returns it survives the death of the process. An empty one says nothing.

        Raises:
            OSError: There is no room, or the device failed.
        """
        frame = framed(payload)
        last = self._segments[-1] if self._segments else None
        if last is None or last.room < len(frame):
            last, self._spare = self._spare, None
            if last is None or last.room < len(frame):
                last = self._create(max(self._segment_bytes, len(frame)))
            self._segments.append(last)
        self._broken = True
        place = Place(last.number, last.append(frame))
        self._broken = False
        return place

    def read(self, after: Place, most: int) -> list[tuple[Place, bytes]]:
        """Read at most so many of the records that end after a place."""
        found: list[tuple[Place, bytes]] = []
        for segment in self._segments:
            if segment.number < after.segment:
                continue
            start = after.offset if segment.number == after.segment else 0
            for frame in frames(segment.read(), start):
                if len(found) == most:
                    return found
                found.append((Place(segment.number, frame.end), frame.payload))
        return found

    def has_before(self, place: Place) -> bool:
        """Tell whether `release` would delete anything."""
        return len(self._segments) > 1 and self._segments[0].number < place.segment

    def release(self, place: Place) -> None:
        """Delete the files in which every record lies before a place."""
        while self.has_before(place):
            self._segments.popleft().delete()

    def borrow_unsynced(self) -> list[int]:
        """Return descriptors of what the disk may not have yet; give them to `sync`, in another thread."""
        dirty = [segment.borrow() for segment in self._all() if segment.dirty]
        return [*dirty, os.dup(self._lock)] if dirty else []

    def close(self, *, keep: bool) -> None:
        """Give the folder up, and remove it unless its records are still to be stored."""
        for segment in self._all():
            segment.close() if keep else segment.delete()
        if not keep:
            self.folder.rmdir()
        os.close(self._lock)

    def _all(self) -> Iterator[Segment]:
        yield from self._segments
        if self._spare is not None:
            yield self._spare

    def _create(self, size: int) -> Segment:
        if self.size + size > self._limit:
            raise OSError(ENOSPC, f"the spool has reached its limit of {self._limit} bytes")
        made = Segment.create(self.folder, self._made + 1, size)
        self._made += 1
        return made


def sync(descriptors: list[int]) -> None:
    """Bring borrowed files to the disk and close them; blocks, so call it in a thread.

    Raises:
        OSError: The device failed.
    """
    try:
        for descriptor in descriptors:
            os.fsync(descriptor)
    finally:
        for descriptor in descriptors:
            os.close(descriptor)
