"""Vectors as questions have them: made up, in clusters of paraphrases."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

DIMENSIONS: Final = 384
IN_CLUSTER: Final = 40
"""Vectors around one centre, on the average."""

NOISE: Final = 0.6
"""Length of what sets a vector apart from its centre, whose length is 1: two of a cluster are 0.74 similar."""


class Clusters:
    """Unit vectors around centres that are uniform on the sphere, one for every 40 vectors.

    A vector is a centre drawn by chance, plus noise of the normal distribution, brought to length 1.
    """

    def __init__(self, vectors: int, seed: int, dimensions: int = DIMENSIONS) -> None:
        """Draw centres for so many vectors."""
        self._chance = np.random.default_rng(seed)
        shape = (max(1, vectors // IN_CLUSTER), dimensions)
        self._centres = _unit(self._chance.standard_normal(shape, np.float32))

    def draw(self, count: int) -> NDArray[np.float32]:
        """Make vectors, shape [count, dimensions]."""
        dimensions = self._centres.shape[1]
        vectors = self._chance.standard_normal((count, dimensions), np.float32)
        vectors *= np.float32(NOISE / dimensions**0.5)
        vectors += self._centres[self._chance.integers(0, len(self._centres), count)]
        return _unit(vectors)


def clustered(count: int, seed: int, *, dimensions: int = DIMENSIONS) -> NDArray[np.float32]:
    """Make unit vectors in clusters of their own, shape [count, dimensions]."""
    return Clusters(count, seed, dimensions).draw(count)


def _unit(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors
