"""Vectors in Redis, shared by a fleet: one vector set for each partition, searched by the server.

A partition is a key, so a search of one cannot see another. What one process adds, removes or clears is so for all of
them with the server's answer. Needs vector sets: Redis 8.2 or newer, with scripts allowed. All keys begin with
`sluice:index:1:{<namespace>}:` and a digest of the embedding, so that another embedding starts empty, and a cluster
keeps an installation's vectors on one node; the layout is drawn in `vectors.lua`.
"""

from __future__ import annotations

import hashlib
from time import monotonic
from typing import TYPE_CHECKING, Any, Final
from uuid import uuid4

import numpy as np

from cache.errors import IndexUnavailable, SharedAway
from cache.index import DIGEST, IndexSize, Neighbour
from cache.index.rows.quantised import checked
from cache.redis_server import BUDGET_S, SharedRedis

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from numpy.typing import NDArray

    from cache.index.files.records import Origin

PURGE_S: Final = 5.0
"""Seconds that a step of a purge may take."""

_LOOKED_AT: Final = 200
_ENTRY_BYTES: Final = 1_040
"""Room that a Redis 8.2 takes for an entry beside its components, in partitions of fifty and of ten thousand."""


class RedisVectors:
    """A `VectorIndex` of several processes that share a Redis."""

    def __init__(
        self,
        url: str,
        origin: Origin,
        max_entries: int,
        namespace: str = "sluice",
        *,
        budget_s: float = BUDGET_S,
        ticks: Callable[[], float] = monotonic,
    ) -> None:
        """Prepare a client; it connects when first used.

        Args:
            url: `redis://`, `rediss://` or `unix://`.
            origin: The embedding.
            max_entries: The most vectors kept, over all partitions; every process should say the same.
            namespace: Sets installations apart that share one Redis.
            budget_s: Seconds that an answer is waited for.
            ticks: A monotonic clock in seconds.

        Raises:
            ValueError: The address is none.
        """
        self._shared = SharedRedis(url, (__package__ or "", "vectors.lua"), budget_s, ticks)
        self._dimensions = origin.dimensions
        self._max_entries = max_entries
        digest = hashlib.sha256(origin.head).hexdigest()[:16]
        self._prefix = f"sluice:index:1:{{{namespace}}}:{digest}:".encode()

    async def add(self, partition: bytes, key: bytes, vector: NDArray[np.float32], weight: float = 1.0) -> None:
        """Keep a vector; see `VectorIndex.add`."""
        if len(partition) != DIGEST or len(key) != DIGEST:
            raise ValueError(f"partitions and keys have {DIGEST} bytes")
        data = checked(vector, self._dimensions).astype("<f4").tobytes()
        await self._script("add", partition, key, data, repr(float(weight)), self._max_entries)

    async def used(self, partition: bytes, key: bytes, saved: float = 1.0) -> None:
        """Count that an entry has saved something; see `VectorIndex.used`."""
        await self._script("used", partition, key, repr(float(saved)))

    async def search(self, partition: bytes, vector: NDArray[np.float32], k: int) -> tuple[Neighbour, ...]:
        """Find near vectors; see `VectorIndex.search`."""
        data = checked(vector, self._dimensions).astype("<f4").tobytes()
        if k < 1:
            return ()
        wanted = ("WITHSCORES", "COUNT", k, "EF", max(k, _LOOKED_AT))
        return _neighbours(await self._command("VSIM", self._set(partition), "FP32", data, *wanted))

    async def within(self, partition: bytes, vector: NDArray[np.float32], similarity: float) -> tuple[Neighbour, ...]:
        """Find all that are near enough; see `VectorIndex.within`."""
        data = checked(vector, self._dimensions).astype("<f4").tobytes()
        entries = await self._command("VCARD", self._set(partition), within_s=PURGE_S)
        if not entries:
            return ()
        wanted = ("WITHSCORES", "COUNT", entries, "EPSILON", repr((1.0 - similarity) / 2), "TRUTH")
        found = await self._command("VSIM", self._set(partition), "FP32", data, *wanted, within_s=PURGE_S)
        return _neighbours(found)

    async def names(self) -> tuple[bytes, ...]:
        """Name the partitions; see `VectorIndex.names`."""
        return tuple(await self._command("SMEMBERS", self._prefix + b"partitions", within_s=PURGE_S))

    async def check(self) -> None:
        """See that the server is there and has vector sets.

        Raises:
            IndexUnavailable: It is not, or has none.
        """
        await self._command("VCARD", self._set(bytes(DIGEST)), within_s=PURGE_S)

    async def remove(self, partition: bytes, key: bytes) -> bool:
        """Forget an entry; see `VectorIndex.remove`."""
        return bool(await self._script("remove", partition, key, within_s=PURGE_S))

    async def clear(self, partition: bytes) -> int:
        """Forget a partition; see `VectorIndex.clear`. Nobody finds it from now on; its room comes free bit by bit."""
        entries = int(await self._script("bury", partition, uuid4().bytes, within_s=PURGE_S))
        while await self._script("sweep", within_s=PURGE_S):
            pass
        return entries

    async def size(self) -> IndexSize:
        """Count what is kept; see `VectorIndex.size`."""
        entries, partitions = await self._script("size")
        return IndexSize(entries, partitions, entries * (self._dimensions + _ENTRY_BYTES))

    async def close(self) -> None:
        """Close every connection."""
        await self._shared.close()

    def _set(self, partition: bytes) -> bytes:
        return self._prefix + b"v:" + partition

    async def _script(self, *arguments: str | bytes | float, within_s: float | None = None) -> Any:
        return await _told(self._shared.script(self._prefix, *arguments, within_s=within_s))

    async def _command(self, *arguments: str | bytes | float, within_s: float | None = None) -> Any:
        return await _told(self._shared.command(*arguments, within_s=within_s))


def _neighbours(found: list[bytes]) -> tuple[Neighbour, ...]:
    """Read keys and scores, which are (1 + cosine) / 2."""
    pairs = zip(found[::2], found[1::2], strict=True)
    return tuple(Neighbour(key, max(-1.0, min(1.0, 2 * float(score) - 1))) for key, score in pairs)


async def _told(answer: Awaitable[Any]) -> Any:
    """Return what Redis tells.

    Raises:
        IndexUnavailable: It does not answer, or cannot do this.
    """
    try:
        return await answer
    except SharedAway as error:
        if "unknown command" in str(error).lower():
            raise IndexUnavailable("Redis has no vector sets: 8.2 or newer is needed") from error
        raise IndexUnavailable(str(error)) from error
