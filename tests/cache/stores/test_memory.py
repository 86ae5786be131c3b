from collections.abc import Coroutine
from typing import Any, TypeVar

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from cache.stores import OVERHEAD, Stored
from cache.stores.memory import MemoryAnswers


def stored(size: int = 0, cost: int = 0, at: float = 0.0, tag: str = "t") -> Stored:
    return Stored(b"x" * size, "m", cost, {}, at, None, tags=(tag,))


ValueT = TypeVar("ValueT")
ONE = OVERHEAD + 1
"""What one empty answer with a tag of one letter counts for."""


async def test_of_equal_answers_the_one_that_was_not_asked_for_leaves_first() -> None:
    store = MemoryAnswers(2 * ONE, lambda: 0.0)
    await store.put(b"a", stored(), 1)
    await store.put(b"b", stored(), 1)
    await store.get(b"a")
    await store.put(b"c", stored(), 1)
    assert [await store.get(key) is not None for key in (b"a", b"b", b"c")] == [True, False, True]


async def test_what_saves_more_stays_and_what_saves_less_does_not_come_in() -> None:
    store = MemoryAnswers(2 * ONE, lambda: 0.0)
    await store.put(b"dear", stored(cost=100), 1)
    await store.put(b"fair", stored(cost=50), 1)
    for key in (b"dear", b"fair", b"dear", b"fair"):
        await store.get(key)
    await store.put(b"cheap", stored(cost=1), 1)
    assert [await store.get(key) is not None for key in (b"dear", b"fair", b"cheap")] == [True, True, False]
    await store.put(b"dearest", stored(cost=1_000), 1)
    assert [await store.get(key) is not None for key in (b"dear", b"fair", b"dearest")] == [True, False, True]


async def test_many_that_are_asked_for_once_do_not_drive_out_one_that_is_asked_for_often() -> None:
    store = MemoryAnswers(8 * ONE, lambda: 0.0)
    await store.put(b"often", stored(cost=1), 1)
    for number in range(200):
        await store.get(b"often")
        key = b"%d" % number
        await store.get(key)
        await store.put(key, stored(cost=1), 1)
    assert await store.get(b"often") is not None


async def test_a_large_answer_has_to_save_what_all_those_save_that_go_for_it() -> None:
    store = MemoryAnswers(4 * ONE, lambda: 0.0)
    for key in (b"a", b"b", b"c", b"d"):
        await store.put(key, stored(cost=10), 1)
        await store.get(key)
    await store.put(b"large", stored(3 * ONE - OVERHEAD - 1, cost=29), 1)
    assert await store.get(b"large") is None
    assert (await store.size()).entries == 4
    await store.put(b"large", stored(3 * ONE - OVERHEAD - 1, cost=31), 1)
    assert await store.get(b"large") is not None
    assert (await store.size()).entries == 2


async def test_what_was_popular_long_ago_leaves_in_the_end() -> None:
    store = MemoryAnswers(8 * ONE, lambda: 0.0)
    await store.put(b"old", stored(cost=10), 1)
    for _ in range(50):
        await store.get(b"old")
    for number in range(3_000):
        key = b"%d" % (number // 4)
        if await store.get(key) is None:
            await store.put(key, stored(cost=10), 1)
    assert await store.get(b"old") is None


async def test_an_expired_answer_gives_its_room_back() -> None:
    now = [0.0]
    store = MemoryAnswers(10 * OVERHEAD, lambda: now[0])
    await store.put(b"a", stored(), 5)
    now[0] = 5.0
    assert await store.get(b"a") is None
    assert (await store.size()).bytes == 0


async def test_room_is_made_of_expired_answers_first() -> None:
    now = [0.0]
    store = MemoryAnswers(2 * ONE, lambda: now[0])
    await store.put(b"dear", stored(cost=1_000_000), 5)
    await store.put(b"cheap", stored(cost=1), 50)
    now[0] = 6.0
    await store.put(b"new", stored(cost=1), 5)
    assert await store.get(b"cheap") is not None
    assert await store.get(b"new") is not None


class MemoryMachine(RuleBasedStateMachine):
    """Whatever is done: the bytes stay within their bound, and what is found is the latest, alive and not purged."""

    keys = st.sampled_from([b"a", b"b", b"c", b"d", b"e", b"f"])
    tags = st.sampled_from(["t", "u"])

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0
        self.room = 4 * ONE
        self.store = MemoryAnswers(self.room, lambda: self.now)
        self.latest: dict[bytes, tuple[Stored, float]] = {}
        self.version = 0

    @rule(key=keys, tag=tags, size=st.integers(0, 3_000), cost=st.integers(0, 100), ttl=st.integers(0, 5))
    def put(self, key: bytes, tag: str, size: int, cost: int, ttl: int) -> None:
        self.version += 1
        answer = stored(size, cost, at=self.now, tag=tag)
        answer = Stored(answer.body, str(self.version), cost, {}, self.now, None, tags=(tag,))
        self._done(self.store.put(key, answer, ttl))
        self.latest[key] = answer, self.now + ttl

    @rule(key=keys)
    def get(self, key: bytes) -> None:
        found = self._done(self.store.get(key))
        if found is not None:
            answer, ends = self.latest[key]
            assert found == answer
            assert ends > self.now

    @rule(key=keys)
    def delete(self, key: bytes) -> None:
        self._done(self.store.delete(key))
        self.latest.pop(key, None)

    @rule(tag=tags)
    def purge(self, tag: str) -> None:
        self._done(self.store.purge(tag, self.now))
        self.latest = {key: kept for key, kept in self.latest.items() if tag not in kept[0].tags}

    @rule(seconds=st.integers(1, 3))
    def wait(self, seconds: int) -> None:
        self.now += seconds

    @invariant()
    def stays_within_its_room(self) -> None:
        size = self._done(self.store.size())
        assert 0 <= size.bytes <= self.room
        assert size.entries * OVERHEAD <= size.bytes

    @staticmethod
    def _done(work: Coroutine[Any, Any, ValueT]) -> ValueT:
        """Run to the end what never waits."""
        try:
            work.send(None)
        except StopIteration as end:
            return end.value
        raise AssertionError("it waited")


TestMemoryMachine = MemoryMachine.TestCase
TestMemoryMachine.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
