import pytest

from cache.stores.gdsf import GreedyDual


def test_what_saves_least_per_byte_leaves_first() -> None:
    order = GreedyDual()
    order.touch(b"a", 3.0)
    order.touch(b"b", 1.0)
    order.touch(b"c", 2.0)
    assert [order.lowest()[1] for _ in range(3)] == [b"b", b"c", b"a"]
    with pytest.raises(IndexError):
        order.lowest()


def test_what_is_touched_again_has_its_new_place_alone() -> None:
    order = GreedyDual()
    order.touch(b"a", 1.0)
    order.touch(b"b", 2.0)
    order.touch(b"a", 5.0)
    assert [order.lowest()[1] for _ in range(2)] == [b"b", b"a"]


def test_what_was_forgotten_does_not_come_up() -> None:
    order = GreedyDual()
    order.touch(b"a", 1.0)
    order.touch(b"b", 2.0)
    order.forget(b"a")
    order.forget(b"never there")
    assert order.lowest()[1] == b"b"


def test_the_clock_lets_the_new_pass_the_old() -> None:
    order = GreedyDual()
    order.touch(b"old", 5.0)
    order.clock = 10.0
    order.touch(b"new", 1.0)
    assert order.lowest()[1] == b"old"


def test_the_past_does_not_pile_up() -> None:
    order = GreedyDual()
    for worth in range(10_000):
        order.touch(b"a", float(worth))
    assert len(order._heap) < 200
    assert order.lowest()[0][0] == 9_999.0
