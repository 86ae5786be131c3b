"""Which threshold serves how many wrong answers, by scores of questions that were held out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cache.verifying.artifact import Calibration

if TYPE_CHECKING:
    from numpy.typing import NDArray

_POINTS = 400
_Z = 1.959964
"""Standard deviations on each side of a 95 % interval."""


def recall_at(scores: NDArray[np.float32], same: NDArray[np.bool_], rate: float) -> float:
    """Return the share of same pairs above the threshold that lets through at most `rate` of the others."""
    wrong = np.sort(scores[~same])[::-1]
    allowed = int(rate * len(wrong) + 1e-9)
    return float(np.mean(scores[same] > wrong[allowed])) if allowed < len(wrong) else 1.0


def calibrate(probabilities: NDArray[np.float32], same: NDArray[np.bool_]) -> Calibration:
    """Draw the curve over the threshold, dense where few wrong answers are served."""
    wrong, right = np.sort(probabilities[~same])[::-1], np.sort(probabilities[same])
    places = np.unique(np.geomspace(1, len(wrong), _POINTS).astype(int))
    thresholds = sorted({1.0, *(float(wrong[place - 1]) for place in places), 0.0}, reverse=True)
    shares = [float(np.mean(wrong >= at)) for at in thresholds]
    return Calibration(
        thresholds=tuple(round(at, 6) for at in thresholds),
        wrong=tuple(round(share, 6) for share in shares),
        wrong_most=tuple(round(_upper(share, len(wrong)), 6) for share in shares),
        right=tuple(round(float(np.mean(right >= at)), 6) for at in thresholds),
    )


def _upper(share: float, count: int) -> float:
    """Return the upper end of the interval of a share (Wilson 1927)."""
    spread = _Z * np.sqrt(share * (1 - share) / count + _Z**2 / (4 * count**2))
    return float((share + _Z**2 / (2 * count) + spread) / (1 + _Z**2 / count))
