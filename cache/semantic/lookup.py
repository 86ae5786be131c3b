"""Look a question up by its meaning: find what is near, let it be judged, and keep what was answered anew.

The order is the one of trust: whether any stored answer could fit (`cache.detecting`), what is near within the scope
(`cache.embedding`, `cache.index`), what no similarity may bridge (`cache.guards`), how probably it asks the same
(`cache.verifying`), and whether that is good enough (`cache.learning`).
"""

from __future__ import annotations

from asyncio import gather
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from cache.detecting.unfit import unfit
from cache.errors import EmbeddingUnavailable, IndexUnavailable
from cache.learning.evidence import NEIGHBOURS
from cache.learning.lookups import Action, Candidate
from cache.semantic.scope import entry_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from cache.answers import AnswerCache
    from cache.index import Neighbour, VectorIndex
    from cache.judging import AnswerJudge
    from cache.learning.learner import Learner
    from cache.learning.lookups import Decision
    from cache.semantic.matching import Matching, Placed
    from cache.semantic.question import Question
    from cache.stores import Stored

READ: Final = 8
"""How many of the nearest are read: only these can be served. The others still tell what is asked around here."""


LONGEST: Final = 800
"""Characters of a question above which an embedding may not have read its end, so that it cannot be compared."""


@dataclass(frozen=True, slots=True)
class Sought:
    """What a look-up by meaning came to.

    Attributes:
        scope: Where it looked.
        entry: The name that an answer to this very question has there.
        asked: The question and its place.
        decision: What is to be done.
        near: The stored answers that were read, by their names.
        cache: Who looked, and may keep an answer: places of another embedding are no places here.
        answer: What is to be served; None when the model is to be asked.
        similarity: The cosine between the question and the one that `answer` is of.
    """

    scope: bytes
    entry: bytes
    asked: Placed
    decision: Decision
    near: Mapping[bytes, Stored]
    cache: SemanticCache
    answer: Stored | None = None
    similarity: float = 0.0


class SemanticCache:
    """Finds answers by meaning. It keeps no text but what the stored answers are kept with.

    Attributes:
        judge: Tells whether two answers say the same, for whoever has a new one.
        embedding: What places questions.
    """

    def __init__(self, matching: Matching, index: VectorIndex, answers: AnswerCache, judge: AnswerJudge) -> None:
        """Look up in an index whose keys name stored answers.

        Args:
            matching: Places questions, and compares them.
            index: Where their places are.
            answers: Where the answers are.
            judge: Tells whether two answers say the same.
        """
        self.judge = judge
        self.embedding = matching.embedding
        self._matching = matching
        self._index = index
        self._answers = answers

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
            None when no stored answer could fit such a question, when not all of it is understood, or when it cannot be
            placed just now.
        """
        if len(question.text) > LONGEST or unfit(question.text) is not None:
            return None
        try:
            asked = await self._matching.place(question.text)
            if not asked.whole:
                return None
            found = await self._index.search(scope, asked.vector, NEIGHBOURS)
        except (EmbeddingUnavailable, IndexUnavailable):
            return None
        near = await self._read(scope, found[:READ], learner)

        def may(entry: bytes, stored: Stored) -> bool:
            return fits(stored) and (learner.confirmed(entry) or not confirmed_only)

        candidates = self._candidates(asked, found, near, may)
        decision = learner.decide(candidates, scope, watched=watched)
        sought = Sought(scope, entry_of(scope, question.text), asked, decision, near, self)
        if decision.action is not Action.SERVE or decision.entry is None:
            return sought
        similarity = next(each.similarity for each in found if each.key == decision.entry)
        with suppress(IndexUnavailable):
            await self._index.used(scope, decision.entry, float(near[decision.entry].cost_nanos))
        return replace(sought, answer=near[decision.entry], similarity=similarity)

    async def keep(self, sought: Sought, answer: Stored, ttl: int) -> None:
        """Keep an answer to the question that was looked up, for `ttl` seconds."""
        await self._answers.put(sought.entry, answer, ttl)
        await self._index.add(sought.scope, sought.entry, sought.asked.vector, float(answer.cost_nanos))

    async def like(self, question: str, similarity: float) -> tuple[bytes, ...]:
        """Name the answers to all questions that are so similar to one, wherever they are kept.

        Raises:
            EmbeddingUnavailable: The question cannot be placed.
        """
        vector = (await self._matching.place(question)).vector
        found = [await self._index.within(scope, vector, similarity) for scope in await self._index.names()]
        return tuple(each.key for near in found for each in near)

    async def close(self) -> None:
        """Close the index and what places questions; the answers are somebody else's to close."""
        await self._index.close()
        await self._matching.close()

    async def read(self, entry: bytes) -> Stored | None:
        """Return a stored answer by its name, or None when it is gone."""
        return await self._answers.get(entry)

    async def _read(self, scope: bytes, found: Sequence[Neighbour], learner: Learner) -> dict[bytes, Stored]:
        """Read the nearest answers; a place whose answer is surely gone is given up."""
        near: dict[bytes, Stored] = {}
        read = await gather(*(self._answers.get(each.key) for each in found))
        for each, stored in zip(found, read, strict=True):
            if stored is not None:
                near[each.key] = stored
            elif self._answers.sure:
                with suppress(IndexUnavailable):
                    await self._index.remove(scope, each.key)
                learner.forget(each.key)
        return near

    def _candidates(
        self,
        asked: Placed,
        found: Sequence[Neighbour],
        near: Mapping[bytes, Stored],
        may: Callable[[bytes, Stored], bool],
    ) -> list[Candidate]:
        """Say of each neighbour whether it may be served, and how probably it fits; unread ones may not."""
        readable = [each for each in found if each.key in near]
        judged = self._matching.judge(asked, [(near[each.key], each.similarity) for each in readable])
        matches = {each.key: match for each, match in zip(readable, judged, strict=True)}
        candidates: list[Candidate] = []
        for each in found:
            match = matches.get(each.key)
            if match is None:
                candidates.append(Candidate(each.key, each.similarity, vetoed=True))
            else:
                refused = match.vetoed or not may(each.key, near[each.key])
                candidates.append(Candidate(each.key, each.similarity, match.probability, refused))
        return candidates
