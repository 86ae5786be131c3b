"""What every home of stored answers promises."""

from collections.abc import AsyncGenerator
from dataclasses import replace
from pathlib import Path

import pytest

from cache.stores import AnswerStore, Stored
from tests.support.answer_homes import NAMES, ROOM, answer_home, redis_of

ANSWER = Stored(
    '{"text": "héllo"}'.encode(),
    "smollm2",
    12,
    {"fresh_input": 3, "output": 5},
    1_700_000_000.25,
    "How are you, ü?",
    b"\x00marks",
    ("team:red", "doc 17"),
)
LATER = Stored(b"{}", "gpt", 0, {}, 1_700_000_001.0)


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(params=NAMES)
async def store(request: pytest.FixtureRequest, clock: Clock, tmp_path: Path) -> AsyncGenerator[AnswerStore]:
    async with answer_home(request.param, clock, tmp_path, redis_of(request)) as home:
        yield home


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


async def test_a_purge_takes_what_has_the_tag_and_was_asked_for_by_then(store: AnswerStore) -> None:
    tagged = replace(LATER, tags=("doc 17", "team:red"))
    answers = {b"old": ANSWER, b"new": tagged, b"other": replace(ANSWER, tags=("doc 1",)), b"none": LATER}
    for key, answer in answers.items():
        await store.put(key, answer, 60)
    assert await store.purge("doc 17", ANSWER.created) == 1
    assert [key for key in answers if await store.get(key) is not None] == [b"new", b"other", b"none"]
    assert await store.purge("team:red", LATER.created) == 1
    assert await store.purge("team:red", LATER.created) == 0
    assert (await store.size()).entries == 2


async def test_an_answer_that_was_on_its_way_when_it_was_purged_is_not_kept(store: AnswerStore) -> None:
    await store.purge("doc 17", ANSWER.created)
    await store.put(b"k", ANSWER, 60)
    assert await store.get(b"k") is None
    later = replace(ANSWER, created=ANSWER.created + 1)
    await store.put(b"k", later, 60)
    assert await store.get(b"k") == later


async def test_a_purge_follows_the_tags_an_answer_has_now(store: AnswerStore) -> None:
    await store.put(b"k", ANSWER, 60)
    await store.put(b"k", replace(ANSWER, tags=("doc 18",)), 60)
    assert await store.purge("doc 17", ANSWER.created) == 0
    assert await store.get(b"k") is not None


async def test_a_purge_of_many_takes_all_of_them(store: AnswerStore) -> None:
    for number in range(700):
        await store.put(b"%d" % number, replace(ANSWER, body=b"", question=None), 60)
    assert await store.purge("doc 17", ANSWER.created) == 700
    assert (await store.size()).entries == 0


async def test_the_bytes_stay_within_their_bound(store: AnswerStore) -> None:
    for number in range(40):
        await store.put(b"%d" % number, replace(LATER, body=bytes(100_000), cost_nanos=number), 60)
        assert (await store.size()).bytes <= ROOM
    assert (await store.size()).entries >= 5


async def test_an_answer_larger_than_the_room_is_not_kept_and_drives_nothing_out(store: AnswerStore) -> None:
    await store.put(b"a", ANSWER, 60)
    await store.put(b"b", replace(ANSWER, body=bytes(ROOM)), 60)
    await store.put(b"a", replace(ANSWER, body=bytes(ROOM)), 60)
    assert await store.get(b"b") is None
    assert await store.get(b"a") is None


async def test_no_time_to_live_keeps_nothing(store: AnswerStore) -> None:
    await store.put(b"k", ANSWER, 0)
    assert await store.get(b"k") is None
