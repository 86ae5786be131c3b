"""Ridge regression over the embedding, what is counted, and a smooth function of what is counted.

The smooth function are random Fourier features (Rahimi and Recht 2007), so that two counts may matter together. How
much to shrink is taken from the error of leaving one out, which ridge regression knows in closed form.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from router_models.learning.prompts import Floats, Prompts

_WAVES: Final = 256
_WIDTH: Final = 0.6
"""Of the kernel that the waves stand for, in standard deviations of all counts together."""
_CLIP: Final = 4.0
_SHARES: Final = (2.0, 4.0, 6.0)
"""What the embedding, the counts and the waves weigh in a distance: the sum of squares of each, on average."""
_NO_SPREAD: Final = 1e-4
_ALL_OWN: Final = 1e-6
_ALPHAS: Final = tuple(10.0 ** (step / 2) for step in range(-3, 8))


@dataclass(frozen=True, slots=True)
class Ridge:
    """A fitted regression.

    Attributes:
        centre: The mean of each count, float32 [features].
        scale: One over the standard deviation of each, float32 [features].
        weights: Of the vector, the counts, the cosines and the sines, float32 [inputs].
        bias: What is predicted where all inputs are zero.
    """

    centre: Floats
    scale: Floats
    weights: Floats
    bias: float

    def predict(self, prompts: Prompts) -> Floats:
        """Return the predicted gap of each prompt."""
        return inputs_of(prompts, self.centre, self.scale) @ self.weights + np.float32(self.bias)


def fit_ridge(prompts: Prompts, gaps: Floats) -> Ridge:
    """Fit to gaps."""
    centre, scale = standard(prompts)
    weights, bias = solve(inputs_of(prompts, centre, scale), gaps[:, None])
    return Ridge(centre, scale, weights[:, 0], float(bias[0]))


def standard(prompts: Prompts) -> tuple[Floats, Floats]:
    """Return the mean of each count, and one over its standard deviation; zero for what never differs."""
    spread = prompts.rows.std(axis=0)
    scale = np.where(spread > _NO_SPREAD, 1 / np.maximum(spread, _NO_SPREAD), 0).astype(np.float32)
    return prompts.rows.mean(axis=0), scale


def solve(inputs: Floats, targets: Floats) -> tuple[Floats, Floats]:
    """Fit weights, float32 [inputs, targets], and biases; with the shrinkage that leaving one out finds best."""
    means, middle = inputs.mean(axis=0), targets.mean(axis=0)
    powers, axes = np.linalg.eigh(np.cov(inputs.T, bias=True) * len(inputs))
    powers = np.maximum(powers, 0)
    along = (inputs - means) @ axes.astype(np.float32)
    projected, squares = along.T @ (targets - middle), np.square(along)
    best, found = np.inf, np.zeros_like(projected)
    for alpha in np.array(_ALPHAS) * powers.sum() / len(inputs):
        shrunk = 1 / (powers + alpha)
        weights = (shrunk[:, None] * projected).astype(np.float32)
        leverage = squares @ shrunk + 1 / len(inputs)
        errors = (targets - middle - along @ weights) / np.maximum(1 - leverage, _ALL_OWN)[:, None]
        if (error := float(np.square(errors).sum())) < best:
            best, found = error, weights
    weights = (axes @ found).astype(np.float32)
    return weights, (middle - means @ weights).astype(np.float32)


def inputs_of(prompts: Prompts, centre: Floats, scale: Floats) -> Floats:
    """Return the vector, the counts and the waves of each prompt side by side, float32 [prompts, inputs]."""
    counts = np.clip((prompts.rows - centre) * scale, -_CLIP, _CLIP)
    features = counts.shape[1]
    waves = counts @ _directions(features)
    share, shares, wave_shares = np.sqrt(_SHARES, dtype=np.float32)
    return np.concatenate(
        (
            prompts.vectors * share,
            counts * (shares / np.sqrt(np.float32(features))),
            np.cos(waves) * (wave_shares / np.sqrt(np.float32(_WAVES))),
            np.sin(waves) * (wave_shares / np.sqrt(np.float32(_WAVES))),
        ),
        axis=1,
    )


@cache
def _directions(features: int) -> Floats:
    """Draw the waves, always the same ones."""
    drawn = np.random.default_rng(11).standard_normal((features, _WAVES))
    return (drawn / (_WIDTH * np.sqrt(features))).astype(np.float32)
