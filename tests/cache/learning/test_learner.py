from __future__ import annotations

from random import Random

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cache.learning.learner import Learner
from cache.learning.lookups import Action, Candidate, Decision, Verdict
from cache.learning.standing import Reason
from tests.support.question_streams import key, made_up, play

_candidates = st.lists(
    st.builds(
        Candidate,
        entry=st.integers(0, 12).map(key),
        similarity=st.floats(-1, 1),
        match=st.none() | st.floats(0, 1),
        vetoed=st.booleans(),
    ),
    max_size=12,
    unique_by=lambda candidate: candidate.entry,
).map(lambda found: sorted(found, key=lambda candidate: -candidate.similarity))


def test_a_lookup_without_neighbours_asks_and_compares_with_nothing() -> None:
    decision = Learner(0.01, Random(1)).decide([])
    assert decision.action is Action.ASK
    assert decision.entry is None
    assert decision.against == ()


def test_a_new_feature_is_closed_because_too_little_is_known() -> None:
    standing = Learner(0.01, Random(1)).standing()
    assert not standing.open
    assert standing.reason is Reason.LEARNING


def test_what_was_learned_survives_as_bytes() -> None:
    learner = play(made_up(1, 400), judge_error=0.05).learner
    again = Learner.from_bytes(learner.to_bytes(), 0.01, Random(1))
    assert again.standing() == learner.standing()
    assert again.to_bytes() == learner.to_bytes()


def test_bytes_of_something_else_are_refused() -> None:
    with pytest.raises(msgspec.DecodeError):
        Learner.from_bytes(b"\x93\x01\x02\x03", 0.01, Random(1))


def test_the_same_observations_rebuild_the_same_decisions() -> None:
    played = play(made_up(2, 400))
    again = Learner.rebuilt(played.observations, 0.01, Random(9))
    assert again.standing().hits == played.hits
    assert again.standing().upper == pytest.approx(played.learner.standing().upper)


def test_the_same_seed_decides_the_same() -> None:
    stream = made_up(3, 300)
    assert play(stream, seed=5).observations == play(stream, seed=5).observations


def test_a_tighter_bound_never_brings_more_wrong_hits_than_it_allows() -> None:
    stream = made_up(4, 900)
    for max_error in (0.005, 0.02, 0.05):
        assert play(stream, max_error=max_error).error <= max_error


def test_a_person_who_calls_a_hit_wrong_is_believed() -> None:
    played = play(made_up(1, 500))
    served = next(seen.decision.entry for seen in played.observations if seen.decision.action is Action.SERVE)
    before = played.learner.standing()
    assert served is not None
    played.learner.feedback(served, right=False)
    assert played.learner.standing().upper > before.upper


def test_an_entry_that_was_forgotten_is_compared_as_a_stranger() -> None:
    learner = Learner(0.01, Random(1))
    first = learner.decide([])
    learner.learn(first, key(1), [])
    learner.forget(key(1))
    second = learner.decide([Candidate(key(1), 0.9)])
    learner.learn(second, key(2), [Verdict(key(1), same=True)])
    assert learner.standing().lookups == 2


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(_candidates, st.booleans(), st.booleans()), max_size=25))
def test_whatever_comes_a_decision_is_sound(lookups: list[tuple[list[Candidate], bool, bool]]) -> None:
    learner = Learner(0.01, Random(1))
    for place, (candidates, same, stored) in enumerate(lookups):
        decision = learner.decide(candidates, b"p")
        _check(decision, candidates)
        if decision.action is not Action.SERVE:
            verdicts = [Verdict(entry, same) for entry in decision.against]
            learner.learn(decision, key(100 + place) if stored else None, verdicts)
    standing = learner.standing()
    assert standing.lookups == len(lookups)
    assert 0.0 <= standing.error <= 1.0
    assert 0.0 <= standing.upper <= 1.0
    assert Learner.from_bytes(learner.to_bytes(), 0.01, Random(1)).standing() == standing


def _check(decision: Decision, candidates: list[Candidate]) -> None:
    servable = {candidate.entry for candidate in candidates if not candidate.vetoed}
    assert 0.0 <= decision.risk <= 1.0
    assert 0.0 < decision.explored <= 1.0
    assert len(decision.against) <= 5
    assert len(set(decision.against)) == len(decision.against)
    assert decision.entry is None or decision.entry in servable
    if decision.action is not Action.ASK:
        assert decision.entry is not None
        assert decision.risk <= decision.threshold
    if decision.action is Action.SERVE:
        assert decision.explored < 1.0
        assert decision.against == ()
