"""Stored answers in Redis: shared by every process, bounded in bytes, and gone by the server's clock in the end.

A Redis that is away or slow is a miss: no caller ever waits for it longer than a small budget, nor again for a while
after that. All keys begin with `sluice:cache:1:{<namespace>}:`, so that a cluster keeps an installation's answers on
one node; the layout is drawn in `answers.lua`. Needs Redis 6.2 or newer, with scripts allowed.
"""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING, Any, Final
from uuid import uuid4

from cache.errors import SharedAway
from cache.redis_server import BUDGET_S, SharedRedis
from cache.stores import StoreSize, weight
from cache.stores.record import pack, unpack

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from cache.stores import Stored

_PURGE_AT_ONCE: Final = 500
_PURGE_BUDGET_S: Final = 2.0


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
        self._shared = SharedRedis(url, (__package__ or "", "answers.lua"), budget_s, ticks)
        self._max_bytes = max_bytes
        self._clock = clock
        self._prefix = f"sluice:cache:1:{{{namespace}}}:".encode()
        self._me = uuid4().hex

    @property
    def sure(self) -> bool:
        """Whether Redis answers; see `AnswerStore.sure`."""
        return not self._shared.resting

    async def get(self, key: bytes) -> Stored | None:
        """Return the answer, or None when there is none, it has expired, or Redis does not tell in time."""
        found = await self.get_until(key)
        return None if found is None else found[0]

    async def get_until(self, key: bytes) -> tuple[Stored, float] | None:
        """Return the answer and the instant at which it expires; see `get`."""
        record = await _told(self._shared.command("HGET", self._prefix + b"a:" + key, "v"))
        found = None if record is None else unpack(key, record)
        return found if found is not None and found[1] > self._clock() else None

    async def put(self, key: bytes, stored: Stored, ttl: float) -> None:
        """Keep the answer for `ttl` seconds, dropping as needed those that would expire soonest."""
        record, lasts_ms = pack(key, stored, self._clock() + ttl), max(0, int(ttl * 1000))
        row = (key, record, repr(stored.created), lasts_ms, weight(stored), self._max_bytes, *stored.tags)
        await _told(self._shared.script(self._prefix, "put", *row))

    async def delete(self, key: bytes) -> bool:
        """Forget the answer; tell whether there was one."""
        return bool(await _told(self._shared.script(self._prefix, "delete", key)))

    async def purge(self, tag: str, before: float) -> int:
        """Forget all answers with this tag asked for by then; see `AnswerStore.purge`."""
        gone, place = 0, 0
        while place >= 0:
            step = ("purge", tag, repr(before), place, _PURGE_AT_ONCE)
            found = await _told(self._shared.script(self._prefix, *step, within_s=_PURGE_BUDGET_S))
            if found is None:
                break
            gone, place = gone + int(found[0]), int(found[1])
        return gone

    async def size(self) -> StoreSize:
        """Count what is kept."""
        entries, size = await _told(self._shared.script(self._prefix, "size")) or (0, 0)
        return StoreSize(int(entries), int(size))

    async def claim(self, key: bytes, seconds: float) -> bool:
        """Become the one process that makes this answer; see `Fleet.claim`."""
        lease = self._prefix + b"l:" + key
        try:
            return await self._shared.command("SET", lease, self._me, "NX", "PX", int(seconds * 1000)) is not None
        except SharedAway:
            return True

    async def release(self, key: bytes) -> None:
        """Let another process lead; see `Fleet.release`."""
        await _told(self._shared.script(self._prefix, "release", key, self._me))

    async def erase(self) -> None:
        """Take away everything that this namespace has in the store, for one that nobody will use again."""
        keys = [key async for key in self._shared.client.scan_iter(match=self._prefix + b"*", count=1_000)]
        if keys:
            await self._shared.client.unlink(*keys)

    async def close(self) -> None:
        """Close every connection."""
        await self._shared.close()


async def _told(answer: Awaitable[Any]) -> Any:
    """Return what Redis tells; None when it does not."""
    try:
        return await answer
    except SharedAway:
        return None
