"""The backlog: what the ledger has been told and the database does not have.

All of it is in the journal. While it is short it is in memory as well, so that nothing is read back; when the database
is away for long, what is beyond the first entries is on the disk alone, and memory stays flat.
"""

from collections import deque
from collections.abc import Callable
from typing import Final

import msgspec
from msgspec.structs import replace

from governance.ledger.events import Entry, LedgerAttempt, LedgerEvent
from governance.ledger.journal.writing import Journal, Place

_CHUNK: Final = 500


class _Record(msgspec.Struct, array_like=True):
    """Entries that were appended together."""

    events: list[LedgerEvent]
    attempts: list[LedgerAttempt]


class _Waiting(msgspec.Struct, frozen=True, gc=False):
    """A record in memory: when it came, where it ends in the journal (None: it could not be written), what it says."""

    at: float
    place: Place | None
    entries: tuple[Entry, ...]


_encode: Final = msgspec.msgpack.Encoder().encode
_decode: Final = msgspec.msgpack.Decoder(_Record).decode


def record_of(entries: tuple[Entry, ...]) -> bytes:
    """Return entries as a journal keeps them.

    Raises:
        UnicodeError, OverflowError: Something in them is no text or does not fit into 64 bits.
    """
    events = [entry for entry in entries if isinstance(entry, LedgerEvent)]
    attempts = [entry for entry in entries if isinstance(entry, LedgerAttempt)]
    return _encode(_Record(events, attempts))


def entries_of(record: bytes) -> tuple[Entry, ...]:
    """Read a record back; an empty one says nothing.

    Raises:
        msgspec.DecodeError: It is none of this program's.
    """
    if not record:
        return ()
    found = _decode(record)
    return (*found.events, *found.attempts)


class Backlog:
    """A queue of records, first in, first out. `clock` gives monotonic seconds."""

    def __init__(self, journal: Journal, *, memory: int, clock: Callable[[], float]) -> None:
        """Start empty; up to `memory` records are kept in memory."""
        self.journal = journal
        self._memory = memory
        self._clock = clock
        self._near: deque[_Waiting] = deque()
        self._far = 0  # entries that are on the disk alone
        self._far_since = 0.0
        self._read_to = Place(0, 0)
        self._count = 0
        self._lost = 0
        self._bare = False  # some of what is near is not in the journal

    def __len__(self) -> int:
        """Entries that wait."""
        return self._count

    @property
    def oldest_s(self) -> float:
        """Seconds that the first entry has waited; for one on the disk alone, an upper bound."""
        if self._near:
            return self._clock() - self._near[0].at
        return self._clock() - self._far_since if self._far else 0.0

    @property
    def kept(self) -> int:
        """Entries that are in memory alone."""
        return sum(len(waiting.entries) for waiting in self._near if waiting.place is None) if self._bare else 0

    @property
    def lost(self) -> int:
        """Entries that were on the disk alone and could not be read back."""
        return self._lost

    def add(self, entries: tuple[Entry, ...]) -> None:
        """Journal entries and queue them.

        Raises:
            OSError: The journal failed; nothing was queued.
            UnicodeError, OverflowError: They cannot be written by anyone.
        """
        far = self._far > 0 or len(self._near) >= self._memory
        if far and not self._far:
            self._far_since, self._read_to = self._clock(), self.journal.end
        place = self.journal.append(record_of(entries))
        if far:
            self._far += len(entries)
        else:
            self._near.append(_Waiting(self._clock(), place, entries))
        self._count += len(entries)

    def keep(self, entries: tuple[Entry, ...]) -> None:
        """Queue entries in memory alone: for what was admitted when the journal fails."""
        self._near.append(_Waiting(self._clock(), None, entries))
        self._count += len(entries)
        self._bare = True

    def journal_kept(self) -> None:
        """Journal what is in memory alone.

        Raises:
            OSError: The journal still fails.
        """
        for index, waiting in enumerate(self._near if self._bare else ()):
            if waiting.place is None:
                self._near[index] = replace(waiting, place=self.journal.append(record_of(waiting.entries)))
        self._bare = False

    def first(self, most: int) -> list[Entry]:
        """Return the first entries: whole records, until there are `most` or more."""
        if not self._near and self._far:
            self._fetch()
        found: list[Entry] = []
        for waiting in self._near:
            found += waiting.entries
            if len(found) >= most:
                break
        return found

    def drop(self, count: int) -> None:
        """Forget the first entries, which are stored: as many as `first` returned."""
        self._count -= count
        while count > 0:
            count -= len(self._near.popleft().entries)

    @property
    def needed_from(self) -> Place:
        """The place before which the journal is no longer needed; looks at everything in memory."""
        places = [waiting.place for waiting in self._near if waiting.place is not None]
        if self._far:
            places.append(self._read_to)
        return min(places, default=self.journal.end)

    def _fetch(self) -> None:
        """Bring the next records back from the disk."""
        read = self.journal.read(self._read_to, _CHUNK)
        for place, record in read:
            entries = entries_of(record)
            self._near.append(_Waiting(self._far_since, place, entries))
            self._far -= len(entries)
            self._read_to = place
        if not read:  # the disk lost them under us
            self._count -= self._far
            self._lost += self._far
            self._far = 0
