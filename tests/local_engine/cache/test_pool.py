import pytest
from hypothesis import given
from hypothesis import strategies as st

from local_engine.cache.pool import BlockPool


def test_a_sequence_grows_into_the_neighbouring_block() -> None:
    pool = BlockPool(8)
    first = pool.take(2)
    assert pool.take(2, after=first[-1]) == [2, 3]


def test_a_wide_enough_hole_is_preferred_to_scattered_blocks() -> None:
    pool = BlockPool(8)
    taken = pool.take(8)
    pool.give([taken[1], taken[4], taken[5], taken[6]])
    assert pool.take(3) == [4, 5, 6]


def test_scattered_blocks_serve_when_no_hole_is_wide_enough() -> None:
    pool = BlockPool(6)
    pool.take(6)
    pool.give([0, 2, 4])
    assert pool.take(2) == [0, 2]


def test_taking_more_than_is_free_changes_nothing() -> None:
    pool = BlockPool(2)
    with pytest.raises(ValueError, match="3 blocks asked for, 2 free"):
        pool.take(3)
    assert pool.free == 2


def test_giving_a_block_back_twice_is_an_error() -> None:
    pool = BlockPool(2)
    taken = pool.take(1)
    pool.give(taken)
    with pytest.raises(ValueError, match="given back twice"):
        pool.give(taken)


@given(st.data())
def test_no_block_has_two_owners(data: st.DataObject) -> None:
    pool = BlockPool(12)
    owned: list[list[int]] = []
    for _ in range(data.draw(st.integers(1, 30))):
        if owned and data.draw(st.booleans()):
            pool.give(owned.pop(data.draw(st.integers(0, len(owned) - 1))))
        else:
            count = data.draw(st.integers(0, pool.free))
            owned.append(pool.take(count, after=data.draw(st.one_of(st.none(), st.integers(0, 11)))))
        blocks = [block for part in owned for block in part]
        assert len(set(blocks)) == len(blocks)
        assert pool.free == 12 - len(blocks)
        assert not any(pool.is_free(block) for block in blocks)
