"""Which threshold meets an aim: a share of requests for the strong model, or a share of its quality to keep.

What a threshold keeps is measured on prompts that were not learned from; its lower bound is that of a bootstrap over
prompts. It holds for one threshold at a time, and for traffic like those prompts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from router_models.learning.prompts import Floats

_SHARES: Final = 41
_DRAWS: Final = 400
_CONFIDENCE: Final = 0.95


@dataclass(frozen=True, slots=True)
class Thresholds:
    """What each threshold does, from all requests for the strong model to none.

    Attributes:
        at: A request whose need is at or above it goes to the strong model; ascending, float32 [thresholds].
        strong_share: The share of requests that do, descending, float32 [thresholds].
        kept: The share of the strong model's quality that is kept, float32 [thresholds].
        kept_least: What that share is at least, with a confidence of 95 %, float32 [thresholds].
    """

    at: Floats
    strong_share: Floats
    kept: Floats
    kept_least: Floats

    def for_cost_share(self, share: float) -> float:
        """Return the threshold at which this share of requests goes to the strong model."""
        return float(np.interp(share, self.strong_share[::-1], self.at[::-1]))

    def for_quality(self, share: float) -> float:
        """Return the highest threshold that keeps this share of quality for sure; 0 where none but all-strong does."""
        enough = np.flatnonzero(self.kept_least >= share)
        return float(self.at[enough[-1]]) if len(enough) else 0.0


def fit_thresholds(needs: Floats, weak: Floats, strong: Floats, chance: np.random.Generator) -> Thresholds:
    """Measure thresholds on prompts that were not learned from, by the scores of both models on each."""
    order = np.argsort(-needs, kind="stable")
    places = np.linspace(len(order), 0, _SHARES).round().astype(int)
    ordered = needs[order]
    at = np.where(places == 0, 1.0, ordered[np.maximum(places - 1, 0)])
    at[0] = 0.0
    gains, base, best = (strong - weak)[order], weak.mean(), strong.mean()
    kept = (base + _upto(gains, places)) / max(best, 1e-9)
    drawn = np.empty((_DRAWS, _SHARES))
    for draw in range(_DRAWS):
        rows = np.sort(chance.integers(0, len(order), len(order)))
        upto = np.searchsorted(rows, places)
        here = weak[order[rows]].mean() + _upto(gains[rows], upto)
        drawn[draw] = here / max(float(strong[order[rows]].mean()), 1e-9)
    least = np.quantile(drawn, 1 - _CONFIDENCE, axis=0)
    least[0] = 1.0  # all requests go to the strong model
    return Thresholds(*(part.astype(np.float32) for part in (at, places / len(order), kept, least)))


def _upto(gains: Floats, places: np.ndarray[tuple[int], np.dtype[np.intp]]) -> Floats:
    return (np.concatenate(([0], np.cumsum(gains)))[places] / len(gains)).astype(np.float32)
