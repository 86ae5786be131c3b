"""Rates of what was decided, and the curve over the threshold."""

from hypothesis import given
from hypothesis import strategies as st

from cache.evaluating.deciding import NEVER
from cache.evaluating.report import curve, rates

SCORED = st.lists(st.tuples(st.one_of(st.just(NEVER), st.floats(0, 1)), st.booleans()), min_size=1, max_size=60)


def test_the_rates_are_counted_from_the_threshold_on() -> None:
    found = rates([(0.9, True), (0.8, True), (0.8, False), (0.2, True), (NEVER, False), (NEVER, False)], 0.8)
    assert found.n == 6
    assert found.hit_rate.value == 3 / 6
    assert found.error_rate.value == 1 / 6
    assert found.precision.value == 2 / 3
    assert found.recall.value == 2 / 3
    assert found.trap_rate.value == 1 / 3


def test_the_recall_is_read_where_the_trap_rate_allows_it() -> None:
    traps = [(0.95, False), *[(0.1, False)] * 99]
    found = curve([(0.99, True), (0.97, True), (0.9, True), (0.05, True), *traps])
    assert found.recall_at[0.01].value == 3 / 4
    assert found.recall_at[0.05].value == 3 / 4


@given(SCORED)
def test_what_is_never_served_is_served_at_no_threshold(scored: list[tuple[float, bool]]) -> None:
    served = max((found.hit_rate.value for _, found in curve(scored).points), default=0)
    assert served == sum(score > NEVER for score, _ in scored) / len(scored)


@given(SCORED)
def test_no_threshold_does_better_than_the_recall_that_is_read_out(scored: list[tuple[float, bool]]) -> None:
    found = curve(scored)
    for rate, recall in found.recall_at.items():
        for threshold in {score for score, _ in scored if score > NEVER}:
            tried = rates(scored, threshold)
            assert tried.trap_rate.value > rate or tried.recall.value <= recall.value
