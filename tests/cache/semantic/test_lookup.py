"""A look-up by meaning when its parts are slow, busy, broken or away: it comes to nothing, and in time."""

import asyncio
from collections.abc import Sequence
from random import Random
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from cache.answers import AnswerCache
from cache.embedding.batching import Batches, Limits
from cache.errors import EmbeddingBusy, EmbeddingUnavailable, IndexUnavailable
from cache.index import Neighbour, VectorIndex
from cache.index.memory import MemoryVectors
from cache.judging import AnswerJudge
from cache.learning.learner import Learner
from cache.semantic.lookup import LONGEST, SemanticCache, Sought
from cache.semantic.matching import Guarded, Matching
from cache.semantic.question import Question
from cache.stores import Stored
from cache.stores.memory import MemoryAnswers
from tests.support.reckless import AllAlike, Reckless
from tests.support.vector_homes import DIMENSIONS

SCOPE = b"s" * 32
ASKED = Question("When do the shops open?", {}, 0)
REWORDED = Question("At what hour do the shops open?", {}, 0)


class Answers(MemoryAnswers):
    """A home of answers that goes away when it is told to.

    Attributes:
        away: It finds nothing, and says that it cannot tell.
    """

    away = False

    @property
    def sure(self) -> bool:
        return not self.away

    async def get(self, key: bytes) -> Stored | None:
        return None if self.away else await super().get(key)


class Away(MemoryVectors):
    """A home of vectors in which the calls that are named do not answer."""

    def __init__(self, *calls: str) -> None:
        super().__init__(DIMENSIONS, 1_000, Random(0))
        self.calls = calls

    def _reached(self, call: str) -> None:
        if call in self.calls:
            raise IndexUnavailable

    async def search(self, partition: bytes, vector: NDArray[np.float32], k: int) -> tuple[Neighbour, ...]:
        self._reached("search")
        return await super().search(partition, vector, k)

    async def add(self, partition: bytes, key: bytes, vector: NDArray[np.float32], weight: float = 1.0) -> None:
        self._reached("add")
        await super().add(partition, key, vector, weight)

    async def used(self, partition: bytes, key: bytes, saved: float = 1.0) -> None:
        self._reached("used")
        await super().used(partition, key, saved)

    async def remove(self, partition: bytes, key: bytes) -> bool:
        self._reached("remove")
        return await super().remove(partition, key)


class Worked(AllAlike):
    """An embedding whose work is done by a batched worker, as the real ones' is."""

    def __init__(self, work: Any, limits: Limits) -> None:
        self._batches: Batches[NDArray[np.float32]] = Batches(work, limits)

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.stack(list(await self._batches.run(texts)))

    async def close(self) -> None:
        await self._batches.close()


def answers() -> Answers:
    return Answers(10_000_000, lambda: 0.0)


def cache(
    matching: Matching | None = None, index: VectorIndex | None = None, home: Answers | None = None
) -> SemanticCache:
    found = index or MemoryVectors(DIMENSIONS, 1_000, Random(0))
    return SemanticCache(
        matching or AllAlike(), found, AnswerCache(home or answers(), lambda: 0.0), AnswerJudge(AllAlike())
    )


async def seek(semantic: SemanticCache, question: Question, learner: Learner, **more: Any) -> Sought | None:
    return await semantic.seek(question, SCOPE, learner, lambda _: True, **more)


def stored(question: str) -> Stored:
    return Stored(b"{}", "m", 5, {}, 0.0, question, b"marks")


async def kept(semantic: SemanticCache, question: Question = ASKED) -> Sought:
    sought = await seek(semantic, question, Reckless())
    assert sought is not None
    await semantic.keep(sought, stored(question.text), 60)
    return sought


@pytest.fixture
def home() -> Answers:
    return answers()


async def test_what_was_kept_is_found_in_other_words() -> None:
    semantic = cache()
    await kept(semantic)
    sought = await seek(semantic, REWORDED, Reckless())
    assert sought is not None
    assert sought.answer == stored(ASKED.text)
    assert sought.similarity == pytest.approx(1.0, abs=0.01)
    await semantic.close()


@pytest.mark.parametrize("error", [EmbeddingBusy("much waits"), EmbeddingUnavailable("it died")])
async def test_an_embedding_that_is_busy_or_dead_finds_nothing(error: EmbeddingUnavailable) -> None:
    async def fails(_: Sequence[str]) -> Sequence[NDArray[np.float32]]:
        raise error

    semantic = cache(Guarded(Worked(fails, Limits())))
    assert await seek(semantic, ASKED, Reckless()) is None
    await semantic.close()


