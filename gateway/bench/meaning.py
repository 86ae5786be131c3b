"""What a hit of the semantic cache takes, whole and in its parts, and what it does to the event loop meanwhile.

Eight questions are asked in many wordings, until the feature is open and most are answered from the cache; then in
wordings that are new. All of it is in memory, through the bundled embedding and the verifier that was trained for it.
"""
# ruff: noqa: PLC0415  what belongs to an extra is imported only where it is used

from __future__ import annotations

import math
from inspect import iscoroutinefunction
from itertools import product
from random import Random
from time import perf_counter, time
from typing import TYPE_CHECKING, Any, Final

from cache.answers import AnswerCache
from cache.errors import EmbeddingMissing
from cache.learning.learner import Learner
from cache.learning.lookups import Verdict
from cache.semantic.lookup import SemanticCache
from cache.semantic.question import Question
from cache.stores import Stored
from cache.stores.memory import MemoryAnswers
from gateway.bench.embedding import Row, lateness, row

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Iterator

    from cache.embedding.minilm.embedding import MiniLMEmbedding
    from cache.semantic.lookup import Sought

PARTS: Final = ("embed", "search", "match", "decide")
_QUESTIONS: Final = (
    "how do I change the delivery address of an order?",
    "how do I return shoes that do not fit?",
    "how does one pay with a gift card?",
    "where does one find an invoice?",
    "which parcels are too large for the post?",
    "how long is the guarantee of a kettle?",
    "what does it cost to send a letter abroad?",
    "who repairs a washing machine under guarantee?",
)
_BEFORE: Final = (
    "", "Hello, ", "Hi, ", "Please tell me: ", "Quick question: ", "Good morning, ", "Hey, ", "Hi there, ",
    "Just asking: ", "Good evening, ", "Kindly tell me: ", "Dear team, ",
)  # fmt: skip
_AFTER: Final = (
    "", " Thanks", " Thank you", " Many thanks", " Please", " Cheers", " Thanks!", " Thank you!", " Many thanks!",
    " Please!", " Cheers!", " Thanks a lot", " Thank you very much", " Bye",
)  # fmt: skip
_LESSONS: Final = 400
_LOOK: Final = 20
_MOST_WRONG: Final = 0.05
_MOST: Final = 10_000
_ROOM: Final = 64 * 2**20
_SCOPE: Final = bytes(32)
_ANSWER: Final = b"x" * 1_300

MOST_LOOKUPS: Final = len(_QUESTIONS) * len(_BEFORE) * len(_AFTER) - _LESSONS
"""How many wordings are left when the lessons are over."""


class Watch:
    """Seconds that each part took, one for each look-up."""

    def __init__(self) -> None:
        self.seconds: dict[str, list[float]] = {name: [] for name in PARTS}

    def timed(self, part: str, call: Callable[..., Any]) -> Callable[..., Any]:
        """Return the call with a watch on it, whether it is awaited or not."""
        seconds = self.seconds[part]

        async def awaited(*arguments: Any, **named: Any) -> Any:
            began = perf_counter()
            done = await call(*arguments, **named)
            seconds.append(perf_counter() - began)
            return done

        def called(*arguments: Any, **named: Any) -> Any:
            began = perf_counter()
            done = call(*arguments, **named)
            seconds.append(perf_counter() - began)
            return done

        return awaited if iscoroutinefunction(call) else called

    def forget(self) -> None:
        """Begin anew."""
        for seconds in self.seconds.values():
            seconds.clear()


async def rows(*, lookups: int) -> AsyncGenerator[Row]:
    """Measure hits of the semantic cache, one after the other, and how late the event loop wakes meanwhile.

    Args:
        lookups: How many, at most `MOST_LOOKUPS`, half of them timed and half beside the event loop's watch. Those that
            are no hits do not count.

    Raises:
        EmbeddingMissing: The bundled embedding is not installed, or not what runs it.
    """
    from cache.embedding.batching import Limits
    from cache.embedding.minilm.embedding import MiniLMEmbedding
    from cache.embedding.opening import open_embedding

    embedding = await open_embedding(limits=Limits(patience_s=math.inf))
    if not isinstance(embedding, MiniLMEmbedding):
        await embedding.close()
        raise EmbeddingMissing("onnxruntime", "sluicegate[semantic]")
    watch = Watch()
    asker = Asker(*_open(embedding, watch))
    try:
        await asker.learn(_LESSONS)
        watch.forget()
        hits, number = list[float](), max(1, min(lookups, MOST_LOOKUPS) // 2)
        await asker.hit(number, hits)
        yield row("semantic hit", hits)
        for name, seconds in watch.seconds.items():
            yield row(f"of it {name}", seconds)
        yield row("event loop late, during hits", await lateness(asker.hit(number, hits)))
    finally:
        await asker.cache.close()


class Asker:
    """Asks a cache in ever new wordings.

    Attributes:
        cache: What is asked.
    """

    def __init__(self, cache: SemanticCache, learner: Learner) -> None:
        self.cache = cache
        self._learner = learner
        self._wordings = _wordings()
        self._about = dict[bytes, int]()

    async def learn(self, lessons: int) -> None:
        """Ask, and be told by a judge that is never wrong which answers say the same, until the feature is open."""
        for lesson in range(lessons):
            if lesson % _LOOK == 0 and self._learner.standing().open:
                break
            about, text = next(self._wordings)
            sought = await self._seek(text)
            if sought.answer is None:
                stored = Stored(_ANSWER, "m", 1_000, {}, time(), text, sought.asked.marks)
                await self.cache.keep(sought, stored, 3_600)
                self._about[sought.entry] = about
                said = tuple(Verdict(entry, self._about[entry] == about) for entry in sought.decision.against)
                self._learner.learn(sought.decision, sought.entry, said)

    async def hit(self, lookups: int, seconds: list[float]) -> None:
        """Ask so often; add what each hit took."""
        for _ in range(lookups):
            text = next(self._wordings)[1]
            began = perf_counter()
            if (await self._seek(text)).answer is not None:
                seconds.append(perf_counter() - began)

    async def _seek(self, text: str) -> Sought:
        sought = await self.cache.seek(Question(text, {}, 0), _SCOPE, self._learner, lambda _: True)
        if sought is None:
            raise AssertionError(text)
        return sought


def _wordings() -> Iterator[tuple[int, str]]:
    """Return every question in every wording, in an order that mixes them."""
    found = [
        (about, before + text + after)
        for before, after in product(_BEFORE, _AFTER)
        for about, text in enumerate(_QUESTIONS)
    ]
    Random(2).shuffle(found)  # noqa: S311  no secret
    return iter(found)


def _open(embedding: MiniLMEmbedding, watch: Watch) -> tuple[SemanticCache, Learner]:
    """Open a cache in memory and a learner, whose parts have watches."""
    from cache.index.memory import MemoryVectors
    from cache.judging import AnswerJudge
    from cache.semantic.matching import Verified
    from cache.verifying.verifier import open_verifier

    index = MemoryVectors(embedding.dimensions, _MOST, Random(0))  # noqa: S311  no secret
    matching, learner = Verified(embedding, open_verifier()), Learner(_MOST_WRONG, Random(1))  # noqa: S311
    for part, (owner, name) in {
        "embed": (matching, "place"),
        "search": (index, "search"),
        "match": (matching, "judge"),
        "decide": (learner, "decide"),
    }.items():
        setattr(owner, name, watch.timed(part, getattr(owner, name)))
    cache = SemanticCache(matching, index, AnswerCache(MemoryAnswers(_ROOM, time), time), AnswerJudge(embedding))
    return cache, learner
