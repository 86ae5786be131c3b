from dataclasses import replace

import pytest

from cache.answers import AnswerCache
from cache.directives import Directives
from cache.stores import Stored
from cache.stores.memory import MemoryAnswers

ANSWER = Stored(b"{}", "smollm2", 1_111, {"output": 3}, created=1_000.0)
ANY = Directives()


class Clock:
    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def answers(clock: Clock) -> AnswerCache:
    return AnswerCache(MemoryAnswers(1_000_000, clock), clock)


async def test_what_was_put_is_found(answers: AnswerCache) -> None:
    await answers.put(b"k", ANSWER, 60)
    assert await answers.find(b"k", ANY) == ANSWER
    assert await answers.find(b"other", ANY) is None


async def test_a_caller_that_will_not_read_finds_nothing(answers: AnswerCache) -> None:
    await answers.put(b"k", ANSWER, 60)
    assert await answers.find(b"k", Directives(read=False)) is None


async def test_an_answer_without_a_lifetime_is_not_kept(answers: AnswerCache) -> None:
    await answers.put(b"k", ANSWER, Directives(write=False).lifetime(60))
    assert await answers.find(b"k", ANY) is None


async def test_an_answer_older_than_the_caller_accepts_is_not_found(answers: AnswerCache, clock: Clock) -> None:
    await answers.put(b"k", ANSWER, 60)
    clock.now += 10
    assert await answers.find(b"k", Directives(max_age=10)) == ANSWER
    clock.now += 0.5
    assert await answers.find(b"k", Directives(max_age=10)) is None
    assert await answers.find(b"k", ANY) == ANSWER


async def test_a_later_answer_replaces_an_earlier_one(answers: AnswerCache) -> None:
    later = replace(ANSWER, body=b"[]")
    await answers.put(b"k", ANSWER, 60)
    await answers.put(b"k", later, 60)
    assert await answers.find(b"k", ANY) == later


async def test_an_answer_of_a_clock_that_was_ahead_is_not_served_until_its_time_has_come(
    answers: AnswerCache, clock: Clock
) -> None:
    await answers.put(b"k", replace(ANSWER, created=1_000.0 + 3_600), 7_200)
    assert await answers.find(b"k", ANY) is None
    await answers.put(b"k", replace(ANSWER, created=1_030.0), 7_200)
    assert await answers.find(b"k", ANY) is not None
    clock.now = 900.0
    assert await answers.find(b"k", ANY) is None