async def test_a_slow_embedding_is_waited_for_no_longer_than_its_patience() -> None:
    began = list[int]()

    async def hangs(texts: Sequence[str]) -> Sequence[NDArray[np.float32]]:
        began.append(len(texts))
        await asyncio.sleep(3_600)
        return ()

    semantic = cache(Guarded(Worked(hangs, Limits(patience_s=0.05))))
    assert await asyncio.gather(*(seek(semantic, ASKED, Reckless()) for _ in range(50))) == [None] * 50
    assert await seek(semantic, ASKED, Reckless()) is None
    assert len(began) == 1
    await semantic.close()


@pytest.mark.parametrize("call", ["search", "used", "remove"])
async def test_an_index_that_does_not_answer_stops_no_request(call: str, home: Answers) -> None:
    index = Away()
    semantic = cache(index=index, home=home)
    sought = await kept(semantic)
    index.calls = (call,)
    if call == "remove":
        await home.delete(sought.entry)
    again = await seek(semantic, REWORDED, Reckless())
    if call == "search":
        assert again is None
    else:
        assert again is not None
        assert (again.answer is not None) == (call == "used")
    await semantic.close()


async def test_an_answer_that_cannot_be_placed_is_still_kept_for_its_exact_words(home: Answers) -> None:
    semantic = cache(index=Away("add"), home=home)
    sought = await seek(semantic, ASKED, Reckless())
    assert sought is not None
    with pytest.raises(IndexUnavailable):
        await semantic.keep(sought, stored(ASKED.text), 60)
    assert (await seek(semantic, REWORDED, Reckless())) is not None
    await semantic.close()


async def test_an_answer_that_is_gone_is_given_up_with_all_that_was_learned_of_it(home: Answers) -> None:
    index = Away()
    semantic, learner = cache(index=index, home=home), Learner(0.5, Random(0))
    sought = await kept(semantic)
    learner.learn(sought.decision, sought.entry, ())
    await home.delete(sought.entry)
    again = await seek(semantic, REWORDED, learner)
    assert again is not None
    assert (again.answer, again.near) == (None, {})
    assert (await index.size()).entries == 0
    assert not learner.confirmed(sought.entry)
    await semantic.close()


async def test_an_answer_whose_home_is_away_is_found_again_afterwards(home: Answers) -> None:
    semantic = cache(home=home)
    await kept(semantic)
    home.away = True
    during = await seek(semantic, REWORDED, Reckless())
    assert during is not None
    assert during.answer is None
    home.away = False
    after = await seek(semantic, REWORDED, Reckless())
    assert after is not None
    assert after.answer is not None
    await semantic.close()


async def test_two_hundred_look_ups_of_a_feature_at_once_are_each_decided_once(home: Answers) -> None:
    async def works(texts: Sequence[str]) -> Sequence[NDArray[np.float32]]:
        await asyncio.sleep(0)
        return [*await AllAlike().embed(texts)]

    semantic, learner = cache(Guarded(Worked(works, Limits(patience_s=60))), home=home), Learner(0.5, Random(0))
    for number in range(40):
        await kept(semantic, Question(f"When does shop {'x' * number} open?", {}, 0))

    async def one(number: int) -> Sought:
        sought = await seek(semantic, REWORDED, learner)
        assert sought is not None
        if sought.answer is None and number % 2:
            await semantic.keep(sought, stored(REWORDED.text), 60)
            learner.learn(sought.decision, sought.entry, ())
        elif number % 5 == 0 and sought.near:
            await home.delete(next(iter(sought.near)))
        return sought

    found = await asyncio.gather(*map(one, range(200)))
    assert len(found) == learner.standing().lookups == 200
    assert {each.scope for each in found} == {SCOPE}
    await semantic.close()


@pytest.mark.parametrize("text", ["x" * (LONGEST + 1), "What time is it now?"])
async def test_what_no_stored_answer_fits_is_not_even_placed(text: str) -> None:
    async def works(texts: Sequence[str]) -> Sequence[NDArray[np.float32]]:
        raise AssertionError

    semantic = cache(Guarded(Worked(works, Limits())))
    assert await seek(semantic, Question(text, {}, 0), Reckless()) is None
    await semantic.close()


async def test_after_it_is_closed_nothing_is_found() -> None:
    async def works(texts: Sequence[str]) -> Sequence[NDArray[np.float32]]:
        return [*await AllAlike().embed(texts)]

    semantic = cache(Guarded(Worked(works, Limits(patience_s=60))))
    await kept(semantic)
    await semantic.close()
    assert await seek(semantic, REWORDED, Reckless()) is None
