"""Fit the head: logistic regression with a ridge, by Newton's method, which has one optimum and no chance in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

RIDGE: Final = 0.1
"""Weight of the squared weights beside the sum of the losses; chosen by cross-validation on the texts of the fit."""

_FOLDS: Final = 5
_STEPS: Final = 50
_ENOUGH: Final = 1e-9


def fit(
    vectors: NDArray[np.float32], labels: NDArray[np.bool_], ridge: float = RIDGE
) -> tuple[NDArray[np.float64], float]:
    """Return the weights and the bias that fit.

    Args:
        vectors: Unit vectors, float32 [texts, dimensions].
        labels: True for an injection, [texts].
        ridge: How much the weights are held down; the bias is not.
    """
    x = np.hstack([vectors.astype(np.float64), np.ones((len(vectors), 1))])
    y, w = labels.astype(np.float64), np.zeros(x.shape[1])
    held = np.full(x.shape[1], ridge)
    held[-1] = 1e-6
    for _ in range(_STEPS):
        p = 1 / (1 + np.exp(-(x @ w)))
        gradient = x.T @ (p - y) + held * w
        hessian = (x * (p * (1 - p))[:, None]).T @ x + np.diag(held)
        step = np.linalg.solve(hessian, gradient)
        w -= step
        if float(np.abs(step).max()) < _ENOUGH:
            break
    return w[:-1], float(w[-1])


def held_out(vectors: NDArray[np.float32], labels: NDArray[np.bool_], seed: int = 0) -> NDArray[np.float64]:
    """Return the probability of each text by a head that was fitted without it, in five folds."""
    found = np.zeros(len(labels))
    for fold in np.array_split(np.random.default_rng(seed).permutation(len(labels)), _FOLDS):
        others = np.ones(len(labels), np.bool_)
        others[fold] = False
        weights, bias = fit(vectors[others], labels[others])
        found[fold] = 1 / (1 + np.exp(-(vectors[fold] @ weights + bias)))
    return found
