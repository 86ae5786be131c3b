"""95 % intervals of RouteLLM's measures, by drawing the prompts anew (Efron 1979, percentiles)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from router_models.evaluating.routing_metrics import SHARES, curve_of, roc_auc

if TYPE_CHECKING:
    from collections.abc import Mapping

    from router_models.learning.prompts import Floats

DRAWS: Final = 500


@dataclass(frozen=True, slots=True)
class Measure:
    """A value and its 95 % interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Measured:
    """What is measured of one way to route.

    Attributes:
        apgr: The mean gap recovered; 0.5 is what chance does.
        cpt50: The share of strong calls, in percent, for half of the gap.
        cpt80: The same for four fifths.
        auc: The area under quality over the share of strong calls, which is RouteLLM's AUC.
        roc_auc: How often a prompt that needs the strong model is ranked above one that does not.
        quality_at_cost_share: The mean score at each share of strong calls.
        n: Prompts.
    """

    apgr: Measure
    cpt50: Measure
    cpt80: Measure
    auc: Measure
    roc_auc: Measure
    quality_at_cost_share: Mapping[str, Measure]
    n: int


def measure(needs: Floats, weak: Floats, strong: Floats, *, draws: int = DRAWS, seed: int = 0) -> Measured:
    """Measure one way to route, by the scores of both models on each prompt."""
    chance = np.random.default_rng(seed)
    size = len(needs)
    point = _all(needs, weak, strong)
    drawn = np.array([_all(needs[rows], weak[rows], strong[rows]) for rows in _rows(chance, size, draws)])
    with np.errstate(invalid="ignore"):
        low, high = np.nanquantile(drawn, (0.025, 0.975), axis=0)
    measures = [Measure(*map(float, one)) for one in zip(point, low, high, strict=True)]
    qualities = {f"{share:g}": found for share, found in zip(SHARES, measures[5:], strict=True)}
    return Measured(*measures[:5], quality_at_cost_share=qualities, n=size)


def _rows(chance: np.random.Generator, size: int, draws: int) -> list[np.ndarray[tuple[int], np.dtype[np.int64]]]:
    return [chance.integers(0, size, size) for _ in range(draws)]


def _all(needs: Floats, weak: Floats, strong: Floats) -> list[float]:
    curve = curve_of(needs, weak, strong)
    ranked = roc_auc(needs, strong > weak)
    return [curve.apgr, curve.cpt(0.5), curve.cpt(0.8), curve.auc, ranked, *map(curve.quality_at, SHARES)]
