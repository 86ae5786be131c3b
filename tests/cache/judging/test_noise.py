"""Intervals of the errors of a judge."""

import pytest

from cache.judging.noise import Rate


@pytest.mark.parametrize(
    ("events", "trials", "lower", "upper"),
    [(0, 0, 0, 1), (0, 10, 0, 0.2775), (5, 10, 0.2366, 0.7634), (10, 10, 0.7225, 1), (1, 100, 0.0018, 0.0545)],
)
def test_the_interval_is_wilsons(events: int, trials: int, lower: float, upper: float) -> None:
    rate = Rate(events, trials)
    assert (rate.lower, rate.upper) == pytest.approx((lower, upper), abs=1e-4)
