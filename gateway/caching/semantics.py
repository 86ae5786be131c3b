"""The semantic cache of this process, open as long as the policy has one, and what each feature has learned.

It opens beside the requests, which go without it until it is there: the model that places questions takes a moment, and
may not be installed at all.
"""

from collections.abc import Awaitable, Callable
from decimal import Decimal
from random import Random
from typing import Final

import msgspec
from structlog.typing import FilteringBoundLogger

from cache.config import SemanticSection
from cache.errors import CacheError
from cache.learning.learner import Learner
from cache.learning.lookups import Observation
from cache.learning.standing import Standing
from cache.semantic.lookup import SemanticCache
from governance.lookups.records import Lookup

Opening = Callable[[SemanticSection], Awaitable[SemanticCache]]

RIGHT: Final = b"right"
WRONG: Final = b"wrong"
"""The evidence of a lesson that a person gave."""

_DECODE: Final = msgspec.msgpack.Decoder(Observation).decode
_STRICT: Final = Decimal("0.01")
"""By what bound a feature learns while no policy sets one."""

_ENCODE: Final = msgspec.msgpack.Encoder().encode


class OpenSemantics:
    """Keeps the semantic cache that the policy wants.

    Attributes:
        cache: the cache; None while there is none.
        trouble: why there is none though the policy has one; empty otherwise.
    """

    def __init__(self, opening: Opening, chance: Random, log: FilteringBoundLogger) -> None:
        """Begin without one.

        Args:
            opening: opens the cache of a section.
            chance: for exploration.
            log: is told when a cache cannot be opened, and when a feature closes or opens.
        """
        self.cache: SemanticCache | None = None
        self.trouble = ""
        self._opening = opening
        self._chance = chance
        self._log = log
        self._obeyed: SemanticSection | None = None
        self._learners: dict[str, Learner] = {}
        self._open: dict[str, bool] = {}

    async def obey(self, section: SemanticSection | None) -> None:
        """Open what a policy wants, and close what it does not; cheap when that is so already."""
        if _kind(section) == _kind(self._obeyed) and (section is None or self.cache is not None or self.trouble):
            self._obeyed = section
            return
        await self.close()
        self._obeyed, self.trouble = section, ""
        if section is None:
            return
        try:
            self.cache = await self._opening(section)
        except CacheError as error:
            self.trouble = str(error)
            self._log.warning("no semantic cache", reason=self.trouble)

    def learner(self, feature: str, max_error: Decimal) -> Learner:
        """Return what decides the look-ups of a feature."""
        learner = self._learners.get(feature)
        if learner is None:
            learner = self._learners[feature] = Learner(float(max_error), self._chance)
        learner.max_error = float(max_error)
        return learner

    def learn(self, lookup: Lookup) -> None:
        """Learn from a look-up on record, of this process before it was started anew, or of another."""
        learner = self.learner(lookup.feature, _STRICT if self._obeyed is None else self._obeyed.max_error)
        if lookup.kind == "lesson":
            if lookup.entry is not None:
                learner.feedback(lookup.entry, right=lookup.evidence == RIGHT)
            return
        try:
            seen = _DECODE(lookup.evidence)
        except msgspec.DecodeError:  # an older release's
            return
        learner.absorb(seen)

    def standings(self) -> dict[str, Standing]:
        """Say how each feature stands."""
        return {feature: learner.standing() for feature, learner in sorted(self._learners.items())}

    def tell(self) -> None:
        """Tell the log of features that have closed or opened since the last time."""
        for feature, standing in self.standings().items():
            if self._open.get(feature, False) != standing.open:
                self._open[feature] = standing.open
                say = self._log.info if standing.open else self._log.warning
                state = "open" if standing.open else "closed"
                say("semantic cache", feature=feature, state=state, reason=standing.reason, upper=standing.upper)

    async def close(self) -> None:
        """Close the cache."""
        if self.cache is not None:
            cache, self.cache = self.cache, None
            await cache.close()


def evidence_of(observation: Observation) -> bytes:
    """Return an observation as it is put on record."""
    return _ENCODE(observation)


def _kind(section: SemanticSection | None) -> tuple[str, int] | None:
    """Say what of a section decides which cache is open; all else is obeyed at once."""
    return None if section is None else (section.embedding, section.max_entries)
