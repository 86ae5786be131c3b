"""All that is measured of a router on prompts that it has not learned from, beside its baselines."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from router_models.calibrating.coverage import STRANGE
from router_models.errors import TooFewExamples
from router_models.evaluating.baselines import baselines
from router_models.evaluating.bootstrap import Measure, Measured, measure
from router_models.labelled.fingerprints import Fingerprints
from router_models.learning.prompts import Prompts
from router_models.learning.training import Labels

if TYPE_CHECKING:
    from collections.abc import Sequence

    from router_models.features import PromptFeatures
    from router_models.labelled.lines import Example, Pair
    from router_models.learned import LearnedRouter
    from router_models.learning.prompts import Floats


@dataclass(frozen=True, slots=True)
class Unseen:
    """Labelled prompts that a router has not learned from.

    Attributes:
        prompts: What it sees of them.
        labels: What models made of them.
        same: How many were left out because it has learned from the same text.
        nearly: How many because it has learned from nearly the same text, or another here is nearly the same.
    """

    prompts: Prompts
    labels: Labels
    same: int
    nearly: int


@dataclass(frozen=True, slots=True)
class Report:
    """What was found.

    Attributes:
        router: As the router asks.
        guarded: The same, with every prompt that is strange to it sent to the strong model first.
        baselines: What it has to beat.
        strange: The share of prompts that are strange to it.
        calibration_error: The expected distance of its need from what was needed, in ten groups of equal size.
        weak_quality: The mean score of the weak model alone.
        strong_quality: That of the strong model alone.
    """

    router: Measured
    guarded: Measured
    baselines: Mapping[str, Measured]
    strange: Measure
    calibration_error: float
    weak_quality: float
    strong_quality: float


def unseen(
    router: LearnedRouter,
    examples: Sequence[Example],
    vectors: Floats,
    features: Sequence[PromptFeatures],
    pair: Pair,
) -> Unseen:
    """Leave out what the router has learned from, repetitions, and what the pair has not answered.

    Raises:
        TooFewExamples: Nothing is left.
    """
    prints = Fingerprints.of([one.text for one in examples], [one.terms for one in features])
    labels = Labels.of(examples, (pair,))
    same, near = prints.seen(router.seen)
    near |= ~prints.first()
    kept = np.flatnonzero(~near & ~np.isnan(labels.gaps))
    if not len(kept) or not labels.gaps[kept].any():
        raise TooFewExamples("no prompt is left that it has not learned from and on which the models differ")
    taken = Prompts.of(vectors, features).taken(kept)
    return Unseen(taken, labels.taken(kept), int(same.sum()), int((near & ~same).sum()))


def report(router: LearnedRouter, found: Unseen, *, draws: int, seed: int = 0) -> Report:
    """Measure a router and its baselines on the same prompts."""
    weak, strong, gaps = found.labels.weak, found.labels.strong, found.labels.gaps
    needs, known = router.scores(found.prompts)
    strange = known < STRANGE

    def measured(asked: Floats) -> Measured:
        return measure(asked, weak, strong, draws=draws, seed=seed)

    share = float(strange.mean())
    error = 1.96 * float(np.sqrt(share * (1 - share) / len(strange)))
    return Report(
        router=measured(needs),
        guarded=measured(needs + strange),
        baselines={name: measured(asked) for name, asked in baselines(router, found.prompts, gaps, seed).items()},
        strange=Measure(share, max(0.0, share - error), min(1.0, share + error)),
        calibration_error=_calibration_error(needs, gaps),
        weak_quality=float(weak.mean()),
        strong_quality=float(strong.mean()),
    )


def _calibration_error(needs: Floats, gaps: Floats) -> float:
    groups = np.array_split(np.argsort(needs, kind="stable"), 10)
    needed = np.clip(gaps, 0, 1)
    apart = [abs(float(needs[group].mean() - needed[group].mean())) * len(group) for group in groups if len(group)]
    return sum(apart) / len(needs)
