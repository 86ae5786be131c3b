import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from local_engine.cache.manager import CacheManager, Lease
from local_engine.cache.radix import Namespace

HOME = Namespace()


def begin(cache: CacheManager, tokens: list[int]) -> Lease:
    lease = cache.open(HOME, cache.match(HOME, tokens))
    assert cache.reserve(lease, len(tokens))
    return lease


def test_a_committed_prompt_is_found_by_the_next_one() -> None:
    cache = CacheManager(8, 2)
    first = begin(cache, [1, 2, 3, 4, 5])
    cache.commit(first, [1, 2, 3, 4, 5], 5)
    second = begin(cache, [1, 2, 3, 4, 9])
    assert second.blocks[:2] == first.blocks[:2]
    assert second.shared == 2
    cache.check()


def test_a_full_hit_leaves_a_token_to_compute() -> None:
    cache = CacheManager(8, 2)
    first = begin(cache, [1, 2, 3, 4])
    cache.commit(first, [1, 2, 3, 4], 4)
    assert len(cache.match(HOME, [1, 2, 3, 4])) == 1


def test_only_computed_tokens_enter_the_tree() -> None:
    cache = CacheManager(8, 2)
    lease = begin(cache, [1, 2, 3, 4, 5])
    cache.commit(lease, [1, 2, 3, 4, 5], 3)
    assert cache.cached == 1
    cache.release(lease)
    cache.check()
    assert len(cache.match(HOME, [1, 2, 3, 4, 5])) == 1


def test_a_twin_of_the_same_step_is_pointed_at_the_first_ones_blocks() -> None:
    cache = CacheManager(8, 2)
    tokens = [1, 2, 3, 4, 5]
    first, twin = begin(cache, tokens), begin(cache, tokens)
    assert not set(first.blocks) & set(twin.blocks)
    cache.commit(first, tokens, 5)
    cache.commit(twin, tokens, 5)
    assert twin.blocks[:2] == first.blocks[:2]
    cache.release(first)
    cache.check()
    assert cache.available == 8 - 3  # the twin's path is locked and its tail is its own
    cache.release(twin)
    cache.check()
    assert cache.available == 8


def test_releasing_twice_is_harmless() -> None:
    cache = CacheManager(4, 2)
    lease = begin(cache, [1, 2, 3])
    cache.release(lease)
    cache.release(lease)
    cache.check()
    assert cache.available == 4


def test_a_reservation_without_room_changes_nothing() -> None:
    cache = CacheManager(3, 2)
    lease = begin(cache, [1, 2, 3, 4])
    table = list(lease.blocks)
    assert not cache.reserve(lease, 7)
    assert lease.blocks == table
    assert cache.available == 1


def test_idle_prefixes_make_room_and_locked_ones_do_not() -> None:
    cache = CacheManager(3, 2)
    idle = begin(cache, [1, 2])
    cache.commit(idle, [1, 2], 2)
    cache.release(idle)
    held = begin(cache, [3, 4])
    cache.commit(held, [3, 4], 2)
    assert cache.available == 2
    begin(cache, [5, 6, 7])
    assert cache.match(HOME, [1, 2, 0]) == []
    assert len(cache.match(HOME, [3, 4, 0])) == 1
    cache.check()


def test_room_is_judged_without_the_blocks_the_prefix_itself_would_lock() -> None:
    cache = CacheManager(3, 2)
    lease = begin(cache, [1, 2, 3, 4])
    cache.commit(lease, [1, 2, 3, 4], 4)
    cache.release(lease)
    prefix = cache.match(HOME, [1, 2, 3, 4, 5])
    assert cache.available == 3
    assert cache.fits(prefix, 6, spare=0)
    assert not cache.fits(prefix, 7, spare=0)
    assert not cache.fits(prefix, 6, spare=1)


def test_without_prefixes_nothing_is_kept() -> None:
    cache = CacheManager(4, 2, keeps_prefixes=False)
    lease = begin(cache, [1, 2, 3])
    cache.commit(lease, [1, 2, 3], 3)
    cache.release(lease)
    assert cache.match(HOME, [1, 2, 3]) == []
    assert cache.available == 4
    cache.check()


def test_check_notices_a_block_with_two_owners() -> None:
    cache = CacheManager(4, 2)
    first, second = begin(cache, [1]), begin(cache, [2])
    second.blocks[0] = first.blocks[0]
    with pytest.raises(AssertionError, match="without exactly one owner"):
        cache.check()


@settings(max_examples=80, deadline=None)
@given(st.data(), st.booleans())
def test_blocks_are_conserved_under_any_sequence_of_operations(data: st.DataObject, keeps: bool) -> None:
    cache = CacheManager(10, 2, keeps_prefixes=keeps)
    live: list[tuple[Lease, list[int], int]] = []
    for _ in range(data.draw(st.integers(1, 40))):
        action = data.draw(st.sampled_from(["open", "grow", "release"]))
        if action == "open" or not live:
            tokens = data.draw(st.lists(st.integers(0, 1), min_size=1, max_size=9))
            prefix = cache.match(HOME, tokens)
            if cache.fits(prefix, len(tokens), 0):
                lease = cache.open(HOME, prefix)
                assert cache.reserve(lease, len(tokens)), "what fits can be reserved"
                live.append((lease, tokens, lease.shared * 2))
        elif action == "grow":
            index = data.draw(st.integers(0, len(live) - 1))
            lease, tokens, computed = live[index]
            computed = data.draw(st.integers(computed, len(tokens)))
            cache.commit(lease, tokens, computed)
            if cache.reserve(lease, len(tokens) + 1):
                live[index] = (lease, [*tokens, data.draw(st.integers(0, 1))], computed)
            else:
                live[index] = (lease, tokens, computed)
        else:
            cache.release(live.pop(data.draw(st.integers(0, len(live) - 1)))[0])
        cache.check()
    for lease, _, _ in live:
        cache.release(lease)
    cache.check()
    assert cache.available == 10
