"""Made-up streams of questions: clusters of vectors, some with a near twin, some never seen again."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING

import numpy as np

from cache.learning.learner import Learner
from cache.learning.lookups import Action, Candidate, Observation, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray


@dataclass(frozen=True)
class Stream:
    vectors: NDArray[np.float32]
    answers: NDArray[np.int64]


def made_up(seed: int, lookups: int, *, novel: float = 0.1, twins: float = 0.3, classes: int = 40) -> Stream:
    """Make a stream; how tight its clusters lie and how often each is asked for differ from seed to seed."""
    chance, size = np.random.default_rng(seed), 24
    centres = _unit(chance.normal(size=(classes, size)))
    for place in range(1, classes):
        if chance.random() < twins:
            near = chance.normal(size=size) * chance.uniform(0.05, 0.2) * 3 / np.sqrt(size)
            centres[place] = centres[chance.integers(place)] + near
    weights = 1 / np.arange(1, classes + 1) ** chance.uniform(0, 1)
    answers = chance.choice(classes, lookups, p=weights / weights.sum()).astype(np.int64)
    noise = chance.normal(size=(lookups, size)) * chance.uniform(0.25, 0.8) / np.sqrt(size)
    vectors = _unit(centres)[answers] + noise
    alone = np.flatnonzero(chance.random(lookups) < novel)
    vectors[alone], answers[alone] = chance.normal(size=(len(alone), size)), 10_000 + alone
    return Stream(_unit(vectors).astype(np.float32), answers)


def _unit(vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


@dataclass
class Played:
    learner: Learner
    lookups: int = 0
    hits: int = 0
    wrong: int = 0
    worst: float = 0.0
    observations: list[Observation] = field(default_factory=list[Observation])

    @property
    def error(self) -> float:
        return self.wrong / max(self.lookups, 1)


def play(
    stream: Stream,
    *,
    max_error: float = 0.01,
    seed: int = 0,
    judge_error: float = 0.0,
    judge: Callable[[bool], bool] | None = None,
) -> Played:
    """Play a stream through a learner; `judge` answers in place of one who knows the truth."""
    played, chance = Played(Learner(max_error, Random(seed))), Random(seed + 1)
    held: list[int] = []
    for place, (vector, answer) in enumerate(zip(stream.vectors, stream.answers, strict=True)):
        near = stream.vectors[held] @ vector if held else np.empty(0)
        order = np.argsort(-near, kind="stable")[:32]
        decision = played.learner.decide([Candidate(key(held[at]), float(near[at])) for at in order])
        verdicts: list[Verdict] = []
        if decision.action is Action.SERVE and decision.entry is not None:
            played.hits += 1
            played.wrong += bool(stream.answers[int.from_bytes(decision.entry)] != answer)
        else:
            for entry in decision.against:
                same = bool(stream.answers[int.from_bytes(entry)] == answer)
                said = judge(same) if judge is not None else same != (chance.random() < judge_error)
                verdicts.append(Verdict(entry, said))
            played.learner.learn(decision, key(place), verdicts)
            held.append(place)
        fresh = None if decision.action is Action.SERVE else key(place)
        played.observations.append(Observation(decision, fresh, tuple(verdicts)))
        played.lookups += 1
        if played.lookups >= 1 / max_error:
            played.worst = max(played.worst, played.error)
    return played


def key(place: int) -> bytes:
    return place.to_bytes(32)
