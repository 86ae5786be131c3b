"""What a learned router takes for one request, when its text has been embedded already."""

from __future__ import annotations

from random import Random
from time import perf_counter
from typing import TYPE_CHECKING, Final

import numpy as np

from gateway.bench.embedding import Row, row
from router_models.features import features_of

if TYPE_CHECKING:
    from router_models.learned import LearnedRouter

_WARM_UP: Final = 20
_LENGTHS: Final = (10, 600)
_SENTENCE: Final = (
    "a train leaves the station at 9 in the morning with 120 people each of whom pays $4.50 how many are left if half "
    "of them get off which of the following is not true explain why the derivative x^2 must be at least 3 write def f"
)


def rows(scorer: LearnedRouter, *, requests: int) -> list[Row]:
    """Measure counting and scoring, one request after the other, each with a text and a vector of its own."""
    chance, drawn = Random(0), np.random.default_rng(0)  # noqa: S311  texts, not secrets
    words = _SENTENCE.split()
    prototypes = scorer.heads.ranking.prototypes
    counting, scoring, both = list[float](), list[float](), list[float]()
    for number in range(requests + _WARM_UP):
        text = " ".join(chance.choices(words, k=chance.randint(*_LENGTHS)))
        vector = prototypes[drawn.integers(len(prototypes))]
        began = perf_counter()
        features = features_of(text)
        counted = perf_counter()
        scorer.score(vector, features)
        ended = perf_counter()
        if number >= _WARM_UP:
            counting.append(counted - began)
            scoring.append(ended - counted)
            both.append(ended - began)
    return [
        row("count what a prompt shows", counting),
        row("score it", scoring),
        row("both", both),
    ]
