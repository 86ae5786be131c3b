"""Forget stored answers as ordered, in every process that keeps any."""

from collections.abc import Callable
from contextlib import suppress
from time import time

from cache.answers import AnswerCache
from cache.errors import CacheError
from cache.semantic.lookup import SemanticCache
from cache.tags import EVERY, bought_by
from gateway.caching.semantics import OpenSemantics
from governance.database import Database
from governance.lookups import purges
from governance.lookups.purges import Purge


class Purger:
    """Follows the orders to forget; begins with all that stand, since a home on disk may have slept through some.

    No order is passed over because what it is for is away: it stands until it was obeyed. Orders by likeness are obeyed
    in every semantic cache that is opened, as it may hold what was kept before them; they hold nobody else up.

    Attributes:
        done: the number of the last order that was carried out, or is to be when a semantic cache opens.
    """

    def __init__(
        self, database: Database, answers: AnswerCache, semantics: OpenSemantics, clock: Callable[[], float] = time
    ) -> None:
        """Begin with nothing done.

        Args:
            database: where the orders are.
            answers: what is forgotten.
            semantics: finds what is like a question.
            clock: seconds since 1970.
        """
        self._database = database
        self._answers = answers
        self._semantics = semantics
        self._clock = clock
        self._likes: dict[int, Purge] = {}
        self._searched: SemanticCache | None = None
        self._liked = 0
        self.done = 0

    async def follow(self) -> int:
        """Carry out what was ordered since the last time or had to wait, and count the answers forgotten.

        Raises:
            StoreUnavailable: The database does not answer.
            AnswersAway: The home of answers does not; the next time begins with the order that it failed.
        """
        forgotten = 0
        for purge in await purges.after(self._database, self.done):
            if purge.kind == "like":
                self._likes[purge.n] = purge
            else:
                forgotten += await self._forget(purge)
            with suppress(CacheError):
                forgotten += await self._forget_likes()
            self.done = purge.n
        with suppress(CacheError):
            forgotten += await self._forget_likes()
        return forgotten

    async def _forget(self, purge: Purge) -> int:
        before = purge.at.timestamp()
        match purge.kind:
            case "all":
                return await self._answers.purge(EVERY, before)
            case "key":
                return await self._forget_key(bytes.fromhex(purge.value), before)
            case _:
                return await self._answers.purge(purge.value, before)

    async def _forget_key(self, key: bytes, before: float) -> int:
        """Forget an answer under every key it is kept under."""
        stored = await self._answers.get(key)
        if stored is not None and stored.created > before:
            return 0
        copies = 0
        if stored is not None and (tag := bought_by(stored.tags)) is not None:
            copies = await self._answers.purge(tag, before)
        return copies + await self._answers.delete(key)  # which says as well whether its home is only away

    async def _forget_likes(self) -> int:
        """Carry out the orders by likeness that were not yet, in the semantic cache that is open."""
        cache, section, forgotten = self._semantics.cache, self._semantics.section, 0
        if cache is None:
            return 0
        if cache is not self._searched:
            self._searched, self._liked = cache, 0
        for n, purge in sorted(self._likes.items()):
            before = purge.at.timestamp()
            served = section is None or self._clock() - before <= section.ttl  # what is older is not, whatever it says
            if n > self._liked and served:
                keys = await cache.like(purge.value, purge.similarity)
                forgotten += sum([await self._forget_key(key, before) for key in keys])
            self._liked = max(n, self._liked)
        return forgotten
