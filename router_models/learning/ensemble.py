"""Several heads as one: their predictions weighed by how well they did on prompts that they had not learned from.

Stacking (Wolpert 1992) with weights that are not negative (Breiman 1996), drawn towards equal ones where there is
little to tell the heads apart by.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from router_models.learning.prompts import Floats

_STEPS: Final = 500
_DOUBT: Final = 60.0
"""How many prompts' worth of evidence there is beforehand for equal weights."""


@dataclass(frozen=True, slots=True)
class Stack:
    """What each head counts.

    Attributes:
        weights: Of each head, not negative, float32 [heads].
        bias: What is added.
    """

    weights: Floats
    bias: float

    def of(self, predictions: Floats) -> Floats:
        """Return the one prediction from those of the heads, float32 [prompts, heads] to [prompts]."""
        return predictions @ self.weights + np.float32(self.bias)


def fit_stack(predictions: Floats, gaps: Floats) -> Stack:
    """Find the weights from predictions for prompts that no head had learned from."""
    means = predictions.mean(axis=0, dtype=np.float64)
    inputs = predictions - means
    heads = inputs.shape[1]
    doubt = _DOUBT * float(inputs.var())
    gram = inputs.T @ inputs + doubt * np.eye(heads)
    aims = inputs.T @ (gaps - gaps.mean()) + doubt / heads
    weights = _not_negative(gram, aims)
    return Stack(weights.astype(np.float32), float(gaps.mean() - means @ weights))


def _not_negative(gram: NDArray[np.float64], aims: NDArray[np.float64]) -> NDArray[np.float64]:
    """Minimise w' gram w / 2 - aims' w over w ≥ 0, one coordinate after another."""
    weights = np.full(len(aims), 1 / len(aims))
    for _ in range(_STEPS):
        for at in range(len(aims)):
            weights[at] = max(0.0, weights[at] + (aims[at] - gram[at] @ weights) / gram[at, at])
    return weights
