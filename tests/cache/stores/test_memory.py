from collections import OrderedDict

from hypothesis import given
from hypothesis import strategies as st

from cache.stores import Stored
from cache.stores.memory import OVERHEAD, Counts, MemoryAnswers


def stored(size: int = 0) -> Stored:
    return Stored(b"x" * size, "m", 0, {}, 0.0)


async def test_the_least_recently_used_answer_leaves_first() -> None:
    store = MemoryAnswers(2 * OVERHEAD, lambda: 0.0)
    await store.put(b"a", stored(), 1)
    await store.put(b"b", stored(), 1)
    await store.get(b"a")
    await store.put(b"c", stored(), 1)
    assert [await store.get(key) is not None for key in (b"a", b"b", b"c")] == [True, False, True]
    assert store.counts() == Counts(hits=3, misses=1, evictions=1, expirations=0)


async def test_an_answer_larger_than_the_store_is_not_kept_and_drives_nothing_out() -> None:
    store = MemoryAnswers(2 * OVERHEAD, lambda: 0.0)
    await store.put(b"a", stored(), 1)
    await store.put(b"b", stored(OVERHEAD + 1), 1)
    assert await store.get(b"a") is not None
    assert await store.get(b"b") is None


async def test_an_answer_that_has_grown_too_large_does_not_leave_the_old_one_behind() -> None:
    store = MemoryAnswers(2 * OVERHEAD, lambda: 0.0)
    await store.put(b"a", stored(), 1)
    await store.put(b"a", stored(OVERHEAD + 1), 1)
    assert await store.get(b"a") is None


async def test_an_expired_answer_is_counted_and_gives_its_room_back() -> None:
    now = [0.0]
    store = MemoryAnswers(10 * OVERHEAD, lambda: now[0])
    await store.put(b"a", stored(), 5)
    now[0] = 5.0
    assert await store.get(b"a") is None
    assert (await store.size()).bytes == 0
    assert store.counts() == Counts(hits=0, misses=1, evictions=0, expirations=1)


@given(st.lists(st.tuples(st.sampled_from("abcde"), st.booleans(), st.integers(0, 3_000)), max_size=30))
async def test_it_holds_what_a_simple_model_of_it_holds(steps: list[tuple[str, bool, int]]) -> None:
    room = 4 * OVERHEAD
    store, model = MemoryAnswers(room, lambda: 0.0), OrderedDict[bytes, int]()
    for name, puts, size in steps:
        key = name.encode()
        if puts:
            await store.put(key, stored(size), 1)
            model.pop(key, None)
            if size + OVERHEAD <= room:
                while sum(model.values()) + size + OVERHEAD > room:
                    model.popitem(last=False)
                model[key] = size + OVERHEAD
        else:
            assert (await store.get(key) is not None) == (key in model)
            if key in model:
                model.move_to_end(key)
        kept = await store.size()
        assert (kept.entries, kept.bytes) == (len(model), sum(model.values()))
        assert kept.bytes <= room
