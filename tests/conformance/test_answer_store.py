"""What every home of stored answers promises."""

from collections.abc import Callable

import pytest

from cache.stores import AnswerStore, Stored
from cache.stores.memory import MemoryAnswers

ANSWER = Stored('{"text": "héllo"}'.encode(), "smollm2", 12, {"fresh_input": 3, "output": 5}, 1_700_000_000.25)
LATER = Stored(b"{}", "gpt", 0, {}, 1_700_000_001.0)


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def _memory(clock: Clock) -> AnswerStore:
    return MemoryAnswers(1_000_000, clock)


HOMES: dict[str, Callable[[Clock], AnswerStore]] = {"memory": _memory}


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(params=HOMES)
def store(request: pytest.FixtureRequest, clock: Clock) -> AnswerStore:
    home: str = request.param
    return HOMES[home](clock)


async def test_an_empty_store_finds_nothing(store: AnswerStore) -> None:
    assert await store.get(b"k") is None
    assert (await store.size()).entries == 0


async def test_an_answer_comes_back_as_it_was_put(store: AnswerStore) -> None:
    await store.put(b"\x00k", ANSWER, 10)
    assert await store.get(b"\x00k") == ANSWER
    assert await store.get(b"\x00") is None


async def test_an_answer_is_gone_when_its_time_is_over(store: AnswerStore, clock: Clock) -> None:
    await store.put(b"k", ANSWER, 10)
    clock.now = 9.9
    assert await store.get(b"k") == ANSWER
    clock.now = 10.0
    assert await store.get(b"k") is None


async def test_reading_does_not_lengthen_a_life(store: AnswerStore, clock: Clock) -> None:
    await store.put(b"k", ANSWER, 10)
    clock.now = 6.0
    await store.get(b"k")
    clock.now = 12.0
    assert await store.get(b"k") is None


async def test_putting_again_replaces_and_starts_the_time_anew(store: AnswerStore, clock: Clock) -> None:
    await store.put(b"k", ANSWER, 10)
    clock.now = 6.0
    await store.put(b"k", LATER, 10)
    clock.now = 12.0
    assert await store.get(b"k") == LATER
    assert (await store.size()).entries == 1


async def test_deleting_tells_whether_there_was_an_answer(store: AnswerStore) -> None:
    await store.put(b"k", ANSWER, 10)
    assert await store.delete(b"k") is True
    assert await store.delete(b"k") is False
    assert await store.get(b"k") is None


async def test_the_size_counts_at_least_the_bodies(store: AnswerStore) -> None:
    await store.put(b"a", ANSWER, 10)
    await store.put(b"b", LATER, 10)
    size = await store.size()
    assert size.entries == 2
    assert size.bytes >= len(ANSWER.body) + len(LATER.body)
