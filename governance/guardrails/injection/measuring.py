"""How good a head is: what it finds at a share of false alarms, with intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

FALSE_ALARMS: Final = 0.01
_RESAMPLES: Final = 1_000


def auc(scores: NDArray[np.float64], labels: NDArray[np.bool_]) -> float:
    """Return the probability that an injection scores higher than a harmless text (Mann and Whitney, 1947)."""
    _, inverse, counts = np.unique(scores, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[inverse]
    positive = int(labels.sum())
    negative = len(labels) - positive
    return float((ranks[labels].sum() - positive * (positive + 1) / 2) / (positive * negative))


def threshold_at(scores: NDArray[np.float64], labels: NDArray[np.bool_], false_alarms: float = FALSE_ALARMS) -> float:
    """Return the lowest score from which on no more than a share of the harmless texts are taken for injections."""
    harmless = np.sort(scores[~labels])[::-1]
    allowed = int(false_alarms * len(harmless))
    return float(np.nextafter(harmless[allowed], np.inf))


def found_at(scores: NDArray[np.float64], labels: NDArray[np.bool_], false_alarms: float = FALSE_ALARMS) -> float:
    """Return the share of injections that are found at a share of false alarms."""
    return float((scores[labels] >= threshold_at(scores, labels, false_alarms)).mean())


def measured(scores: NDArray[np.float64], labels: NDArray[np.bool_], threshold: float, seed: int = 0) -> dict[str, Any]:
    """Return what a head comes to on texts that it was not fitted on, each with a 95 % interval by bootstrap.

    `found` and `false_alarms` are at `threshold`; `found_at_1_percent` is where these texts themselves set it.
    """
    rng = np.random.default_rng(seed)
    draws = [rng.integers(0, len(labels), len(labels)) for _ in range(_RESAMPLES)]

    def interval(of: Callable[[NDArray[np.float64], NDArray[np.bool_]], float]) -> dict[str, float]:
        drawn = np.percentile([of(scores[draw], labels[draw]) for draw in draws], [2.5, 97.5])
        ends = {"value": of(scores, labels), "low": float(drawn[0]), "high": float(drawn[1])}
        return {name: round(value, 4) for name, value in ends.items()}

    return {
        "texts": len(labels),
        "injections": int(labels.sum()),
        "auc": interval(auc),
        "found_at_1_percent": interval(found_at),
        "found": interval(lambda s, y: float((s[y] >= threshold).mean())),
        "false_alarms": interval(lambda s, y: float((s[~y] >= threshold).mean())),
    }
