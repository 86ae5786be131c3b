"""The semantic cache of this process, open as long as the policy has one, and what each feature has learned.

It opens beside the requests, which go without it until it is there: the model that places questions takes a moment, and
may not be installed at all.
"""

import asyncio
from collections.abc import Awaitable, Callable
from random import Random
from time import monotonic
from typing import Final

from structlog.typing import FilteringBoundLogger

from cache.config import SemanticSection
from cache.errors import CacheError
from cache.semantic.lookup import SemanticCache
from gateway.caching.learned import Learned

RETRY_S: Final = 60.0
"""How long after a cache could not be opened it is tried again."""

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
        self,
        opening: Opening,
        chance: Random,
        log: FilteringBoundLogger,
        *,
        ticks: Callable[[], float] = monotonic,
        grace_s: float = GRACE_S,
    ) -> None:
        """Begin without one.

        Args:
            opening: opens the cache of a section.
            chance: for exploration.
            log: is told when a cache cannot be opened, and when a feature closes or opens.
            ticks: a monotonic clock in seconds.
            grace_s: how long a cache that is replaced stays open for the look-ups under way in it, in seconds.
        """
        super().__init__(chance)
        self.cache: SemanticCache | None = None
        self.trouble = ""
        self.section: SemanticSection | None = None
        self._before: SemanticCache | None = None
        self._opening = opening
        self._grace_s = grace_s
        self._log = log
        self._ticks = ticks
        self._next_try = 0.0
        self._told: dict[str, bool] = {}

    async def obey(self, section: SemanticSection | None) -> None:
        """Open what a policy wants, and close what it does not; cheap when that is so already.

        One that is replaced is closed before the other opens: both live in the same place.
        """
        if section is not None:
            self.bind(section.max_error)
        before, self.section = self.section, section
        changed = _kind(section) != _kind(before)
        if not changed and (section is None or self.cache is not None or self._ticks() < self._next_try):
            return
        if self.cache is not None:
            self._before, self.cache = self.cache, None
        if self._before is not None:
            await asyncio.sleep(self._grace_s)
            await self._before.close()
            self._before = None
        await self._open(section, again=not changed)

    async def _open(self, section: SemanticSection | None, *, again: bool) -> None:
        trouble, self.trouble = self.trouble, ""
        if section is None:
            return
        try:
            self.cache = await self._opening(section)
        except Exception as error:  # noqa: BLE001  whatever it is: the gateway goes on without, and tries again
            self.trouble = str(error) if isinstance(error, CacheError) else f"{type(error).__name__}: {error}"
            self._next_try = self._ticks() + RETRY_S
            if not again or self.trouble != trouble:
                self._log.warning("no semantic cache", reason=self.trouble)

    def tell(self) -> None:
        """Tell the log of features that have closed or opened since the last time."""
        for feature, standing in self.standings().items():
            if self._told.get(feature, False) != standing.open:
                self._told[feature] = standing.open
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
