"""What a look-up by meaning gives up, and what it does not compare."""

from random import Random

from cache.answers import AnswerCache
from cache.index.memory import MemoryVectors
from cache.judging import AnswerJudge
from cache.learning.learner import Learner
from cache.semantic.lookup import SemanticCache, Sought
from cache.semantic.matching import Placed
from cache.semantic.question import Question
from cache.stores import Stored
from cache.stores.memory import MemoryAnswers
from tests.support.letters import LetterEmbedding, Letters

SCOPE = b"s" * 32
ASKED = Question("How do I change the delivery address of an order?", {}, 0)
ANSWER = Stored(b"{}", "m", 1_000, {"output": 1}, 0.0, ASKED.text)


class Fickle(MemoryAnswers):
    """Answers whose home can be away."""

    away = False

    async def get(self, key: bytes) -> Stored | None:
        return None if self.away else await super().get(key)

    async def lacks(self, key: bytes) -> bool:
        return not self.away and await super().lacks(key)


class HalfRead(Letters):
    async def place(self, text: str) -> Placed:
        placed = await super().place(text)
        return Placed(placed.text, placed.vector, whole=False)


def opened(store: MemoryAnswers, matching: Letters) -> tuple[SemanticCache, MemoryVectors]:
    index = MemoryVectors(LetterEmbedding.dimensions, 100, Random(1))
    return SemanticCache(matching, index, AnswerCache(store, lambda: 0.0), AnswerJudge(LetterEmbedding())), index


async def sought(cache: SemanticCache) -> Sought | None:
    return await cache.seek(ASKED, SCOPE, Learner(0.1, Random(1)), lambda _: True)


async def test_a_home_that_is_away_costs_no_place_and_one_that_lacks_the_answer_does() -> None:
    store = Fickle(10**6, lambda: 0.0)
    cache, index = opened(store, Letters())
    first = await sought(cache)
    assert first is not None
    await cache.keep(first, ANSWER, 60)
    store.away = True
    while_away = await sought(cache)
    assert while_away is not None
    assert not while_away.near
    assert (await index.size()).entries == 1
    store.away = False
    back = await sought(cache)
    assert back is not None
    assert list(back.near.values()) == [ANSWER]
    await store.delete(first.entry)
    await sought(cache)
    assert (await index.size()).entries == 0
    await cache.close()


async def test_a_question_that_was_not_read_to_its_end_is_not_compared() -> None:
    cache, _ = opened(MemoryAnswers(10**6, lambda: 0.0), HalfRead())
    assert await sought(cache) is None
    await cache.close()
