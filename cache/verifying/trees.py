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

    def laid_out(self) -> Forest:
        """Lay all nodes side by side, ready to be computed."""
        first = np.arange(0, self.feature.size, self.feature.shape[1])
        nexts = np.stack((self.right, self.left), axis=-1) + first[:, None, None]
        return Forest(
            roots=first,
            feature=self.feature.ravel().astype(np.intp),
            threshold=self.threshold.ravel(),
            nexts=nexts.ravel(),
            value=self.value.ravel(),
            depth=self.depth,
            base=np.float32(self.base),
        )


@dataclass(frozen=True, slots=True)
class Forest:
    """Trees laid out: of all nodes in one row, those that are roots, and after each the nodes to its right and left."""

    roots: NDArray[np.intp]
    feature: NDArray[np.intp]
    threshold: NDArray[np.float32]
    nexts: NDArray[np.intp]
    value: NDArray[np.float32]
    depth: int
    base: np.float32

    def log_odds(self, rows: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the log odds of each row, float32 [rows] of float32 [rows, features]."""
        numbers, begins = rows.ravel(), np.arange(0, rows.size, rows.shape[1])[:, None]
        at = np.repeat(self.roots[None], len(rows), axis=0)
        for _ in range(self.depth):
            goes_left = numbers.take(begins + self.feature.take(at)) <= self.threshold.take(at)
            at = self.nexts.take(2 * at + goes_left)
        return self.value.take(at).sum(axis=1, dtype=np.float32) + self.base
