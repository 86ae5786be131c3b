"""Stored answers inside this process: least recently used first out, bounded by bytes."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cache.stores import StoreSize

if TYPE_CHECKING:
    from collections.abc import Callable

    from cache.stores import Stored

OVERHEAD = 1_024
"""Bytes counted for an entry beside its body: the objects, the key and the place in the order."""


@dataclass(frozen=True, slots=True)
class Counts:
    """What a store has done since it was opened.

    Attributes:
        hits: Lookups that found an answer.
        misses: Lookups that found none.
        evictions: Answers dropped to make room.
        expirations: Answers dropped because their time was over.
    """

    hits: int
    misses: int
    evictions: int
    expirations: int


@dataclass(frozen=True, slots=True)
class _Entry:
    stored: Stored
    expires_at: float
    bytes: int


class MemoryAnswers:
    """An `AnswerStore` in this process's memory. It never awaits, so each call is atomic on one event loop."""

    def __init__(self, max_bytes: int, clock: Callable[[], float]) -> None:
        """Open an empty store.

        Args:
            max_bytes: The most room to take; the least recently used answers leave first.
            clock: Seconds that only go forward.
        """
        self._max_bytes = max_bytes
        self._clock = clock
        self._entries: OrderedDict[bytes, _Entry] = OrderedDict()
        self._bytes = 0
        self._hits = self._misses = self._evictions = self._expirations = 0

    async def get(self, key: bytes) -> Stored | None:
        """Return the answer and mark it as used, or None when there is none or it has expired."""
        entry = self._entries.get(key)
        if entry is not None and entry.expires_at <= self._clock():
            self._drop(key)
            self._expirations += 1
            entry = None
        if entry is None:
            self._misses += 1
            return None
        self._hits += 1
        self._entries.move_to_end(key)
        return entry.stored

    async def put(self, key: bytes, stored: Stored, ttl: float) -> None:
        """Keep the answer for `ttl` seconds, making room as needed; one larger than the store is not kept."""
        self._drop(key)
        size = len(stored.body) + OVERHEAD
        if ttl <= 0 or size > self._max_bytes:
            return
        while self._bytes + size > self._max_bytes:
            self._drop(next(iter(self._entries)))
            self._evictions += 1
        self._entries[key] = _Entry(stored, self._clock() + ttl, size)
        self._bytes += size

    async def delete(self, key: bytes) -> bool:
        """Forget the answer; tell whether there was one."""
        return self._drop(key)

    async def purge(self, tag: str, before: float) -> int:
        """Forget all answers with this tag made by then; see `AnswerStore.purge`."""
        late = [k for k, e in self._entries.items() if tag in e.stored.tags and e.stored.created <= before]
        return sum(self._drop(key) for key in late)

    async def close(self) -> None:
        """Hold nothing open."""

    async def size(self) -> StoreSize:
        """Count what is kept."""
        return StoreSize(len(self._entries), self._bytes)

    def counts(self) -> Counts:
        """Return what the store has done so far."""
        return Counts(self._hits, self._misses, self._evictions, self._expirations)

    def _drop(self, key: bytes) -> bool:
        entry = self._entries.pop(key, None)
        if entry is not None:
            self._bytes -= entry.bytes
        return entry is not None
