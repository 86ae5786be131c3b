"""The score interval of a share."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cache.intervals import share


@pytest.mark.parametrize(
    ("events", "trials", "low", "high"),
    [(3, 60, 0.0171, 0.1370), (0, 10, 0, 0.2775), (5, 10, 0.2366, 0.7634), (10, 10, 0.7225, 1)],
)
def test_it_is_wilsons(events: int, trials: int, low: float, high: float) -> None:
    found = share(events, trials)
    assert found.value == events / trials
    assert (found.low, found.high) == pytest.approx((low, high), abs=1e-4)


def test_of_nothing_all_is_possible() -> None:
    found = share(0, 0)
    assert (found.value, found.low, found.high) == (0.0, 0.0, 1.0)


@given(st.integers(1, 10_000), st.data())
def test_it_holds_the_share_and_stays_a_share(of: int, data: st.DataObject) -> None:
    found = share(data.draw(st.integers(0, of)), of)
    assert 0 <= found.low <= found.value <= found.high <= 1
