"""The trees compute what scikit-learn computes, and count each feature only in its direction."""

import numpy as np
import pytest

from cache.verifying.features import DIRECTIONS

sklearn = pytest.importorskip("sklearn")

from cache.verifying.training.fitting import Examples, fit, held_out  # noqa: E402  needs scikit-learn
from cache.verifying.trees import Trees  # noqa: E402


def examples(seed: int = 0) -> Examples:
    chance = np.random.default_rng(seed)
    features = chance.normal(size=(400, len(DIRECTIONS))).astype(np.float32)
    same = features[:, 0] - features[:, 2] + chance.normal(scale=0.5, size=400) > 0
    groups = [f"g{at % 40}" for at in range(400)]
    return Examples(features, same, np.ones(400, np.float32), groups, np.zeros(400, np.bool_))


def test_they_learn_what_is_to_be_learned() -> None:
    found = examples()
    odds = held_out(found, seed=0)
    assert np.mean((odds > 0) == found.same) > 0.8


def walked(trees: Trees, row: np.ndarray) -> float:
    """Walk each tree from its root, the plain way."""
    total = trees.base
    for tree in range(len(trees.feature)):
        at = 0
        for _ in range(trees.depth):
            is_left = row[trees.feature[tree, at]] <= trees.threshold[tree, at]
            at = (trees.left if is_left else trees.right)[tree, at]
        total += float(trees.value[tree, at])
    return total


def test_all_rows_at_once_come_to_what_a_walk_through_each_tree_does() -> None:
    found = examples()
    trees = fit(found)
    odds = trees.log_odds(found.features[:30])
    assert odds == pytest.approx([walked(trees, row) for row in found.features[:30]], abs=1e-4)


@pytest.mark.parametrize(("name", "direction"), [(name, one) for name, one in DIRECTIONS.items() if one])
def test_more_of_a_feature_counts_only_in_its_direction(name: str, direction: int) -> None:
    found = examples()
    trees = fit(found)
    column = list(DIRECTIONS).index(name)
    rows = np.repeat(found.features[:20], 9, axis=0)
    rows[:, column] = np.tile(np.linspace(-3, 3, 9, dtype=np.float32), 20)
    steps = np.diff(trees.log_odds(rows).reshape(20, 9), axis=1) * direction
    assert steps.min() >= -1e-5
