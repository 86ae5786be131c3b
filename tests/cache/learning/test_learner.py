from random import Random

from cache.learning.learner import Learner
from cache.learning.lookups import Action, Candidate, Verdict


def test_a_lookup_without_neighbours_asks_and_compares_with_nothing() -> None:
    decision = Learner(0.01, Random(1)).decide([])
    assert decision.action is Action.ASK
    assert decision.entry is None
    assert decision.against == ()


def test_what_was_learned_survives_as_bytes() -> None:
    learner = Learner(0.01, Random(1))
    decision = learner.decide([])
    learner.learn(decision, b"a", [])
    decision = learner.decide([Candidate(b"a", 0.9)])
    learner.learn(decision, b"b", [Verdict(b"a", same=True)])
    again = Learner.from_bytes(learner.to_bytes(), 0.01, Random(1))
    assert again.standing() == learner.standing()
    assert again.to_bytes() == learner.to_bytes()
