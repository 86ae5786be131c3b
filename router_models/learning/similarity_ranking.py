"""Similarity-weighted ranking: what was better on prompts like this one (RouteLLM's `sw_ranking`, arXiv:2406.18665).

RouteLLM fits a Bradley-Terry model for each prompt, to battles weighed by their likeness. Between two models its
maximum is in closed form, the weighed share of battles won with half of the ties; so here one product of matrices
answers. Battles are summed up at prototypes, so that an artifact stays small however much was learned from; with fewer
prompts than prototypes each is its own. How fast weight falls with distance is chosen by leaving each prompt's own
battles out of the prototype that it counts to.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from router_models.learning.prompts import Floats, Prompts

_SLOPES: Final = (5.0, 10.0, 15.0, 20.0, 30.0)
_PRIOR: Final = 1.0
"""Battles of average outcome that every prompt is compared with beside the others, at a similarity of one half."""
_ROUNDS: Final = 6


@dataclass(frozen=True, slots=True)
class SimilarityRanking:
    """Prototypes with the battles that are nearest to each.

    Attributes:
        prototypes: Unit vectors, float32 [prototypes, dimensions].
        battles: How many there were at each, float32 [prototypes].
        gains: Sum of the gaps there, float32 [prototypes].
        slope: How fast weight falls with distance.
        mean: The gap of the average battle.
    """

    prototypes: Floats
    battles: Floats
    gains: Floats
    slope: float
    mean: float

    def predict(self, prompts: Prompts) -> Floats:
        """Return the weighed gap of each prompt."""
        return self.ranked(prompts.vectors @ self.prototypes.T)

    def ranked(self, similarity: Floats) -> Floats:
        """Return the weighed gaps from similarities to the prototypes, float32 [prompts, prototypes]."""
        weights = np.exp(np.float32(self.slope) * (similarity - 1))
        prior = np.float32(_PRIOR * np.exp(-self.slope / 2))
        gains = weights @ self.gains + prior * np.float32(self.mean)
        return (gains / (weights @ self.battles + prior)).astype(np.float32)


def fit_ranking(prototypes: Floats, prompts: Prompts, gaps: Floats) -> SimilarityRanking:
    """Count the battles at each prototype, and choose the slope."""
    similarity = prompts.vectors @ prototypes.T
    nearest = similarity.argmax(axis=1)
    battles = np.bincount(nearest, minlength=len(prototypes)).astype(np.float32)
    gains = np.bincount(nearest, gaps, len(prototypes)).astype(np.float32)
    mean = float(gaps.mean())
    rows = np.arange(len(prompts))
    own = similarity[rows, nearest] - 1

    def error(slope: float) -> float:
        weights = np.exp(np.float32(slope) * (similarity - 1))
        mine, prior = np.exp(np.float32(slope) * own), np.float32(np.exp(-slope / 2) * _PRIOR)
        above = weights @ gains - mine * gaps + prior * np.float32(mean)
        return float(np.square(above / (weights @ battles - mine + prior) - gaps).sum())

    return SimilarityRanking(prototypes, battles, gains, min(_SLOPES, key=error), mean)


def find_prototypes(vectors: Floats, most: int, chance: np.random.Generator) -> Floats:
    """Return at most so many unit vectors near which the others lie, by spherical k-means (Dhillon and Modha 2001)."""
    if len(vectors) <= most:
        return vectors
    found = vectors[np.sort(chance.choice(len(vectors), most, replace=False))]
    for _ in range(_ROUNDS):
        nearest = (vectors @ found.T).argmax(axis=1)
        found = _means(vectors, nearest, found)
    return found


def _means(vectors: Floats, nearest: NDArray[np.intp], before: Floats) -> Floats:
    order = np.argsort(nearest, kind="stable")
    places, starts = np.unique(nearest[order], return_index=True)
    means = before.copy()
    means[places] = np.add.reduceat(vectors[order], starts, axis=0)
    return (means / np.linalg.norm(means, axis=1, keepdims=True)).astype(np.float32)
