import numpy as np
import pytest

from cache.index.rows.quantised import checked, encode, scales
from gateway.bench.vectors import clustered


def test_similarities_of_quantised_vectors_are_right_to_about_two_thousandths() -> None:
    vectors = clustered(2_000, 1)
    codes = np.stack([encode(vector) for vector in vectors])
    found = (codes.astype(np.float32) @ vectors[:100].T) * scales(codes)[:, np.newaxis]
    exact = vectors @ vectors[:100].T
    assert np.abs(found - exact).max() < 0.0025
    assert np.abs(found - exact).mean() < 0.0005


def test_a_vector_of_zeros_is_similar_to_nothing() -> None:
    codes = encode(np.zeros(8, np.float32))
    assert scales(codes[np.newaxis]).tolist() == [0.0]


def test_a_vector_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="8 finite numbers"):
        checked(np.array([np.inf] * 8, np.float32), 8)
