"""A unit vector in one signed byte a component: a quarter of the room, and similarities right to about 0.002.

Scalar quantisation with a scale for each vector: its largest component becomes 127. The scale is not kept: a unit
vector has length 1, so the codes are divided by their own length.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_LARGEST = 127


def checked(vector: NDArray[np.float32], dimensions: int) -> NDArray[np.float32]:
    """Return the vector, of the shape and the type that it must have.

    Raises:
        ValueError: It has another shape, or a component that is no number.
    """
    found = np.asarray(vector, np.float32)
    if found.shape != (dimensions,) or not np.isfinite(found).all():
        raise ValueError(f"a vector must be {dimensions} finite numbers")
    return found


def encode(vector: NDArray[np.float32]) -> NDArray[np.int8]:
    """Quantise a vector, shape [dimensions]; its length is lost."""
    largest = np.abs(vector).max(initial=0.0)
    return np.rint(vector * (_LARGEST / largest if largest > 0 else 0.0)).astype(np.int8)


def scales(codes: NDArray[np.int8]) -> NDArray[np.float32]:
    """Return what gives codes, shape [n, dimensions], unit length: shape [n]; nothing gives it to zeros."""
    wide = codes.astype(np.float32)
    lengths = np.sqrt(np.einsum("nd,nd->n", wide, wide))
    return np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0)
