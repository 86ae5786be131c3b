"""Forget stored answers as ordered, in every process that keeps any."""

from collections.abc import Callable
from contextlib import suppress

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
        self, database: Database, answers: AnswerCache, semantics: OpenSemantics, clock: Callable[[], float]
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

    async def follow(self) -> None:
        """Carry out what was ordered since the last time.

        Raises:
            StoreUnavailable: The database does not answer.
            AnswersAway: The home of answers does not; the next time begins with the order that it failed.
        """
        for purge in await purges.after(self._database, self.done):
            if purge.kind == "like":
                self._likes[purge.n] = purge
            else:
                await self._forget(purge)
            with suppress(CacheError):
                await self._forget_likes()
            self.done = purge.n
        with suppress(CacheError):
            await self._forget_likes()

    async def _forget(self, purge: Purge) -> None:
        before = purge.at.timestamp()
        match purge.kind:
            case "all":
                await self._answers.purge(EVERY, before)
            case "key":
                await self._forget_key(bytes.fromhex(purge.value), before)
            case _:
                await self._answers.purge(purge.value, before)

    async def _forget_key(self, key: bytes, before: float) -> None:
        """Forget an answer under every key it is kept under."""
        stored = await self._answers.get(key)
        if stored is not None and stored.created > before:
            return
        if stored is not None and (tag := bought_by(stored.tags)) is not None:
            await self._answers.purge(tag, before)
        await self._answers.delete(key)  # and hear whether its home is only away

    async def _forget_likes(self) -> None:
        """Carry out the orders by likeness that were not yet, in the semantic cache that is open."""
        cache, section = self._semantics.cache, self._semantics.section
        if cache is None or section is None:
            return
        if cache is not self._searched:
            self._searched, self._liked = cache, 0
        for n, purge in sorted(self._likes.items()):
            before = purge.at.timestamp()
            if n > self._liked and self._clock() - before <= section.ttl:  # older answers are served no more
                for key in await cache.like(purge.value, purge.similarity):
                    await self._forget_key(key, before)
                self._liked = n
