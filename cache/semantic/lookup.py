"""Look a question up by its meaning: find what is near, let it be judged, and keep what was answered anew.

The order is the one of trust: whether any stored answer could fit (`cache.detecting`), what is near within the scope
(`cache.embedding`, `cache.index`), what no similarity may bridge (`cache.guards`), how probably it asks the same
(`cache.verifying`), and whether that is good enough (`cache.learning`).
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from cache.detecting.unfit import unfit
from cache.errors import EmbeddingUnavailable, IndexUnavailable
from cache.guards import read, veto
from cache.learning.evidence import NEIGHBOURS
from cache.learning.lookups import Action, Candidate
from cache.semantic.scope import entry_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from cache.answers import AnswerCache
    from cache.embedding import Embedding
    from cache.index import Neighbour, VectorIndex
    from cache.judging import AnswerJudge
    from cache.learning.learner import Learner
    from cache.learning.lookups import Decision
    from cache.semantic.question import Question
    from cache.stores import Stored
    from cache.verifying import Verifier

READ: Final = 8
"""How many of the nearest are read: only these can be served. The others still tell what is asked around here."""


@dataclass(frozen=True, slots=True)
class Sought:
    """What a look-up by meaning came to.

    Attributes:
        scope: Where it looked.
        entry: The name that an answer to this very question has there.
        text: The question.
        vector: Its place, a unit vector [dimensions].
        decision: What is to be done.
        near: The stored answers that were read, by their names.
        answer: What is to be served; None when the model is to be asked.
        similarity: The cosine between the question and the one that `answer` is of.
    """

    scope: bytes
    entry: bytes
    text: str
    vector: NDArray[np.float32]
    decision: Decision
    near: Mapping[bytes, Stored]
    answer: Stored | None = None
    similarity: float = 0.0


class SemanticCache:
    """Finds answers by meaning. It keeps no text but what the stored answers are kept with.

    Attributes:
        judge: Tells whether two answers say the same, for whoever has a new one.
    """

    def __init__(
        self, embedding: Embedding, index: VectorIndex, answers: AnswerCache, verifier: Verifier, judge: AnswerJudge
    ) -> None:
        """Look up in an index whose keys name stored answers.

        Args:
            embedding: Places questions.
            index: Where their places are.
            answers: Where the answers are.
            verifier: Tells whether two questions ask the same.
            judge: Tells whether two answers say the same.
        """
        self.judge = judge
        self._embedding = embedding
        self._index = index
        self._answers = answers
        self._verifier = verifier

    async def seek(
        self,
        question: Question,
        scope: bytes,
        learner: Learner,
        fits: Callable[[Stored], bool],
        *,
        confirmed_only: bool = False,
        watched: bool = False,
    ) -> Sought | None:
        """Look a question up, and decide what is to be done.

        Args:
            question: The question.
            scope: Where to look, from `scope_of`.
            learner: What its feature has learned.
            fits: Whether a stored answer may be served here at all, by its age and its model.
            confirmed_only: Serve nothing that a judge has not found right before.
            watched: Serve nothing; only learn what would have been served.

        Returns:
            None when no stored answer could fit such a question, or when it cannot be placed just now.
        """
        if unfit(question.text) is not None:
            return None
        try:
            vector = (await self._embedding.embed([question.text]))[0]
            found = await self._index.search(scope, vector, NEIGHBOURS)
        except (EmbeddingUnavailable, IndexUnavailable):
            return None
        near = await self._read(scope, found[:READ], learner)

        def may(entry: bytes, stored: Stored) -> bool:
            return fits(stored) and (learner.confirmed(entry) or not confirmed_only)

        candidates = self._candidates(question.text, found, near, may)
        decision = learner.decide(candidates, scope, watched=watched)
        sought = Sought(scope, entry_of(scope, question.text), question.text, vector, decision, near)
        if decision.action is not Action.SERVE or decision.entry is None:
            return sought
        similarity = next(each.similarity for each in found if each.key == decision.entry)
        with suppress(IndexUnavailable):
            await self._index.used(scope, decision.entry, float(near[decision.entry].cost_nanos))
        return Sought(scope, sought.entry, question.text, vector, decision, near, near[decision.entry], similarity)

    async def keep(self, sought: Sought, answer: Stored, ttl: int) -> None:
        """Keep an answer to the question that was looked up, for `ttl` seconds."""
        await self._answers.put(sought.entry, answer, ttl)
        await self._index.add(sought.scope, sought.entry, sought.vector, float(answer.cost_nanos))

    async def like(self, question: str, similarity: float) -> tuple[bytes, ...]:
        """Name the answers to all questions that are so similar to one, wherever they are kept.

        Raises:
            EmbeddingUnavailable: The question cannot be placed.
        """
        vector = (await self._embedding.embed([question]))[0]
        found = [await self._index.within(scope, vector, similarity) for scope in await self._index.names()]
        return tuple(each.key for near in found for each in near)

    async def close(self) -> None:
        """Close the index and what places questions; the answers are somebody else's to close."""
        await self._index.close()
        await self._embedding.close()

    async def read(self, entry: bytes) -> Stored | None:
        """Return a stored answer by its name, or None when it is gone."""
        return await self._answers.get(entry)

    async def _read(self, scope: bytes, found: Sequence[Neighbour], learner: Learner) -> dict[bytes, Stored]:
        """Read the nearest answers; a place whose answer is gone is given up."""
        near: dict[bytes, Stored] = {}
        for each in found:
            stored = await self._answers.get(each.key)
            if stored is None or stored.question is None:
                with suppress(IndexUnavailable):
                    await self._index.remove(scope, each.key)
                learner.forget(each.key)
            else:
                near[each.key] = stored
        return near

    def _candidates(
        self, text: str, found: Sequence[Neighbour], near: Mapping[bytes, Stored], may: Callable[[bytes, Stored], bool]
    ) -> list[Candidate]:
        mine, candidates = read(text), list[Candidate]()
        for each in found:
            stored = near.get(each.key)
            if stored is None or stored.question is None:
                candidates.append(Candidate(each.key, each.similarity, vetoed=True))
                continue
            theirs = read(stored.question)
            vetoed = not may(each.key, stored) or veto(theirs, mine) is not None
            match = self._verifier.probability(theirs, mine, each.similarity)
            candidates.append(Candidate(each.key, each.similarity, match, vetoed))
        return candidates
