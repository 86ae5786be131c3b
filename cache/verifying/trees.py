"""A sum of decision trees, as gradient boosting leaves it (Friedman 2001), computed for some rows at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Trees:
    """Trees of one depth, each node a place in flat arrays [trees, nodes]; a leaf leads to itself.

    Attributes:
        feature: The feature that a node asks for, int32.
        threshold: Up to here it goes left, float32.
        left: The node to the left, int32.
        right: The node to the right, int32.
        value: What a leaf adds, float32.
        depth: The most steps from a root to a leaf.
        base: What is added to all.
    """

    feature: NDArray[np.int32]
    threshold: NDArray[np.float32]
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    value: NDArray[np.float32]
    depth: int
    base: float

    def log_odds(self, rows: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the log odds of each row, float32 [rows] of float32 [rows, features]."""
        trees = np.arange(self.feature.shape[0])[None, :]
        at = np.zeros((rows.shape[0], self.feature.shape[0]), np.int32)
        which = np.arange(rows.shape[0])[:, None]
        for _ in range(self.depth):
            goes_left = rows[which, self.feature[trees, at]] <= self.threshold[trees, at]
            at = np.where(goes_left, self.left[trees, at], self.right[trees, at])
        return self.value[trees, at].sum(axis=1, dtype=np.float32) + np.float32(self.base)
