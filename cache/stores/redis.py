"""Stored answers in Redis: shared by every process, bounded in bytes, and gone by the server's clock in the end.

A Redis that is away or slow is a miss: no caller ever waits for it longer than a small budget, nor again for a while
after that. All keys begin with `sluice:cache:1:{<namespace>}:`, so that a cluster keeps an installation's answers on
one node; the layout is drawn in `answers.lua`. Needs Redis 6.2 or newer, with scripts allowed.
"""

from __future__ import annotations

import asyncio
import hashlib
from importlib.resources import files
from time import monotonic
from typing import TYPE_CHECKING, Any, Final
from uuid import uuid4

import redis.asyncio as client
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import NoScriptError, RedisError

from cache.stores import StoreSize, weight
from cache.stores.record import pack, unpack

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from cache.stores import Stored

BUDGET_S: Final = 0.05
"""How long a look-up may take before it is a miss."""

REST_S: Final = 1.0
"""How long nothing is asked of a Redis that has just failed."""

CONNECTIONS: Final = 16
_PURGE_AT_ONCE: Final = 500
_PURGE_BUDGET_S: Final = 2.0
_SCRIPT: Final = files(__package__ or "").joinpath("answers.lua").read_text("utf-8")
_SHA: Final = hashlib.sha1(_SCRIPT.encode(), usedforsecurity=False).hexdigest()


class RedisAnswers:
    """An `AnswerStore` and a `cache.flights.Fleet` of several processes that share a Redis."""

    def __init__(
        self,
        url: str,
        max_bytes: int,
        clock: Callable[[], float],
        namespace: str = "sluice",
        *,
        budget_s: float = BUDGET_S,
        ticks: Callable[[], float] = monotonic,
    ) -> None:
        """Prepare a client; it connects when first used.

        Args:
            url: `redis://`, `rediss://` or `unix://`.
            max_bytes: The most that answers may count for (`weight`); those that would expire soonest leave first.
            clock: Seconds since 1970.
            namespace: Sets installations apart that share one Redis.
            budget_s: Seconds that it is waited for.
            ticks: A monotonic clock in seconds.

        Raises:
            ValueError: The address is none.
        """
        pool = client.BlockingConnectionPool.from_url(
            url, max_connections=CONNECTIONS, timeout=None, retry=Retry(NoBackoff(), 0), socket_timeout=None
        )
        self._client: Any = client.Redis.from_pool(pool)
        self._max_bytes = max_bytes
        self._clock = clock
        self._prefix = f"sluice:cache:1:{{{namespace}}}:".encode()
        self._budget_s = budget_s
        self._ticks = ticks
        self._away_until = 0.0
        self._me = uuid4().hex
        self._abandoned: set[asyncio.Task[Any]] = set()

    @property
    def sure(self) -> bool:
        """Whether Redis answers; see `AnswerStore.sure`."""
        return self._ticks() >= self._away_until

    async def get(self, key: bytes) -> Stored | None:
        """Return the answer, or None when there is none, it has expired, or Redis does not tell in time."""
        found = await self.get_until(key)
        return None if found is None else found[0]

    async def get_until(self, key: bytes) -> tuple[Stored, float] | None:
        """Return the answer and the instant at which it expires; see `get`."""
        record = await self._ask(lambda: self._client.hget(self._prefix + b"a:" + key, "v"))
        found = None if record is None else unpack(key, record)
        return found if found is not None and found[1] > self._clock() else None

    async def put(self, key: bytes, stored: Stored, ttl: float) -> None:
        """Keep the answer for `ttl` seconds, dropping as needed those that would expire soonest."""
        record, lasts_ms = pack(key, stored, self._clock() + ttl), max(0, int(ttl * 1000))
        row = (key, record, repr(stored.created), lasts_ms, weight(stored), self._max_bytes, *stored.tags)
        await self._ask(lambda: self._run("put", *row))

    async def delete(self, key: bytes) -> bool:
        """Forget the answer; tell whether there was one."""
        return bool(await self._ask(lambda: self._run("delete", key)))

    async def purge(self, tag: str, before: float) -> int:
        """Forget all answers with this tag asked for by then; see `AnswerStore.purge`."""
        gone, place = 0, 0
        while place >= 0:
            step = ("purge", tag, repr(before), place, _PURGE_AT_ONCE)
            found = await self._ask(lambda step=step: self._run(*step), _PURGE_BUDGET_S)
            if found is None:
                break
            gone, place = gone + int(found[0]), int(found[1])
        return gone

    async def size(self) -> StoreSize:
        """Count what is kept."""
        entries, size = await self._ask(lambda: self._run("size")) or (0, 0)
        return StoreSize(int(entries), int(size))

    async def claim(self, key: bytes, seconds: float) -> bool:
        """Become the one process that makes this answer; see `Fleet.claim`."""
        lease = self._prefix + b"l:" + key
        taken = await self._ask(lambda: self._taken(lease, int(seconds * 1000)))
        return taken is not False

    async def release(self, key: bytes) -> None:
        """Let another process lead; see `Fleet.release`."""
        await self._ask(lambda: self._run("release", key, self._me))

    async def erase(self) -> None:
        """Take away everything that this namespace has in the store, for one that nobody will use again."""
        keys = [key async for key in self._client.scan_iter(match=self._prefix + b"*", count=1_000)]
        if keys:
            await self._client.unlink(*keys)

    async def close(self) -> None:
        """Close every connection."""
        for task in self._abandoned:
            task.cancel()
        if self._abandoned:
            await asyncio.wait(self._abandoned)
        await self._client.aclose(close_connection_pool=True)

    async def _ask(self, call: Callable[[], Coroutine[Any, Any, Any]], budget_s: float | None = None) -> Any:
        """Ask, and wait within the budget; None when there is no answer.

        A call that is given up is not waited for: a driver may put its end off until the server is back.
        """
        if self._ticks() < self._away_until:
            return None
        task = asyncio.ensure_future(call())
        try:
            await asyncio.wait({task}, timeout=self._budget_s if budget_s is None else budget_s)
            if task.done():
                return task.result()
        except (RedisError, OSError):
            pass
        finally:
            if not task.done():
                task.cancel()
                self._abandoned.add(task)
                task.add_done_callback(self._forget)
        self._away_until = self._ticks() + REST_S
        return None

    def _forget(self, task: asyncio.Task[Any]) -> None:
        self._abandoned.discard(task)
        if not task.cancelled():
            task.exception()  # it has been seen: nobody waits for it

    async def _taken(self, lease: bytes, lasts_ms: int) -> bool:
        return bool(await self._client.set(lease, self._me, nx=True, px=lasts_ms))

    async def _run(self, operation: str, *arguments: str | float | bytes) -> Any:
        try:
            return await self._client.execute_command("EVALSHA", _SHA, 1, self._prefix, operation, *arguments)
        except NoScriptError:
            return await self._client.execute_command("EVAL", _SCRIPT, 1, self._prefix, operation, *arguments)
