"""The score interval of a share."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cache.evaluating.intervals import share


def test_it_is_wilsons() -> None:
    found = share(3, 60)
    assert (found.value, found.low, found.high) == (
        0.05,
        pytest.approx(0.0171, abs=1e-4),
        pytest.approx(0.1370, abs=1e-4),
    )


def test_of_nothing_all_is_possible() -> None:
    found = share(0, 0)
    assert (found.value, found.low, found.high) == (0.0, 0.0, 1.0)


@given(st.integers(1, 10_000), st.data())
def test_it_holds_the_share_and_stays_a_share(of: int, data: st.DataObject) -> None:
    found = share(data.draw(st.integers(0, of)), of)
    assert 0 <= found.low <= found.value <= found.high <= 1
