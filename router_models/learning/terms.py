"""Ridge regression over the words of a prompt, and their pairs and triples, weighed by how rare they are (tf-idf).

There are more of them than prompts, so it is solved by conjugate gradients (Hestenes and Stiefel 1952) without ever
writing the matrix out. Only terms of two prompts or more are kept: one of a single prompt says nothing of others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from router_models.learning.prompts import Floats, Prompts

_ALPHAS: Final = (2.0, 5.0, 12.0, 30.0, 80.0)
_MOST: Final = 100_000
"""Terms in an artifact; of more, those of most prompts are kept."""
_STEPS: Final = 40
_ENOUGH: Final = 1e-4
_HELD: Final = 4


@dataclass(frozen=True, slots=True)
class Terms:
    """A fitted regression.

    Attributes:
        known: The terms that were kept, ascending, uint32 [terms].
        rarity: How much each counts in a prompt, float32 [terms].
        weights: What each adds to the gap, float32 [terms].
        bias: What is predicted of a prompt without any of them.
    """

    known: NDArray[np.uint32]
    rarity: Floats
    weights: Floats
    bias: float

    def predict(self, prompts: Prompts) -> Floats:
        """Return the predicted gap of each prompt."""
        if not len(self.known):
            return np.full(len(prompts), self.bias, np.float32)
        return _matrix(prompts, self.known, self.rarity).times(self.weights) + np.float32(self.bias)


@dataclass(frozen=True, slots=True)
class _Sparse:
    """A matrix of which few places are not zero, row after row."""

    rows: NDArray[np.intp]
    columns: NDArray[np.intp]
    values: Floats
    height: int
    width: int

    def times(self, vector: Floats) -> Floats:
        return np.bincount(self.rows, self.values * vector[self.columns], self.height).astype(np.float32)

    def turned_times(self, vector: Floats) -> Floats:
        return np.bincount(self.columns, self.values * vector[self.rows], self.width).astype(np.float32)


def fit_terms(prompts: Prompts, gaps: Floats) -> Terms:
    """Fit to gaps; how much to shrink is tried on a quarter of the prompts first."""
    found, documents = np.unique(prompts.terms, return_counts=True)
    kept = documents > 1
    if kept.sum() > _MOST:
        kept &= documents >= np.partition(documents, -_MOST)[-_MOST]
        kept[np.flatnonzero(kept)[_MOST:]] = False
    known = found[kept]
    rarity = np.log(len(prompts) / documents[kept]).astype(np.float32) + np.float32(1)
    bias = float(gaps.mean())
    if not len(known):
        return Terms(known, rarity, np.empty(0, np.float32), bias)
    held = np.arange(len(prompts)) % _HELD == 0
    tried = _matrix(prompts.taken(~held), known, rarity)
    asked = _matrix(prompts.taken(held), known, rarity)
    left: Floats = (gaps - np.float32(bias)).astype(np.float32)

    def error(alpha: float) -> float:
        return float(np.square(asked.times(_solve(tried, left[~held], alpha)) - left[held]).sum())

    alpha = min(_ALPHAS, key=error)
    return Terms(known, rarity, _solve(_matrix(prompts, known, rarity), left, alpha), bias)


def _matrix(prompts: Prompts, known: NDArray[np.uint32], rarity: Floats) -> _Sparse:
    places = np.minimum(np.searchsorted(known, prompts.terms), len(known) - 1)
    met = known[places] == prompts.terms
    rows = np.repeat(np.arange(len(prompts)), np.diff(prompts.starts))[met]
    columns = places[met]
    lengths = np.sqrt(np.bincount(rows, np.square(rarity[columns]), len(prompts))).astype(np.float32)
    return _Sparse(rows, columns, rarity[columns] / lengths[rows], len(prompts), len(known))


def _solve(matrix: _Sparse, targets: Floats, alpha: float) -> Floats:
    """Minimise |matrix w - targets|² + alpha |w|²."""
    weights = np.zeros(matrix.width, np.float32)
    residual = matrix.turned_times(targets)
    direction: Floats = residual
    size = float(residual @ residual)
    enough = size * _ENOUGH**2
    for _ in range(_STEPS):
        if size <= enough:
            break
        moved = matrix.turned_times(matrix.times(direction)) + np.float32(alpha) * direction
        step = np.float32(size / float(direction @ moved))
        weights += step * direction
        residual = residual - step * moved
        size, before = float(residual @ residual), size
        direction = (residual + np.float32(size / before) * direction).astype(np.float32)
    return weights
