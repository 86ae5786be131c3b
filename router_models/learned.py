"""A trained router: several heads weighed into one prediction, made a probability, and what it knows of its limits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from router_models.calibrating.coverage import STRANGE, Coverage
from router_models.learning.prompts import Prompts
from router_models.scoring import Score

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from router_models.calibrating.isotonic import Calibration
    from router_models.calibrating.thresholds import Thresholds
    from router_models.features import PromptFeatures
    from router_models.labelled.fingerprints import Fingerprints
    from router_models.learning.ensemble import Stack
    from router_models.learning.prompts import Floats
    from router_models.learning.ridge import Ridge
    from router_models.learning.similarity_ranking import SimilarityRanking
    from router_models.learning.terms import Terms


@dataclass(frozen=True, slots=True)
class Card:
    """What an artifact says of itself.

    Attributes:
        name: What made it, and for what.
        embedding: The embedding it was trained on.
        features: What was counted in each prompt.
        pairs: The weak and the strong model of each pair, by the names of the data.
        data_sha256: A hash of the prompts and outcomes that it learned from.
        seed: Of all chance.
        prompts: How many prompts it learned from.
        dropped: How many were left out, because another was nearly the same.
        best_feature: What of the counts told most by itself, with a minus where less of it needs the strong model.
        metrics: How it did on prompts held out in turn, five times a fifth.
    """

    name: str
    embedding: str
    features: tuple[str, ...]
    pairs: tuple[tuple[str, str], ...]
    data_sha256: str
    seed: int
    prompts: int
    dropped: int
    best_feature: str
    metrics: dict[str, float]


@dataclass(frozen=True, slots=True)
class Heads:
    """The heads: each predicts by how much the strong model's score exceeds the weak one's.

    Attributes:
        ridge: Over vector and counts.
        factorisation: Over models and prompts.
        terms: Over words.
        ranking: By the most similar prompts.
        topics: By the whole field that a prompt is from: the same with few prototypes.
    """

    ridge: Ridge
    factorisation: Ridge
    terms: Terms
    ranking: SimilarityRanking
    topics: SimilarityRanking

    def predict(self, prompts: Prompts, similarity: Floats) -> Floats:
        """Return what each head predicts, float32 [prompts, heads], by similarities to the prototypes of `ranking`."""
        learned = (self.ridge.predict(prompts), self.factorisation.predict(prompts), self.terms.predict(prompts))
        near = (self.ranking.ranked(similarity), self.topics.predict(prompts))
        return np.stack((*learned, *near), axis=1)


@dataclass(frozen=True, slots=True)
class LearnedRouter:
    """A `Scorer` that has learned from labelled prompts.

    Attributes:
        card: What it says of itself.
        heads: What predicts.
        stack: How the heads are weighed.
        calibration: From predictions to probabilities.
        coverage: What is like its training.
        thresholds: What each threshold keeps and costs.
        seen: The prompts that it has learned from.
    """

    card: Card
    heads: Heads
    stack: Stack
    calibration: Calibration
    coverage: Coverage
    thresholds: Thresholds
    seen: Fingerprints

    @property
    def name(self) -> str:
        """What made it, and for what."""
        return self.card.name

    @property
    def embedding(self) -> str:
        """The name of the embedding it was trained on."""
        return self.card.embedding

    def score(self, vector: NDArray[np.float32], features: PromptFeatures) -> Score:
        """Score one prompt, as `Scorer` says."""
        needs, known = self.scores(Prompts.of(vector[None, :], (features,)))
        return Score(float(needs[0]), float(known[0]), bool(known[0] >= STRANGE))

    def scores(self, prompts: Prompts) -> tuple[Floats, Floats]:
        """Return the need of many prompts, and how known each is, float32 [prompts] both."""
        predictions, similarity = self.predictions(prompts)
        return self.calibration.of(predictions), self.coverage.known(prompts, similarity)

    def predictions(self, prompts: Prompts) -> tuple[Floats, Floats]:
        """Return the predicted gap of each prompt, before calibration, and its similarity to each prototype."""
        similarity = prompts.vectors @ self.heads.ranking.prototypes.T
        return self.stack.of(self.heads.predict(prompts, similarity)), similarity
