from random import Random

import numpy as np

from cache.index.rows.greedy_dual import SAMPLE, GreedyDual


def stamps(count: int) -> np.ndarray:
    return np.arange(count, dtype=np.uint64)


def test_the_oldest_leaves_when_none_has_saved_anything() -> None:
    worth = GreedyDual(5, Random(0))
    for row in range(5):
        worth.enter(row, 1.0)
    assert worth.least(stamps(5)[::-1]) == 4


def test_what_has_saved_more_stays_longer_but_not_for_ever() -> None:
    worth = GreedyDual(3, Random(0))
    for row in range(3):
        worth.enter(row, 1.0)
    worth.used(0, 3.0)
    age, left = stamps(3), list[int]()
    for turn in range(12):
        left.append(row := worth.least(age))
        worth.enter(row, 1.0)
        age[row] = 100 + turn
    assert 0 not in left[:5]
    assert 0 in left


def test_the_one_that_leaves_a_large_index_is_among_those_that_saved_least() -> None:
    count = 100 * SAMPLE
    worth = GreedyDual(count, Random(0))
    for row in range(count):
        worth.enter(row, float(row))
    assert all(worth.least(stamps(count)) < count // 4 for _ in range(20))
