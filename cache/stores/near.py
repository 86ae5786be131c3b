"""A little memory in front of a home that is further away: what is asked for now is asked of it once.

Other processes may change what the home has, so nothing is believed for longer than `NEAR_S`: so long may an answer
outlive a purge that another process has made. A purge of this process is obeyed at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

from cache.stores import AnswerStore

if TYPE_CHECKING:
    from collections.abc import Callable

    from cache.stores import Stored, StoreSize

NEAR_S: Final = 2.0


class FarAnswers(AnswerStore, Protocol):
    """A home that tells how long an answer lasts."""

    async def get_until(self, key: bytes) -> tuple[Stored, float] | None:
        """Return the answer and the instant at which it expires, in seconds since 1970; see `get`."""
        ...


class NearAnswers:
    """An `AnswerStore` that looks near first."""

    def __init__(self, near: AnswerStore, home: FarAnswers, clock: Callable[[], float], near_s: float = NEAR_S) -> None:
        """Put one store in front of another.

        Args:
            near: Where answers are looked for first.
            home: Where they stay.
            clock: Seconds since 1970.
            near_s: How long an answer is believed without asking its home, in seconds.
        """
        self._near = near
        self._home = home
        self._clock = clock
        self._near_s = near_s
        self._changes = 0

    @property
    def sure(self) -> bool:
        """Whether the home is; see `AnswerStore.sure`."""
        return self._home.sure

    async def get(self, key: bytes) -> Stored | None:
        """Return the answer, from wherever it is."""
        stored = await self._near.get(key)
        if stored is not None:
            return stored
        changes = self._changes
        found = await self._home.get_until(key)
        if found is None:
            return None
        if changes == self._changes:  # else what was found may have been replaced or purged meanwhile
            await self._near.put(key, found[0], min(self._near_s, found[1] - self._clock()))
        return found[0]

    async def put(self, key: bytes, stored: Stored, ttl: float) -> None:
        """Keep the answer in the home, and near as well; see `AnswerStore.put`."""
        self._changes += 1
        await self._near.put(key, stored, min(ttl, self._near_s))
        await self._home.put(key, stored, ttl)
        self._changes += 1

    async def delete(self, key: bytes) -> bool:
        """Forget the answer in both."""
        self._changes += 1
        near = await self._near.delete(key)
        far = await self._home.delete(key)
        self._changes += 1
        return far or near

    async def purge(self, tag: str, before: float) -> int:
        """Forget in both; what the home had is counted."""
        self._changes += 1
        await self._near.purge(tag, before)
        gone = await self._home.purge(tag, before)
        self._changes += 1
        return gone

    async def size(self) -> StoreSize:
        """Count what the home keeps."""
        return await self._home.size()

    async def close(self) -> None:
        """Let go of both."""
        await self._near.close()
        await self._home.close()
