"""The local judge: rules first, then how near the answers are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from cache.errors import EmbeddingUnavailable
from cache.guards import GUARDS, read
from cache.judging.contrasts import contradict, count_otherwise, exchange, negate_otherwise
from cache.judging.refusals import declines
from cache.judging.texts import read_answer

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from cache.embedding import Embedding
    from cache.guards import Reading
    from cache.judging.texts import Answer

SAME_AT: Final = 0.79
"""The similarity from which on answers are the same when no rule objects; `measuring.py` says what it costs."""

DIFFERENT_BELOW: Final = 0.45
"""The similarity below which they are different, rules or not."""

CERTAIN: Final = frozenset({"number", "unit", "name", "code", "language", "role"})
"""The guards whose word makes answers different; where another objects it cannot be told."""

_CERTAIN_OR_IDLE: Final = CERTAIN | {"asking", "sign", "accent", "capital"}
"""Those and the ones of questions alone: an answer is decorated and laid out with signs, which say nothing."""

_LONGEST: Final = 20_000
"""Characters of an answer above which it is not judged."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a judge says of two answers.

    Attributes:
        same: Whether whoever is content with the one is content with the other; None when that cannot be told.
        reason: Why, in a few words.
        similarity: How near they are, 0 to 1 as a rule; None where a rule was enough.
    """

    same: bool | None
    reason: str
    similarity: float | None = None


class AnswerJudge:
    """Compares answers by rules and by an embedding.

    Args:
        embedding: Places the answers; it is asked for one part of an answer at a time, so that questions come between.
        same_at: The similarity from which on answers are the same.
        different_below: The one below which they are different.
    """

    def __init__(
        self, embedding: Embedding, *, same_at: float = SAME_AT, different_below: float = DIFFERENT_BELOW
    ) -> None:
        self.embedding = embedding
        self._same_at = same_at
        self._different_below = different_below

    async def compare(self, a: str, b: str) -> Verdict:
        """Tell whether two answers say the same; order does not matter."""
        if max(len(a), len(b)) > _LONGEST:
            return Verdict(a == b or None, "too long")
        answers = read_answer(a), read_answer(b)
        if (verdict := _by_setting(*answers)) is not None:
            return verdict
        readings = read(answers[0].words), read(answers[1].words)
        if objection := _different(*readings):
            return Verdict(same=False, reason=f"other {objection}")
        try:
            similarity = _similarity(*[await self._places(answer.chunks) for answer in answers])
        except EmbeddingUnavailable as error:
            return Verdict(None, str(error))
        return self._by_similarity(similarity, _doubtful(*readings))

    def _by_similarity(self, similarity: float, doubt: str) -> Verdict:
        if similarity < self._different_below:
            return Verdict(same=False, reason="not near", similarity=similarity)
        if doubt:
            return Verdict(None, f"perhaps other {doubt}", similarity)
        near = similarity >= self._same_at
        return Verdict(near or None, "near" if near else "not near enough", similarity)

    async def _places(self, chunks: list[str]) -> list[NDArray[np.float32]]:
        return [(await self.embedding.embed([chunk]))[0] for chunk in chunks]


def _by_setting(a: Answer, b: Answer) -> Verdict | None:
    """Say what can be said without reading the words, or nothing."""
    if a.code != b.code:
        return Verdict(same=False, reason="other code")
    if a.bare == b.bare:
        return Verdict(same=True, reason="the same words")
    if declines(a.words) != declines(b.words):
        return Verdict(same=False, reason="one declines")
    return None


def _different(a: Reading, b: Reading) -> str:
    """Name what makes answers different for certain, or nothing."""
    if contradict(a.words, b.words):
        return "verdict"
    if count_otherwise(a.words, b.words):
        return "count"
    return next((name for name, differ in GUARDS if name in CERTAIN and differ(a, b)), "")


def _doubtful(a: Reading, b: Reading) -> str:
    """Name what makes answers perhaps different, or nothing."""
    if negate_otherwise(a.words, b.words):
        return "negation"
    if exchange(a, b):
        return "words"
    return next((name for name, differ in GUARDS if name not in _CERTAIN_OR_IDLE and differ(a, b)), "")


def _similarity(ours: list[NDArray[np.float32]], theirs: list[NDArray[np.float32]]) -> float:
    """Return how near the parts of each answer are to the nearest of the other on average, whichever way is worse."""
    there = [max(float(one @ other) for other in theirs) for one in ours]
    back = [max(float(one @ other) for one in ours) for other in theirs]
    return min(sum(there) / len(there), sum(back) / len(back))
