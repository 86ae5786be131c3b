"""What a router has to beat: chance, length, the nearest prompts, the best single count; and who knows all outcomes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from router_models.features import NAMES

if TYPE_CHECKING:
    from router_models.learned import LearnedRouter
    from router_models.learning.prompts import Floats, Prompts

_NEAREST: Final = 10
_TIES: Final = 1e-3
"""Less than outcomes differ by: who knows them all breaks ties by chance, so that it can spend any share."""


def baselines(router: LearnedRouter, prompts: Prompts, gaps: Floats, seed: int = 0) -> dict[str, Floats]:
    """Return what each would ask for.

    The nearest prompts and the best single count are those of the router's training; `oracle` has seen the outcomes.
    """
    chance = np.random.default_rng(seed)
    best = router.card.best_feature
    sign = -1 if best.startswith("-") else 1
    return {
        "random": chance.random(len(prompts), np.float32),
        "length": prompts.rows[:, NAMES.index("characters")],
        "knn": _nearest(router, prompts),
        "single_feature": prompts.rows[:, NAMES.index(best.lstrip("-"))] * np.float32(sign),
        "oracle": gaps + chance.random(len(prompts), np.float32) * np.float32(_TIES),
    }


def _nearest(router: LearnedRouter, prompts: Prompts) -> Floats:
    ranking = router.heads.ranking
    met = np.flatnonzero(ranking.battles)
    similarity = prompts.vectors @ ranking.prototypes[met].T
    count = min(_NEAREST, len(met))
    nearest = np.argpartition(-similarity, count - 1, axis=1)[:, :count]
    return ranking.gains[met][nearest].sum(axis=1) / ranking.battles[met][nearest].sum(axis=1)
