"""RouteLLM's measures (Ong et al. 2024, arXiv:2406.18665), as its code computes them.

Prompts are cut into ten parts of equal size by need. At each of the eleven cuts those at or above it go to the strong
model, which gives a curve of quality over the share of strong calls. With r the mean quality,

    PGR = (r(router) - r(weak)) / (r(strong) - r(weak))       performance gap recovered
    APGR = its mean over the share of strong calls, by trapezoids
    CPT(x) = the least share of strong calls, in percent, with PGR at x, between cuts by straight lines
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from router_models.learning.prompts import Floats

_CUTS: Final = np.linspace(0, 1, 11)
SHARES: Final = tuple(step / 10 for step in range(1, 10))
"""The shares of strong calls at which quality is told."""


@dataclass(frozen=True, slots=True)
class Curve:
    """Quality over the share of strong calls.

    Attributes:
        shares: Of strong calls, from 0 to 1, float64 [cuts].
        qualities: The mean score at each, float64 [cuts].
    """

    shares: NDArray[np.float64]
    qualities: NDArray[np.float64]

    @property
    def recovered(self) -> NDArray[np.float64]:
        """The gap recovered at each share; not finite where both models are equally good."""
        weak, strong = self.qualities[0], self.qualities[-1]
        with np.errstate(divide="ignore", invalid="ignore"):
            return (self.qualities - weak) / (strong - weak)

    @property
    def auc(self) -> float:
        """The area under the curve: the mean quality over all shares."""
        return float(np.trapezoid(self.qualities, self.shares))

    @property
    def apgr(self) -> float:
        """The mean gap recovered."""
        return float(np.trapezoid(self.recovered, self.shares))

    def cpt(self, aim: float) -> float:
        """Return the least share of strong calls, in percent, that recovers the aim."""
        recovered = self.recovered
        reached = int(np.argmax(recovered >= aim))
        if not np.isfinite(recovered).all() or reached == 0:
            return float("nan") if recovered[0] < aim or not np.isfinite(recovered).all() else 0.0
        below, above = recovered[reached - 1], recovered[reached]
        along = (aim - below) / (above - below)
        return float(100 * (self.shares[reached - 1] + along * (self.shares[reached] - self.shares[reached - 1])))

    def quality_at(self, share: float) -> float:
        """Return the quality at a share of strong calls."""
        return float(np.interp(share, self.shares, self.qualities))


def curve_of(needs: Floats, weak: Floats, strong: Floats) -> Curve:
    """Draw the curve of a router that asked for these needs; equal needs are answered alike."""
    order = np.argsort(-needs, kind="stable")
    ordered = needs[order]
    cuts = np.unique(np.quantile(needs, _CUTS))[::-1]
    upto = np.searchsorted(-ordered, -cuts, side="right")
    upto = np.unique(np.concatenate(([0], upto[1:] if len(cuts) > 1 else upto, [len(order)])))
    gains = np.concatenate(([0.0], np.cumsum((strong - weak)[order], dtype=np.float64)))
    return Curve(upto / len(order), float(weak.mean(dtype=np.float64)) + gains[upto] / len(order))


def roc_auc(needs: Floats, needed: NDArray[np.bool_]) -> float:
    """Return how often a prompt that needed the strong model is ranked above one that did not (Mann-Whitney)."""
    positive = int(needed.sum())
    negative = len(needed) - positive
    if not positive or not negative:
        return float("nan")
    _, places, many = np.unique(needs, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(many) - (many - 1) / 2)[places]
    return float((ranks[needed].sum() - positive * (positive + 1) / 2) / (positive * negative))
