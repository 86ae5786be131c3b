"""Finding and keeping answers, within what the caller wishes."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from cache.directives import Directives
    from cache.stores import AnswerStore, Stored


class AnswerCache:
    """The exact cache: one answer per fingerprint (`cache.canonical`), as long as the policy and the caller allow."""

    def __init__(self, store: AnswerStore, clock: Callable[[], float]) -> None:
        """Cache in a store.

        Args:
            store: Where answers live.
            clock: Seconds since 1970, on the same clock as `Stored.created`.
        """
        self._store = store
        self._clock = clock

    async def find(self, key: bytes, directives: Directives) -> Stored | None:
        """Return the stored answer, or None when there is none that the caller accepts."""
        if not directives.read:
            return None
        stored = await self._store.get(key)
        if stored is None or directives.max_age is None:
            return stored
        return stored if self._clock() - stored.created <= directives.max_age else None

    async def put(self, key: bytes, stored: Stored, ttl: int) -> None:
        """Keep an answer for `ttl` seconds (`Directives.lifetime`); 0 keeps nothing."""
        if ttl > 0:
            await self._store.put(key, stored, ttl)
