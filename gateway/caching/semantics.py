"""The semantic cache of this process, open as long as the policy has one, and what each feature has learned.

It opens beside the requests, which go without it until it is there: the model that places questions takes a moment, and
may not be installed at all.
"""

import asyncio
from collections.abc import Awaitable, Callable
from random import Random
from typing import Final

from structlog.typing import FilteringBoundLogger

from cache.config import SemanticSection
from cache.errors import CacheError
from cache.semantic.lookup import SemanticCache
from gateway.caching.learned import Learned

GRACE_S: Final = 5.0
"""How long a cache that was replaced stays open for the look-ups under way in it."""

Opening = Callable[[SemanticSection], Awaitable[SemanticCache]]


class OpenSemantics(Learned):
    """Keeps the semantic cache that the policy wants, and what the features have learned.

    Attributes:
        cache: the cache; None while there is none.
        trouble: why there is none though the policy has one; empty otherwise.
    """

    def __init__(
        self, opening: Opening, chance: Random, log: FilteringBoundLogger, *, grace_s: float = GRACE_S
    ) -> None:
        """Begin without one.

        Args:
            opening: opens the cache of a section.
            chance: for exploration.
            log: is told when a cache cannot be opened, and when a feature closes or opens.
            grace_s: how long a cache that is replaced stays open.
        """
        super().__init__(chance)
        self.cache: SemanticCache | None = None
        self.trouble = ""
        self.section: SemanticSection | None = None
        self._before: SemanticCache | None = None
        self._opening = opening
        self._grace_s = grace_s
        self._log = log
        self._open: dict[str, bool] = {}

    async def obey(self, section: SemanticSection | None) -> None:
        """Open what a policy wants, and close what it does not; cheap when that is so already."""
        if section is not None:
            self.bind(section.max_error)
        if _kind(section) == _kind(self.section) and (section is None or self.cache is not None or self.trouble):
            self.section = section
            return
        self._before, self.cache = self.cache, None
        self.section, self.trouble = section, ""
        if self._before is not None:  # it closes before the next one opens: both may have the same home
            await asyncio.sleep(self._grace_s)
            await self._before.close()
            self._before = None
        if section is not None:
            try:
                self.cache = await self._opening(section)
            except CacheError as error:
                self.trouble = str(error)
                self._log.warning("no semantic cache", reason=self.trouble)

    def tell(self) -> None:
        """Tell the log of features that have closed or opened since the last time."""
        for feature, standing in self.standings().items():
            if self._open.get(feature, False) != standing.open:
                self._open[feature] = standing.open
                say = self._log.info if standing.open else self._log.warning
                state = "open" if standing.open else "closed"
                say("semantic cache", feature=feature, state=state, reason=standing.reason, upper=standing.upper)

    async def close(self) -> None:
        """Close the cache, and one that was just replaced."""
        for cache in (self.cache, self._before):
            if cache is not None:
                await cache.close()
        self.cache = self._before = None


def _kind(section: SemanticSection | None) -> tuple[str, int] | None:
    """Say what of a section decides which cache is open; all else is obeyed at once."""
    return None if section is None else (section.embedding, section.max_entries)
