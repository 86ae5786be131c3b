"""Finding and keeping answers, within what the caller wishes."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Final

from cache.flights import Flights

if TYPE_CHECKING:
    from collections.abc import Callable

    from cache.directives import Directives
    from cache.flights import Fleet
    from cache.stores import AnswerStore, Stored, StoreSize


APART_S: Final = 60.0
"""How far the clocks of those may be apart who share a home of answers, in seconds."""


class AnswerCache:
    """The exact cache: one answer per fingerprint (`cache.canonical`), as long as the policy and the caller allow.

    Attributes:
        flights: The answers that are being made.
    """

    def __init__(self, store: AnswerStore, clock: Callable[[], float], fleet: Fleet | None = None) -> None:
        """Cache in a store.

        Args:
            store: Where answers live.
            clock: Seconds since 1970, on the same clock as `Stored.created`.
            fleet: The other processes that keep answers there, where there are some.
        """
        self._store = store
        self._clock = clock
        self.flights = Flights(store.get, fleet)

    async def find(self, key: bytes, directives: Directives, most_age: float = inf) -> Stored | None:
        """Return the stored answer, or None when there is none that the caller accepts.

        Args:
            key: The fingerprint of the request.
            directives: What the caller wishes.
            most_age: The oldest answer that the policy lets be served, in seconds.
        """
        if not directives.read:
            return None
        stored = await self._store.get(key)
        return stored if stored is not None and self.accepts(stored, directives, most_age) else None

    def accepts(self, stored: Stored, directives: Directives, most_age: float = inf) -> bool:
        """Say whether an answer is young enough for its caller and for the policy.

        One from the future was kept by a clock that was wrong: nobody knows how old it is.
        """
        wished = inf if directives.max_age is None else directives.max_age
        return -APART_S <= self.age(stored) <= min(wished, most_age)

    def age(self, stored: Stored) -> float:
        """Return how long ago an answer was asked for, in seconds."""
        return self._clock() - stored.created

    async def put(self, key: bytes, stored: Stored, ttl: int) -> None:
        """Keep an answer for `ttl` seconds (`Directives.lifetime`); 0 keeps nothing."""
        if ttl > 0:
            await self._store.put(key, stored, ttl)

    async def get(self, key: bytes) -> Stored | None:
        """Return a stored answer whoever it is for, for those who serve it to nobody."""
        return await self._store.get(key)

    @property
    def sure(self) -> bool:
        """Whether an answer that was not found just now is not there; see `AnswerStore.sure`."""
        return self._store.sure

    async def delete(self, key: bytes) -> bool:
        """Forget one answer; see `AnswerStore.delete`."""
        return await self._store.delete(key)

    async def purge(self, tag: str, before: float) -> int:
        """Forget all answers with a tag that were asked for at or before an instant; see `AnswerStore.purge`."""
        return await self._store.purge(tag, before)

    async def size(self) -> StoreSize:
        """Count what is kept."""
        return await self._store.size()

    async def close(self) -> None:
        """Let go of the store."""
        await self._store.close()
