"""Predictions as probabilities: isotonic regression (Barlow et al. 1972), drawn as a line that always rises.

A plain isotonic fit is a staircase, on which many prompts would be equal; between the middles of its steps the line is
straight, and it rises a little where the staircase does not, so that the order of predictions is kept.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from router_models.learning.prompts import Floats

_RISE: Final = 0.01
"""How much of the range is kept for telling apart what the staircase holds for equal."""
_SMALLEST: Final = 25
"""Prompts of a step."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """A line that rises, from predictions to probabilities.

    Attributes:
        at: Predictions, ascending, float32 [knots].
        need: Their probabilities, float32 [knots].
        centre: The prediction in the middle, for what lies beyond the ends.
        spread: How far predictions lie apart.
    """

    at: Floats
    need: Floats
    centre: float
    spread: float

    def of(self, predictions: Floats) -> Floats:
        """Return the probability that the strong model is needed, float32 [prompts]."""
        beyond = 1 / (1 + np.exp(-np.clip((predictions - self.centre) / self.spread, -30, 30)))
        found = np.interp(predictions, self.at, self.need)
        return ((1 - _RISE) * found + _RISE * beyond).astype(np.float32)


def fit_isotonic(predictions: Floats, gaps: Floats) -> Calibration:
    """Fit to the gaps of prompts that were not learned from; a gap below zero needs no strong model."""
    order = np.argsort(predictions, kind="stable")
    size = max(1, min(_SMALLEST, len(order) // 4))
    groups = np.array_split(order, max(1, len(order) // size))
    at = np.array([predictions[group].mean() for group in groups], np.float64)
    need = np.array([np.clip(gaps[group], 0, 1).mean() for group in groups], np.float64)
    many = np.array([len(group) for group in groups], np.float64)
    at, need = _pooled(at, need, many)
    return Calibration(
        at.astype(np.float32), need.astype(np.float32), float(predictions.mean()), float(predictions.std()) or 1.0
    )


def _pooled(
    at: NDArray[np.float64], need: NDArray[np.float64], many: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Pool neighbours that fall, until none do."""
    steps = list[tuple[float, float, float]]()
    for one in zip(at.tolist(), need.tolist(), many.tolist(), strict=True):
        steps.append(one)
        while len(steps) > 1 and steps[-2][1] >= steps[-1][1]:
            (at1, need1, many1), (at2, need2, many2) = steps.pop(-2), steps.pop()
            both = many1 + many2
            steps.append(((at1 * many1 + at2 * many2) / both, (need1 * many1 + need2 * many2) / both, both))
    return np.array([step[0] for step in steps]), np.array([step[1] for step in steps])
