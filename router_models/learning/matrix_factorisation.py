"""Matrix factorisation over models and prompts (as RouteLLM's `mf`, arXiv:2406.18665), in closed form.

The score of a model on a prompt is the product of a vector of the model and a linear map of the prompt's embedding and
counts: a regression of few dimensions on all models at once (reduced-rank regression, Izenman 1975). What is known of
models that are not of the pair helps to tell hard prompts from easy ones. Where a model has not answered a prompt, its
score there is filled in by what is predicted, some times over (soft-impute, Mazumder et al. 2010).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from router_models.learning.ridge import Ridge, inputs_of, solve, standard

if TYPE_CHECKING:
    from router_models.learning.prompts import Floats, Prompts

_RANK: Final = 4
_ROUNDS: Final = 2


@dataclass(frozen=True, slots=True)
class Factorisation:
    """A fitted factorisation.

    Attributes:
        centre: The mean of each count, as of a `Ridge`.
        scale: One over the standard deviation of each, as of a `Ridge`.
        maps: From inputs to the few dimensions, float32 [inputs, rank].
        models: A vector for each model, float32 [models, rank].
        biases: What each model scores on average, float32 [models].
    """

    centre: Floats
    scale: Floats
    maps: Floats
    models: Floats
    biases: Floats

    def between(self, weak: int, strong: int) -> Ridge:
        """Return what it predicts of the gap between two models: that is linear in the inputs, so a ridge."""
        weights = self.maps @ (self.models[strong] - self.models[weak])
        return Ridge(self.centre, self.scale, weights, float(self.biases[strong] - self.biases[weak]))


def fit_factorisation(prompts: Prompts, scores: Floats) -> Factorisation:
    """Fit to scores, float32 [prompts, models], NaN where a model has not answered."""
    centre, scale = standard(prompts)
    inputs = inputs_of(prompts, centre, scale)
    middle = inputs.mean(axis=0)
    missing = np.isnan(scores)
    filled = np.where(missing, np.nanmean(scores, axis=0), scores)
    maps, models, biases = _factors(inputs, filled, middle)
    for _ in range(_ROUNDS if missing.any() else 0):
        filled = np.where(missing, inputs @ maps @ models.T + biases, scores)
        maps, models, biases = _factors(inputs, filled, middle)
    return Factorisation(centre, scale, maps, models, biases)


def _factors(inputs: Floats, scores: Floats, middle: Floats) -> tuple[Floats, Floats, Floats]:
    weights, biases = solve(inputs, scores)
    models: Floats = np.linalg.svd((inputs - middle) @ weights, full_matrices=False)[2][:_RANK].T
    maps = weights @ models
    return maps, models, (biases + middle @ (weights - maps @ models.T)).astype(np.float32)
