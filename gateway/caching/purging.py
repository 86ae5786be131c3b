"""Forget stored answers as ordered, in every process that keeps any."""

from cache.answers import AnswerCache
from cache.errors import CacheError
from cache.tags import BOUGHT_BY, EVERY
from gateway.caching.semantics import OpenSemantics
from governance.database import Database
from governance.lookups import purges
from governance.lookups.purges import Purge


class Purger:
    """Follows the orders to forget; begins with all that stand, since a home on disk may have slept through some.

    Attributes:
        done: the number of the last order that was looked at.
    """

    def __init__(self, database: Database, answers: AnswerCache, semantics: OpenSemantics) -> None:
        self._database = database
        self._answers = answers
        self._semantics = semantics
        self._due: dict[int, Purge] = {}
        self.done = 0

    async def follow(self) -> int:
        """Carry out what was ordered since the last time or had to wait, and count the answers forgotten.

        Raises:
            StoreUnavailable: The database does not answer.
        """
        forgotten, orders = 0, await purges.after(self._database, self.done)
        for purge in (*self._due.values(), *orders):
            self._due[purge.n] = purge
            count = await self.forget(purge)
            if count is not None:
                del self._due[purge.n]
                forgotten += count
            self.done = max(self.done, purge.n)
        return forgotten

    async def forget(self, purge: Purge) -> int | None:
        """Carry out one order, and count the answers forgotten; None when that cannot be done just now."""
        before = purge.at.timestamp()
        match purge.kind:
            case "all":
                return await self._forget_tag(EVERY, before)
            case "tag":
                return await self._forget_tag(purge.value, before)
            case "key":
                return await self._forget_key(bytes.fromhex(purge.value), before)
            case "like":
                return await self._forget_like(purge.value, purge.similarity, before)

    async def _forget_tag(self, tag: str, before: float) -> int | None:
        count = await self._answers.purge(tag, before)
        return count if self._answers.sure else None

    async def _forget_key(self, key: bytes, before: float) -> int | None:
        """Forget an answer under every key it is kept under; its caller's own tags stand before ours."""
        stored = await self._answers.get(key)
        if stored is None or stored.created > before:
            return 0 if stored is not None or self._answers.sure else None
        tag = next((tag for tag in reversed(stored.tags) if tag.startswith(BOUGHT_BY)), None)
        copies = 0 if tag is None else await self._forget_tag(tag, before)
        gone = await self._answers.delete(key)
        return copies + gone if copies is not None and self._answers.sure else None

    async def _forget_like(self, question: str, similarity: float, before: float) -> int | None:
        """Forget what is found by meaning, once there is something to find it with: the cache opens after the start."""
        cache = self._semantics.cache
        if cache is None:
            return None
        try:
            keys = await cache.like(question, similarity)
        except CacheError:
            return None
        counts = [await self._forget_key(key, before) for key in keys]
        return None if None in counts else sum(count or 0 for count in counts)
