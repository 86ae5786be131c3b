"""The whole procedure by which a router learns, from labelled prompts to what an artifact holds."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Final

import numpy as np

from router_models.calibrating.coverage import fit_coverage
from router_models.calibrating.isotonic import fit_isotonic
from router_models.calibrating.thresholds import fit_thresholds
from router_models.errors import TooFewExamples
from router_models.evaluating.routing_metrics import curve_of, roc_auc
from router_models.features import NAMES
from router_models.labelled.fingerprints import Fingerprints
from router_models.learned import Card, Heads, LearnedRouter
from router_models.learning.ensemble import fit_stack
from router_models.learning.matrix_factorisation import fit_factorisation
from router_models.learning.prompts import Prompts
from router_models.learning.ridge import Ridge, fit_ridge
from router_models.learning.similarity_ranking import find_prototypes, fit_ranking
from router_models.learning.terms import fit_terms

if TYPE_CHECKING:
    from collections.abc import Sequence

    from router_models.features import PromptFeatures
    from router_models.labelled.lines import Example, Pair
    from router_models.learning.prompts import Floats, Where

FOLDS: Final = 5
_HEADS: Final = tuple(field.name for field in fields(Heads))
LEAST: Final = 40
"""Prompts with less than which nothing is learned."""
_PROTOTYPES: Final = 1024
_TOPICS: Final = 64


@dataclass(frozen=True, slots=True)
class Labels:
    """What models made of prompts.

    Attributes:
        weak: The score of the weak model of its pair on each prompt, float32 [prompts].
        strong: That of the strong one.
        scores: Of every model, NaN where it has not answered, float32 [prompts, models].
        models: Their names.
    """

    weak: Floats
    strong: Floats
    scores: Floats
    models: tuple[str, ...]

    @classmethod
    def of(cls, examples: Sequence[Example], pairs: Sequence[Pair]) -> Labels:
        """Take the scores out of examples; a prompt that several pairs have answered counts for the first of them."""
        models = tuple(sorted({name for one in examples for name in one.outcomes}))
        scores = np.array([[one.outcomes.get(name, np.nan) for name in models] for one in examples], np.float32)
        weak = np.full(len(examples), np.nan, np.float32)
        strong = weak.copy()
        for pair in reversed(pairs):
            low, high = scores[:, models.index(pair.weak)], scores[:, models.index(pair.strong)]
            both = ~np.isnan(low + high)
            weak[both], strong[both] = low[both], high[both]
        return cls(weak, strong, scores, models)

    def taken(self, where: Where) -> Labels:
        """Return those of some prompts."""
        return Labels(self.weak[where], self.strong[where], self.scores[where], self.models)

    @property
    def gaps(self) -> Floats:
        """By how much the strong model did better, float32 [prompts]."""
        return self.strong - self.weak


def train(
    examples: Sequence[Example],
    vectors: Floats,
    features: Sequence[PromptFeatures],
    pairs: Sequence[Pair],
    *,
    embedding: str,
    seed: int = 0,
) -> LearnedRouter:
    """Learn which prompts need the strong model of a pair.

    Args:
        examples: Labelled prompts; those nearly the same as an earlier one are left out.
        vectors: Their unit vectors, float32 [examples, dimensions].
        features: What is counted in each.
        pairs: The pair to choose between; of several, a prompt counts for the first that has answered it.
        embedding: The name of the embedding.
        seed: Of all chance.

    Raises:
        TooFewExamples: There are too few, or the models of the pair are equally good on all of them.
    """
    seen = Fingerprints.of([one.text for one in examples], [one.terms for one in features])
    labels, fresh = Labels.of(examples, pairs), seen.first()
    kept = np.flatnonzero(fresh & ~np.isnan(labels.gaps))
    labels, prompts, seen = labels.taken(kept), Prompts.of(vectors, features).taken(kept), seen.taken(kept)
    if len(kept) < LEAST or not labels.gaps.any():
        raise TooFewExamples(
            f"{len(kept)} different prompts were answered by both models, and {LEAST} are needed in which they differ"
        )
    return _learned(prompts, labels, seen, pairs, embedding, seed, len(examples) - len(kept))


def _learned(
    prompts: Prompts,
    labels: Labels,
    seen: Fingerprints,
    pairs: Sequence[Pair],
    embedding: str,
    seed: int,
    dropped: int,
) -> LearnedRouter:
    chance = np.random.default_rng(seed)
    folds = (seen.whole % np.uint64(FOLDS)).astype(np.intp)
    made_of = folds != 0 if (folds == 0).any() and (folds != 0).any() else np.ones(len(folds), np.bool_)
    prototypes = find_prototypes(prompts.vectors[made_of], _PROTOTYPES, chance)
    apart = _held_out(prompts, labels, folds, prototypes, pairs)
    stack = fit_stack(apart, labels.gaps)
    guessed = np.empty(len(prompts), np.float32)
    for fold in np.unique(folds):  # so that no prompt's own gap has weighed the heads for it
        here = folds == fold
        guessed[here] = fit_stack(apart[~here], labels.gaps[~here]).of(apart[here])
    calibration = fit_isotonic(guessed, labels.gaps)
    needs = calibration.of(guessed)
    others = ~made_of if (~made_of).any() else made_of
    card = Card(
        name=f"ensemble for {', '.join(f'{pair.weak} or {pair.strong}' for pair in pairs)}",
        embedding=embedding,
        features=NAMES,
        pairs=tuple((pair.weak, pair.strong) for pair in pairs),
        data_sha256=_hash(seen, labels),
        seed=seed,
        prompts=len(prompts),
        dropped=dropped,
        best_feature=_best_feature(prompts, labels),
        metrics=_metrics(needs, apart, labels),
    )
    return LearnedRouter(
        card=card,
        heads=_fitted(prompts, labels, prototypes, pairs),
        stack=stack,
        calibration=calibration,
        coverage=fit_coverage(prompts.taken(made_of), prompts.taken(others), prototypes),
        thresholds=fit_thresholds(needs, labels.weak, labels.strong, chance),
        seen=seen,
    )


def _held_out(prompts: Prompts, labels: Labels, folds: Where, prototypes: Floats, pairs: Sequence[Pair]) -> Floats:
    """Return what heads predict of prompts that they have not learned from, float32 [prompts, heads]."""
    found = np.empty((len(prompts), len(_HEADS)), np.float32)
    for fold in np.unique(folds):
        here = folds == fold
        asked = prompts.taken(here)
        heads = _fitted(prompts.taken(~here), labels.taken(~here), prototypes, pairs)
        found[here] = heads.predict(asked, asked.vectors @ prototypes.T)
    return found


def _fitted(prompts: Prompts, labels: Labels, prototypes: Floats, pairs: Sequence[Pair]) -> Heads:
    factorisation = fit_factorisation(prompts, labels.scores)
    between = [
        factorisation.between(labels.models.index(pair.weak), labels.models.index(pair.strong)) for pair in pairs
    ]
    first = between[0]
    weights, biases = (np.mean([getattr(one, part) for one in between], axis=0) for part in ("weights", "bias"))
    return Heads(
        ridge=fit_ridge(prompts, labels.gaps),
        factorisation=Ridge(first.centre, first.scale, weights.astype(np.float32), float(biases)),
        terms=fit_terms(prompts, labels.gaps),
        ranking=fit_ranking(prototypes, prompts, labels.gaps),
        topics=fit_ranking(find_prototypes(prompts.vectors, _TOPICS, np.random.default_rng(0)), prompts, labels.gaps),
    )


def _metrics(needs: Floats, apart: Floats, labels: Labels) -> dict[str, float]:
    curve = curve_of(needs, labels.weak, labels.strong)
    found = {
        "apgr": curve.apgr,
        "cpt50": curve.cpt(0.5),
        "cpt80": curve.cpt(0.8),
        "auc": curve.auc,
        "roc_auc": roc_auc(needs, labels.gaps > 0),
    }
    for name, column in zip(_HEADS, apart.T, strict=True):
        found[f"apgr of {name}"] = curve_of(column, labels.weak, labels.strong).apgr
    return {name: round(value, 4) for name, value in found.items()}


def _best_feature(prompts: Prompts, labels: Labels) -> str:
    signed = {
        f"{sign}{name}": curve_of(prompts.rows[:, at] * (-1 if sign else 1), labels.weak, labels.strong).apgr
        for at, name in enumerate(NAMES)
        for sign in ("", "-")
    }
    return max(signed, key=signed.__getitem__)


def _hash(seen: Fingerprints, labels: Labels) -> str:
    digest = hashlib.sha256(json.dumps(labels.models).encode())
    digest.update(seen.whole.astype("<u8").tobytes())
    digest.update(np.stack((labels.weak, labels.strong)).astype("<f4").tobytes())
    return digest.hexdigest()
