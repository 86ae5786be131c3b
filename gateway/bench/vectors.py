"""Vectors as questions have them: made up, in clusters of paraphrases."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

DIMENSIONS: Final = 384
IN_CLUSTER: Final = 40
"""Vectors around one centre, on the average."""

NOISE: Final = 0.6
"""Length of what sets a vector apart from its centre, whose length is 1: two of a cluster are 0.74 similar."""


def clustered(count: int, seed: int, *, dimensions: int = DIMENSIONS) -> NDArray[np.float32]:
    """Make unit vectors, shape [count, dimensions].

    The centres are uniform on the sphere, one for every 40 vectors; a vector is a centre drawn by chance, plus noise of
    the normal distribution, brought to length 1.
    """
    chance = np.random.default_rng(seed)
    centres = _unit(chance.standard_normal((max(1, count // IN_CLUSTER), dimensions), np.float32))
    noise = chance.standard_normal((count, dimensions), np.float32)
    noise *= np.float32(NOISE / dimensions**0.5)
    noise += centres[chance.integers(0, len(centres), count)]
    return _unit(noise)


def _unit(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors
