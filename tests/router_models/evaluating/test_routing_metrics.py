import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("numpy")

from router_models.evaluating.routing_metrics import curve_of, roc_auc

WEAK = np.array([0, 1, 0, 1, 0, 1, 0, 1, 0, 1], np.float32)
STRONG = np.ones(10, np.float32)
RANKED = np.array([10, 5, 9, 4, 8, 3, 7, 2, 6, 1], np.float32)
"""The five prompts that the weak model fails are ranked first."""


def test_a_perfect_router_of_ten_prompts_as_worked_out_by_hand() -> None:
    found = curve_of(RANKED, WEAK, STRONG)
    # after k of the first five calls k/5 of the gap is recovered, then all of it: 0.5 * 0.5 + 0.5
    assert found.apgr == pytest.approx(0.75, abs=0.01)
    assert found.cpt(0.5) == pytest.approx(25, abs=1)
    assert found.cpt(0.8) == pytest.approx(40, abs=1)
    assert found.quality_at(0.0) == 0.5
    assert found.quality_at(1.0) == 1.0
    assert found.auc == pytest.approx(0.5 + 0.5 * found.apgr)


def test_cuts_are_those_of_pandas_qcut_where_the_last_is_open() -> None:
    # eleven quantiles of ten values: the cut at 9.1 leaves one prompt above it, the one at 1 all of them
    assert curve_of(RANKED, WEAK, STRONG).shares.tolist() == pytest.approx([0, *(k / 10 for k in range(1, 11))])


def test_the_worst_router_recovers_what_the_perfect_one_leaves() -> None:
    assert curve_of(-RANKED, WEAK, STRONG).apgr == pytest.approx(0.25, abs=0.01)


def test_a_router_that_cannot_tell_prompts_apart_does_as_chance_does() -> None:
    found = curve_of(np.zeros(10, np.float32), WEAK, STRONG)
    assert found.apgr == pytest.approx(0.5)
    assert found.cpt(0.5) == pytest.approx(50)
    assert roc_auc(np.zeros(10, np.float32), WEAK == 0) == 0.5


def test_two_models_that_are_equally_good_have_no_gap_to_recover() -> None:
    found = curve_of(RANKED, WEAK, WEAK)
    assert np.isnan(found.apgr)
    assert np.isnan(found.cpt(0.5))


def test_the_roc_area_of_one_mistake_among_six_pairs() -> None:
    needs = np.array([0.9, 0.6, 0.7, 0.2, 0.1], np.float32)
    assert roc_auc(needs, np.array([True, True, False, False, False])) == pytest.approx(5 / 6)


scores = st.lists(
    st.tuples(st.floats(0, 1, width=32), st.sampled_from([0.0, 0.5, 1.0]), st.sampled_from([0.0, 0.5, 1.0])),
    min_size=2,
    max_size=60,
)


@given(scores)
def test_a_curve_goes_from_the_weak_model_alone_to_the_strong_one_alone(rows: list[tuple[float, float, float]]) -> None:
    needs, weak, strong = (np.array(column, np.float32) for column in zip(*rows, strict=True))
    found = curve_of(needs, weak, strong)
    assert (found.shares[0], found.shares[-1]) == (0, 1)
    assert found.qualities[0] == pytest.approx(weak.mean())
    assert found.qualities[-1] == pytest.approx(strong.mean())
    assert np.all(np.diff(found.shares) > 0)


@given(scores)
def test_only_the_order_of_needs_counts(rows: list[tuple[float, float, float]]) -> None:
    needs, weak, strong = (np.array(column, np.float32) for column in zip(*rows, strict=True))
    ranks = np.unique(needs, return_inverse=True)[1].astype(np.float32)
    assert roc_auc(ranks, strong > weak) == pytest.approx(roc_auc(needs, strong > weak), nan_ok=True)


@given(scores)
def test_the_more_quality_is_asked_for_the_more_calls_it_takes(rows: list[tuple[float, float, float]]) -> None:
    needs, weak, strong = (np.array(column, np.float32) for column in zip(*rows, strict=True))
    found = curve_of(needs, weak, np.maximum(weak, strong))
    calls = [found.cpt(aim) for aim in (0.2, 0.5, 0.8, 1.0)]
    assert np.isnan(calls).all() or calls == sorted(calls)
