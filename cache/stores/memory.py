"""Stored answers inside this process: what saves most per byte stays, bounded by bytes.

Who comes in is decided by TinyLFU (`tinylfu.py`), weighed by what an answer saves; who leaves by greedy dual
(`gdsf.py`). An answer that was asked for once does not drive out others that together save as much.
"""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING, Final

from cache.stores import StoreSize, weight
from cache.stores.gdsf import GreedyDual, Place
from cache.stores.purges import Purges
from cache.stores.tinylfu import FrequencySketch

if TYPE_CHECKING:
    from collections.abc import Callable

    from cache.stores import Stored

_USUAL_BYTES: Final = 2_048
_SLACK: Final = 64


@dataclass(frozen=True, slots=True)
class _Entry:
    stored: Stored
    expires_at: float
    bytes: int

    def worth(self, frequency: int) -> float:
        """Return what it saves per byte; an answer that cost nothing still saves a little time."""
        return frequency * max(1, self.stored.cost_nanos) / self.bytes


class MemoryAnswers:
    """An `AnswerStore` in this process's memory. It never awaits, so each call is atomic on one event loop."""

    def __init__(self, max_bytes: int, clock: Callable[[], float]) -> None:
        """Open an empty store.

        Args:
            max_bytes: The most room to take.
            clock: Seconds that only go forward.
        """
        self._max_bytes = max_bytes
        self._clock = clock
        self._entries: dict[bytes, _Entry] = {}
        self._sketch = FrequencySketch(max_bytes // _USUAL_BYTES)
        self._order = GreedyDual()
        self._ends: list[tuple[float, bytes]] = []
        self._purges = Purges()
        self._bytes = 0

    @property
    def sure(self) -> bool:
        """It always is; see `AnswerStore.sure`."""
        return True

    async def get(self, key: bytes) -> Stored | None:
        """Return the answer, or None when there is none or it has expired; either way the key counts as asked for."""
        frequency = self._sketch.add(key)
        entry = self._entries.get(key)
        if entry is not None and entry.expires_at <= self._clock():
            self._drop(key)
            entry = None
        if entry is None:
            return None
        self._order.touch(key, entry.worth(frequency))
        return entry.stored

    async def put(self, key: bytes, stored: Stored, ttl: float) -> None:
        """Keep the answer for `ttl` seconds, making room as needed, unless that would drop more than it saves."""
        self._drop(key)
        entry = _Entry(stored, self._clock() + ttl, weight(stored))
        if ttl <= 0 or entry.bytes > self._max_bytes or self._purges.cover(stored):
            return
        worth = entry.worth(max(1, self._sketch.estimate(key)))
        if self._make_room(entry.bytes, worth):
            self._entries[key] = entry
            self._bytes += entry.bytes
            self._order.touch(key, worth)
            heappush(self._ends, (entry.expires_at, key))

    async def delete(self, key: bytes) -> bool:
        """Forget the answer; tell whether there was one."""
        return self._drop(key)

    async def purge(self, tag: str, before: float) -> int:
        """Forget all answers with this tag asked for by then; see `AnswerStore.purge`."""
        self._purges.add(tag, before)
        late = [key for key, e in self._entries.items() if tag in e.stored.tags and e.stored.created <= before]
        return sum(self._drop(key) for key in late)

    async def size(self) -> StoreSize:
        """Count what is kept."""
        return StoreSize(len(self._entries), self._bytes)

    async def close(self) -> None:
        """Hold nothing open."""

    def _make_room(self, size: int, worth: float) -> bool:
        """Drop what is over, then what saves least; say whether there is room, else all is as it was."""
        if self._bytes + size > self._max_bytes:
            self._drop_expired()
        spared, freed, leaving = worth * size, 0, list[tuple[Place, bytes]]()
        while self._bytes - freed + size > self._max_bytes and spared >= 0:
            place, key = self._order.lowest()
            leaving.append((place, key))
            entry = self._entries[key]
            freed += entry.bytes
            spared -= entry.worth(self._sketch.estimate(key)) * entry.bytes
        for place, key in leaving:
            if spared < 0:
                self._order.restore(key, place)
            else:
                self._order.clock = place[0]
                self._drop(key)
        return spared >= 0

    def _drop_expired(self) -> None:
        now = self._clock()
        while self._ends and self._ends[0][0] <= now:
            ends, key = heappop(self._ends)
            entry = self._entries.get(key)
            if entry is not None and entry.expires_at == ends:
                self._drop(key)
        if len(self._ends) > 2 * len(self._entries) + _SLACK:  # more of it is past than present
            self._ends = [(entry.expires_at, key) for key, entry in self._entries.items()]
            heapify(self._ends)

    def _drop(self, key: bytes) -> bool:
        entry = self._entries.pop(key, None)
        if entry is not None:
            self._bytes -= entry.bytes
            self._order.forget(key)
        return entry is not None
