"""Streams made to break the bound: it holds, or the feature is closed and says why."""

from __future__ import annotations

import numpy as np

from cache.learning.standing import Reason
from tests.support.question_streams import Played, Stream, made_up, play


def _holds_or_is_closed(played: Played) -> bool:
    return played.error <= 0.01 or not played.learner.standing().open


def test_of_questions_that_were_never_asked_before_none_is_served_wrong() -> None:
    played = play(made_up(1, 600, novel=1.0))
    assert played.wrong == 0
    assert not played.learner.standing().open


def test_a_judge_who_calls_everything_the_same_closes_the_feature() -> None:
    played = play(made_up(2, 600), judge=lambda _: True)
    assert played.hits == 0
    assert not played.learner.standing().open


def test_a_judge_who_calls_nearly_everything_the_same_closes_the_feature_as_blind() -> None:
    calls = iter(range(10**9))
    played = play(made_up(2, 600), judge=lambda same: same or next(calls) % 10 > 0)
    assert played.wrong <= 6
    assert not played.learner.standing().open


def test_a_judge_who_calls_everything_different_leads_to_no_hits() -> None:
    assert play(made_up(3, 600), judge=lambda _: False).hits == 0


def test_questions_that_only_repeat_are_served() -> None:
    few, chance = made_up(4, 30, novel=1.0), np.random.default_rng(4)
    places = chance.integers(30, size=600)
    played = play(Stream(few.vectors[places], few.answers[places]))
    assert played.wrong == 0
    assert played.hits > 300
    assert played.learner.standing().reason is Reason.OPEN


def test_answers_that_change_halfway_close_the_feature_or_stay_within_the_bound() -> None:
    for seed in range(4):
        stream = made_up(seed, 1_600)
        stream.answers[800:] += 100_000
        assert _holds_or_is_closed(play(stream, seed=seed))


def test_one_poisoned_entry_does_not_break_the_bound() -> None:
    stream = made_up(6, 1_200, novel=0.0)
    common = int(np.bincount(stream.answers).argmax())
    stream.answers[np.flatnonzero(stream.answers == common)[0]] = 77_777
    assert _holds_or_is_closed(play(stream))


def test_wrong_answers_that_no_feature_foretells_are_found_by_audits() -> None:
    for seed in range(4):
        stream = made_up(seed, 1_000, novel=0.0)
        odd = np.flatnonzero(np.random.default_rng(seed).random(1_000) < 0.1)
        stream.answers[odd] = 1_000_000 + odd
        assert _holds_or_is_closed(play(stream, seed=seed))
