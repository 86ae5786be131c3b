"""Parts of the semantic cache that hold nothing back, so that only the wall between scopes protects."""

from collections.abc import Sequence
from random import Random

import numpy as np
from numpy.typing import NDArray

from cache.learning.learner import Learner
from cache.learning.lookups import Action, Candidate, Decision
from cache.semantic.matching import Match, Placed
from cache.stores import Stored
from tests.support.vector_homes import DIMENSIONS


class Reckless(Learner):
    """Serves the nearest answer that it may.

    Attributes:
        seen: Every candidate of the last look-up.
    """

    def __init__(self, *, confirms: bool = True) -> None:
        """Begin; `confirms` says of every answer that a judge has found it right."""
        super().__init__(0.5, Random(0))
        self._confirms = confirms
        self.seen: Sequence[Candidate] = ()

    def decide(self, candidates: Sequence[Candidate], partition: bytes = b"", *, watched: bool = False) -> Decision:
        """Decide at no risk."""
        self.seen = candidates
        entry = next((one.entry for one in candidates if not one.vetoed), None)
        action = Action.ASK if entry is None else Action.EXPLORE if watched else Action.SERVE
        against = () if action is Action.SERVE else tuple(one.entry for one in candidates)
        return Decision(action, entry, against, 0.0, 1.0, 0.0, partition=partition)

    def confirmed(self, entry: bytes) -> bool:
        """Believe in every answer, or in none."""
        return self._confirms


class AllAlike:
    """A `TokenEmbedding` less its tokens, and a `Matching`: every question is in the same place and means the same."""

    name = embedding = "alike"
    dimensions = DIMENSIONS

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the same vector for each text."""
        return np.tile(_PLACE, (len(texts), 1))

    async def place(self, text: str) -> Placed:
        """Place a question where all are."""
        return Placed(text, _PLACE, b"marks")

    def judge(self, asked: Placed, stored: Sequence[tuple[Stored, float]]) -> list[Match]:
        """Find every answer right."""
        return [Match(1.0, vetoed=False) for _ in stored]

    async def close(self) -> None:
        """Hold nothing."""


_PLACE = np.full(DIMENSIONS, DIMENSIONS**-0.5, np.float32)
