"""Logistic regression that learns one observation at a time and knows how sure it is of each coefficient.

A Gaussian over the coefficients is moved by each label (the extended Kalman filter of a logistic observation; see
Spiegelhalter & Lauritzen 1990): what is well known moves little, what is not moves fast. Pure Python: there are some 15
features. How wrong its probabilities may be is not its business but the ledger's (`bounds.py`).
"""

from __future__ import annotations

from math import exp
from operator import mul
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Sequence


class Logistic(msgspec.Struct):
    """The model: coefficients and their covariance.

    Attributes:
        mean: Coefficients, one per feature.
        covariance: Their covariance, a row per feature.
    """

    mean: list[float]
    covariance: list[list[float]]

    def predict(self, features: Sequence[float]) -> float:
        """Return the probability of the event."""
        return _sigmoid(sum(map(mul, self.mean, features)))

    def learn(self, features: Sequence[float], label: float, weight: float = 1.0) -> None:
        """Move the coefficients by one observation.

        Args:
            features: What was known.
            label: The event's probability as seen afterwards, from 0 to 1.
            weight: How much the observation counts; 1 is one observation.
        """
        direction = [sum(map(mul, row, features)) for row in self.covariance]
        expected = _sigmoid(sum(map(mul, self.mean, features)))
        curvature = weight * max(expected * (1.0 - expected), 1e-4)
        shrink = curvature / (1.0 + curvature * sum(map(mul, direction, features)))
        for row, along in zip(self.covariance, direction, strict=True):
            for place, other in enumerate(direction):
                row[place] -= shrink * along * other
        step = weight * (label - expected) * shrink / curvature
        self.mean = [m + step * d for m, d in zip(self.mean, direction, strict=True)]

    def loosen(self, prior: Logistic, share: float) -> None:
        """Forget a little: move the covariance towards the prior's by `share`, so that what changes can be learned."""
        for row, before in zip(self.covariance, prior.covariance, strict=True):
            for place, value in enumerate(before):
                row[place] += share * (value - row[place])


def _sigmoid(x: float) -> float:
    if x < -30.0:  # noqa: PLR2004 - far below any probability that matters
        return 1e-13
    return 1.0 / (1.0 + exp(-x))
