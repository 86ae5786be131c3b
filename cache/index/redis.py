"""Vectors in Redis, shared by a fleet: one vector set for each partition, searched by the server.

A partition is a key, so a search of one cannot see another. What one process adds, removes or clears is so for all of
them with the server's answer. Needs vector sets: Redis 8.2 or newer, with scripts allowed. All keys begin with
`sluice:index:1:{<namespace>}:` and a digest of the embedding, so that another embedding starts empty, and a cluster
keeps an installation's vectors on one node; the layout is drawn in `vectors.lua`.

A call that is not answered in time is left to end by itself: a connection on which an answer is outstanding must not
be used again, or the next question would get it.
"""

from __future__ import annotations

import asyncio
import hashlib
from importlib.resources import files
from time import monotonic
from typing import TYPE_CHECKING, Any, Final
from uuid import uuid4

import numpy as np
import redis.asyncio as client
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import NoScriptError, RedisError

from cache.errors import IndexUnavailable
from cache.index import DIGEST, IndexSize, Neighbour
from cache.index.rows.quantised import checked

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from numpy.typing import NDArray

    from cache.index.files.records import Origin

BUDGET_S: Final = 0.05
"""Seconds that a search or an entry may take before the server counts as away."""

PURGE_S: Final = 5.0
"""Seconds that a step of a purge may take."""

REST_S: Final = 1.0
"""Seconds that nothing is asked of a server that was away."""

CONNECTIONS: Final = 16
_LOOKED_AT: Final = 200
_ENTRY_BYTES: Final = 1_040
"""Room that a Redis 8.2 takes for an entry beside its components, in partitions of fifty and of ten thousand."""

_SCRIPT: Final = files(__package__ or "").joinpath("vectors.lua").read_text("utf-8")
_SHA: Final = hashlib.sha1(_SCRIPT.encode(), usedforsecurity=False).hexdigest()


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
        pool = client.BlockingConnectionPool.from_url(
            url, max_connections=CONNECTIONS, timeout=None, retry=Retry(NoBackoff(), 0), socket_timeout=None, protocol=2
        )
        self._client: Any = client.Redis.from_pool(pool)
        self._dimensions = origin.dimensions
        self._max_entries = max_entries
        digest = hashlib.sha256(origin.head).hexdigest()[:16]
        self._prefix = f"sluice:index:1:{{{namespace}}}:{digest}:".encode()
        self._budget_s = budget_s
        self._ticks = ticks
        self._away_until = 0.0
        self._abandoned: set[asyncio.Task[Any]] = set()

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
        """Close every connection, and with them the calls that nobody waits for any more."""
        for task in self._abandoned:
            task.cancel()
        if self._abandoned:
            await asyncio.wait(self._abandoned)
        await self._client.aclose(close_connection_pool=True)

    def _set(self, partition: bytes) -> bytes:
        return self._prefix + b"v:" + partition

    async def _script(self, *arguments: str | bytes | float, within_s: float | None = None) -> Any:
        return await self._answer(self._run(*arguments), within_s)

    async def _command(self, *arguments: str | bytes | float, within_s: float | None = None) -> Any:
        return await self._answer(self._client.execute_command(*arguments), within_s)

    async def _run(self, *arguments: str | bytes | float) -> Any:
        try:
            return await self._client.execute_command("EVALSHA", _SHA, 1, self._prefix, *arguments)
        except NoScriptError:
            return await self._client.execute_command("EVAL", _SCRIPT, 1, self._prefix, *arguments)

    async def _answer(self, call: Coroutine[Any, Any, Any], within_s: float | None) -> Any:
        """Wait for an answer, as long as may be and not at all while the server rests.

        Raises:
            IndexUnavailable: The server does not answer, or cannot do this.
        """
        if self._ticks() < self._away_until and within_s is None:
            call.close()
            raise IndexUnavailable("Redis did not answer a moment ago")
        task = asyncio.ensure_future(call)
        try:
            done, _ = await asyncio.wait({task}, timeout=within_s or self._budget_s)
        finally:
            if not task.done():  # in time, or because whoever waited was cut off
                self._abandoned.add(task)
                task.add_done_callback(self._forget)
        if not done:
            self._away_until = self._ticks() + REST_S
            raise IndexUnavailable("Redis does not answer in time")
        try:
            return task.result()
        except (RedisError, OSError) as error:
            self._away_until = self._ticks() + REST_S
            raise _trouble(error) from error

    def _forget(self, task: asyncio.Task[Any]) -> None:
        self._abandoned.discard(task)
        if not task.cancelled():
            task.exception()  # nobody else asks


def _neighbours(found: list[bytes]) -> tuple[Neighbour, ...]:
    """Read keys and scores, which are (1 + cosine) / 2."""
    pairs = zip(found[::2], found[1::2], strict=True)
    return tuple(Neighbour(key, max(-1.0, min(1.0, 2 * float(score) - 1))) for key, score in pairs)


def _trouble(error: Exception) -> IndexUnavailable:
    if "unknown command" in str(error).lower():
        return IndexUnavailable("Redis has no vector sets: 8.2 or newer is needed")
    return IndexUnavailable(f"Redis does not serve vectors: {type(error).__name__}: {error}")
