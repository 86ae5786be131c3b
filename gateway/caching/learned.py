"""What each feature has learned of its look-ups, from its own process and from the record."""

from decimal import Decimal
from random import Random
from typing import Final

import msgspec

from cache.learning.learner import Learner
from cache.learning.lookups import Observation
from cache.learning.prior import shipped
from cache.learning.standing import Standing
from governance.lookups.records import Lookup

RIGHT: Final = b"right"
WRONG: Final = b"wrong"
"""The evidence of a lesson that a person gave."""

_STRICT: Final = Decimal("0.01")
"""The bound while no policy has set one."""

_FEATURES: Final = len(shipped().mean)
_DECODE: Final = msgspec.msgpack.Decoder(Observation).decode
_ENCODE: Final = msgspec.msgpack.Encoder().encode


class Learned:
    """The learners of all features, of each one for every embedding. `chance` is for exploration."""

    def __init__(self, chance: Random) -> None:
        self._chance = chance
        self._max_error = _STRICT
        self._learners: dict[tuple[str, str], Learner] = {}
        self._newest: dict[str, str] = {}

    def bind(self, max_error: Decimal) -> None:
        """Set the bound of every feature, from now on."""
        if max_error != self._max_error:
            self._max_error = max_error
            for learner in self._learners.values():
                learner.max_error = float(max_error)

    def learner(self, feature: str, embedding: str) -> Learner:
        """Return what decides the look-ups of a feature whose questions are placed by an embedding."""
        self._newest[feature] = embedding
        learner = self._learners.get((feature, embedding))
        if learner is None:
            learner = self._learners[feature, embedding] = Learner(float(self._max_error), self._chance)
        return learner

    def learn(self, lookup: Lookup) -> float | None:
        """Learn from a look-up on record, of this process before it was started anew, or of another.

        Returns:
            How probably its best candidate was wrong, where answers were compared.
        """
        if lookup.kind == "lesson":
            for (feature, _), learner in self._learners.items():
                if feature == lookup.feature and lookup.entry is not None:
                    learner.feedback(lookup.entry, right=lookup.evidence == RIGHT)
            return None
        seen = observed(lookup)
        return None if seen is None else self.learner(lookup.feature, seen.embedding).absorb(seen)

    def standings(self) -> dict[str, Standing]:
        """Say how each feature stands, with the embedding that it was looked up by last."""
        return {feature: self._learners[feature, by].standing() for feature, by in sorted(self._newest.items())}


def observed(lookup: Lookup) -> Observation | None:
    """Read what a look-up on record observed; None for one of another release, which nobody here can read."""
    try:
        seen = _DECODE(lookup.evidence)
    except msgspec.DecodeError:
        return None
    return seen if len(seen.decision.features) in {0, _FEATURES} else None


def evidence_of(observation: Observation) -> bytes:
    """Return an observation as it is put on record."""
    return _ENCODE(observation)
