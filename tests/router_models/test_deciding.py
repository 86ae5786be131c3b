"""Weak or strong, for one prompt and for a session that has begun."""

from hypothesis import given
from hypothesis import strategies as st

from router_models.deciding import BAND, KNOWN, STRANGE, Opinion, Sessions, opinion_of
from router_models.scoring import Score

SHARES = st.floats(0, 1)


@given(SHARES, SHARES)
def test_the_strong_model_answers_from_the_threshold_on(need: float, threshold: float) -> None:
    assert opinion_of(Score(need, 1.0, in_distribution=True), threshold).strong == (need >= threshold)


@given(SHARES, SHARES, SHARES)
def test_what_is_unlike_all_that_was_learned_goes_to_the_strong_model(
    need: float, threshold: float, known: float
) -> None:
    assert opinion_of(Score(need, known, in_distribution=False), threshold) is STRANGE


@given(SHARES, SHARES, st.floats(0, KNOWN, exclude_max=True))
def test_what_is_hardly_known_does_as_well(need: float, threshold: float, known: float) -> None:
    assert opinion_of(Score(need, known, in_distribution=True), threshold) is STRANGE


def test_the_reason_says_the_need_and_the_threshold() -> None:
    assert opinion_of(Score(0.18, 1.0, in_distribution=True), 0.42).reason == "learned:weak p=0.18<0.42"
    assert opinion_of(Score(0.61, 1.0, in_distribution=True), 0.42).reason == "learned:strong p=0.61>=0.42"


@given(SHARES, SHARES)
def test_a_session_changes_its_model_only_beyond_the_band(need: float, threshold: float) -> None:
    score = Score(need, 1.0, in_distribution=True)
    after_strong = opinion_of(score, threshold, Opinion(strong=True, reason="")).strong
    after_weak = opinion_of(score, threshold, Opinion(strong=False, reason="")).strong
    assert after_strong == (need >= threshold - BAND)
    assert after_weak == (need >= threshold + BAND)


def test_the_last_opinion_of_a_session_is_remembered() -> None:
    sessions = Sessions()
    assert sessions.last("a") is None
    sessions.keep("a", STRANGE)
    assert sessions.last("a") is STRANGE
