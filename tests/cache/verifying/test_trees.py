"""The trees compute what scikit-learn computes, and count each feature only in its direction."""

import numpy as np
import pytest

from cache.verifying.features import DIRECTIONS

sklearn = pytest.importorskip("sklearn")

from cache.verifying.training.fitting import Examples, fit, held_out  # noqa: E402  needs scikit-learn


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


@pytest.mark.parametrize(("name", "direction"), [(name, one) for name, one in DIRECTIONS.items() if one])
def test_more_of_a_feature_counts_only_in_its_direction(name: str, direction: int) -> None:
    found = examples()
    trees = fit(found)
    column = list(DIRECTIONS).index(name)
    rows = np.repeat(found.features[:20], 9, axis=0)
    rows[:, column] = np.tile(np.linspace(-3, 3, 9, dtype=np.float32), 20)
    steps = np.diff(trees.log_odds(rows).reshape(20, 9), axis=1) * direction
    assert steps.min() >= -1e-5
