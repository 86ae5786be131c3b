"""How like its training a prompt is: split conformal prediction (Vovk et al. 2005) on nearness to the prototypes.

Prototypes are made of some prompts, and nearness is measured on others. Of new prompts of the same kind a share of
`STRANGE` then counts as strange, whatever their distribution; of prompts of another kind hopefully most.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from router_models.learning.prompts import Floats

STRANGE: Final = 0.02
"""The share of prompts of the same kind as were learned from that are held for strange."""

_NEAREST: Final = 3
_POINTS: Final = 201


@dataclass(frozen=True, slots=True)
class Coverage:
    """Nearness of prompts like those learned from.

    Attributes:
        nearness: Its quantiles, ascending, float32 [points], evenly spaced from 0 to 1.
    """

    nearness: Floats

    def known(self, similarity: Floats) -> Floats:
        """Return for each prompt the share of known ones that lie no nearer, from similarities to the prototypes."""
        near = nearness_of(similarity)
        return (np.searchsorted(self.nearness, near, side="right") / len(self.nearness)).astype(np.float32)


def nearness_of(similarity: Floats) -> Floats:
    """Return how near the nearest prototypes are on average, float32 [prompts]."""
    nearest = min(_NEAREST, similarity.shape[1])
    return np.partition(similarity, -nearest, axis=1)[:, -nearest:].mean(axis=1)


def fit_coverage(similarity: Floats) -> Coverage:
    """Fit to similarities of prompts of which no prototype was made."""
    return Coverage(np.quantile(nearness_of(similarity), np.linspace(0, 1, _POINTS)).astype(np.float32))
