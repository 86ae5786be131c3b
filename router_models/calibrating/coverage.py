"""How like its training a prompt is: split conformal prediction (Vovk et al. 2005) on nearness to the prototypes.

Nearness is the cosine of the vectors, less a part of how far apart the counts are: word problems in school maths lie
close to questions of the same matter with four answers to choose from, and yet models fail at them for other reasons.
Prototypes are made of some prompts, and nearness is measured on others. Of new prompts of the same kind a share of
`STRANGE` then counts as strange, whatever their distribution; of prompts of another kind hopefully most.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from router_models.learning.prompts import Floats, Prompts

STRANGE: Final = 0.02
"""The share of prompts of the same kind as were learned from that are held for strange."""

_NEAREST: Final = 3
_POINTS: Final = 201
_APART: Final = 0.5
"""What a mean squared distance of one standard deviation takes from the cosine."""
_CLIP: Final = 4.0


@dataclass(frozen=True, slots=True)
class Coverage:
    """Nearness of prompts like those learned from.

    Attributes:
        centre: The mean of each count, float32 [features].
        scale: One over the standard deviation of each, float32 [features].
        counts: The mean of the standardised counts at each prototype, float32 [prototypes, features].
        nearness: Quantiles of nearness, ascending, float32 [points], evenly spaced from 0 to 1.
    """

    centre: Floats
    scale: Floats
    counts: Floats
    nearness: Floats

    def known(self, prompts: Prompts, similarity: Floats) -> Floats:
        """Return for each prompt the share of known ones that lie no nearer, from similarities to the prototypes."""
        near = _nearness(_standard(prompts, self.centre, self.scale), self.counts, similarity)
        return (np.searchsorted(self.nearness, near, side="right") / len(self.nearness)).astype(np.float32)


def fit_coverage(made_of: Prompts, others: Prompts, prototypes: Floats) -> Coverage:
    """Fit to prompts that prototypes were made of, and to others of the same kind that they were not made of."""
    centre, spread = made_of.rows.mean(axis=0), made_of.rows.std(axis=0)
    scale = np.where(spread > 0, 1 / np.where(spread > 0, spread, 1), 1).astype(np.float32)
    nearest = (made_of.vectors @ prototypes.T).argmax(axis=1)
    counts = np.zeros((len(prototypes), len(centre)), np.float32)
    np.add.at(counts, nearest, _standard(made_of, centre, scale))
    counts /= np.maximum(np.bincount(nearest, minlength=len(prototypes)), 1)[:, None]
    near = _nearness(_standard(others, centre, scale), counts, others.vectors @ prototypes.T)
    return Coverage(
        centre, scale, counts.astype(np.float32), np.quantile(near, np.linspace(0, 1, _POINTS)).astype(np.float32)
    )


def _standard(prompts: Prompts, centre: Floats, scale: Floats) -> Floats:
    return np.clip((prompts.rows - centre) * scale, -_CLIP, _CLIP)


def _nearness(rows: Floats, counts: Floats, similarity: Floats) -> Floats:
    squares = np.square(rows).sum(axis=1)[:, None] + np.square(counts).sum(axis=1) - 2 * rows @ counts.T
    near = similarity - np.float32(_APART / rows.shape[1]) * squares
    nearest = min(_NEAREST, near.shape[1])
    return np.partition(near, -nearest, axis=1)[:, -nearest:].mean(axis=1)
