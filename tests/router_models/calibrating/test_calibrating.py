import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from router_models.calibrating.coverage import STRANGE, fit_coverage
from router_models.calibrating.isotonic import fit_isotonic
from router_models.calibrating.thresholds import fit_thresholds
from router_models.features import features_of
from router_models.learning.prompts import Prompts


def unit(rows: np.ndarray[tuple[int, int], np.dtype[np.float64]]) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def test_what_is_said_to_be_needed_is_needed_as_often() -> None:
    chance = np.random.default_rng(0)
    predictions = chance.normal(size=4000).astype(np.float32)
    truth = 1 / (1 + np.exp(-2 * predictions))
    needed = (chance.random(4000) < truth).astype(np.float32)
    found = fit_isotonic(predictions[:2000], needed[:2000]).of(predictions[2000:])
    assert np.abs(found - truth[2000:]).mean() < 0.05


@given(st.lists(st.tuples(st.floats(-1, 1, width=32), st.sampled_from([-1.0, 0.0, 0.3, 1.0])), min_size=1, max_size=90))
@settings(max_examples=60)
def test_calibration_keeps_the_order_and_stays_a_probability(rows: list[tuple[float, float]]) -> None:
    predictions, gaps = (np.array(column, np.float32) for column in zip(*rows, strict=True))
    found = fit_isotonic(predictions, gaps).of(np.linspace(-3, 3, 50, dtype=np.float32))
    assert np.all(np.diff(found) >= -1e-7)
    assert np.all((found >= 0) & (found <= 1))


def test_prompts_of_the_same_kind_are_strange_as_often_as_is_allowed_and_others_mostly() -> None:
    chance = np.random.default_rng(0)
    kind, other = chance.normal(size=(2, 32))

    def drawn(
        middle: np.ndarray[tuple[int], np.dtype[np.float64]], size: int, text: str = "How many of the five are red?"
    ) -> Prompts:
        return Prompts.of(unit(middle + chance.normal(size=(size, 32))), [features_of(text)] * size)

    made_of = drawn(kind, 200)
    coverage = fit_coverage(made_of, drawn(kind, 2000), made_of.vectors)

    def strange(prompts: Prompts) -> float:
        return float((coverage.known(prompts, prompts.vectors @ made_of.vectors.T) < STRANGE).mean())

    assert strange(drawn(kind, 2000)) == pytest.approx(STRANGE, abs=0.012)
    assert strange(drawn(other, 500)) > 0.7
    assert strange(drawn(kind, 500, "How many?\nA. 1\nB. 2\nC. 3")) == 1.0


def test_a_threshold_for_a_share_sends_that_share_and_one_for_quality_keeps_it() -> None:
    chance = np.random.default_rng(0)
    needs = chance.random(5000).astype(np.float32)
    weak = (chance.random(5000) > needs).astype(np.float32)
    found = fit_thresholds(needs, weak, np.ones(5000, np.float32), chance)
    for share in (0.1, 0.33, 0.8):
        assert (needs >= found.for_cost_share(share)).mean() == pytest.approx(share, abs=0.01)
    chosen = found.for_quality(0.9)
    assert np.where(needs >= chosen, 1, weak).mean() >= 0.9
    assert found.for_quality(1.0) < 0.1 < chosen
    assert found.for_quality(0.0) == 1.0
    assert np.all(found.kept_least <= found.kept + 1e-6)


def test_thresholds_fall_as_more_goes_to_the_strong_model() -> None:
    needs = np.linspace(0, 1, 7, dtype=np.float32)
    found = fit_thresholds(needs, np.zeros(7, np.float32), np.ones(7, np.float32), np.random.default_rng(0))
    assert np.all(np.diff(found.at) >= 0)
    assert np.all(np.diff(found.strong_share) <= 0)
    assert (found.strong_share[0], found.strong_share[-1]) == (1, 0)
