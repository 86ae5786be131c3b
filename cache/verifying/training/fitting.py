"""Boosted trees that may count a feature only in its direction, and how they do on questions that were held out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier

from cache.verifying.features import DIRECTIONS
from cache.verifying.trees import Trees

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_SETTING: dict[str, Any] = {
    "max_iter": 200,
    "learning_rate": 0.05,
    "max_leaf_nodes": 10,
    "min_samples_leaf": 20,
    "l2_regularization": 3.0,
    "early_stopping": False,
    "random_state": 0,
}
_FOLDS = 5


@dataclass(frozen=True, slots=True)
class Examples:
    """Pairs as numbers: features [pairs, features], labels, weights and groups [pairs], and who a guard vetoed."""

    features: NDArray[np.float32]
    same: NDArray[np.bool_]
    weights: NDArray[np.float32]
    groups: Sequence[str]
    vetoed: NDArray[np.bool_]


def fit(examples: Examples, rows: NDArray[np.intp] | None = None) -> Trees:
    """Fit the trees to the examples, or to some rows of them."""
    at = np.arange(len(examples.same)) if rows is None else rows
    model = HistGradientBoostingClassifier(monotonic_cst=list(DIRECTIONS.values()), **_SETTING)
    model.fit(examples.features[at], examples.same[at], sample_weight=examples.weights[at])
    return _flat(model)


def held_out(examples: Examples, seed: int) -> NDArray[np.float32]:
    """Return the log odds of each pair by trees that saw no question of its group, [pairs]; a veto is the least."""
    names = sorted(set(examples.groups))
    order = np.random.default_rng(seed).permutation(len(names))
    fold_of = {names[at]: place % _FOLDS for place, at in enumerate(order)}
    folds = np.array([fold_of[group] for group in examples.groups])
    odds = np.zeros(len(folds), np.float32)
    for fold in range(_FOLDS):
        inside = np.flatnonzero(folds == fold)
        odds[inside] = fit(examples, np.flatnonzero(folds != fold)).log_odds(examples.features[inside])
    odds[examples.vetoed] = -np.inf
    return odds


def _flat(model: Any) -> Trees:
    nodes = [predictors[0].nodes for predictors in model._predictors]  # noqa: SLF001  the only way to the trees
    shape = len(nodes), max(map(len, nodes))
    feature, left, right = (np.zeros(shape, np.int32) for _ in range(3))
    threshold, value = np.zeros(shape, np.float32), np.zeros(shape, np.float32)
    for tree, found in enumerate(nodes):
        size, leaf = len(found), found["is_leaf"].astype(bool)
        itself = np.arange(size)
        feature[tree, :size] = np.where(leaf, 0, found["feature_idx"])
        threshold[tree, :size] = np.where(leaf, 0, found["num_threshold"])
        left[tree, :size] = np.where(leaf, itself, found["left"])
        right[tree, :size] = np.where(leaf, itself, found["right"])
        value[tree, :size] = np.where(leaf, found["value"], 0)
    depth = max(int(found["depth"].max()) for found in nodes)
    return Trees(feature, threshold, left, right, value, depth, float(np.ravel(model._baseline_prediction)[0]))  # noqa: SLF001
