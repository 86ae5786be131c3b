"""Rates of what was decided, each with its interval, and the curve over the threshold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cache.evaluating.deciding import NEVER
from cache.intervals import Share, share

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from cache.evaluating.deciding import Decided

RATES = (0.01, 0.02, 0.05, 0.1)
"""Trap rates at which the recall is read out."""
_POINTS = 200


@dataclass(frozen=True, slots=True)
class Rates:
    """How a set of pairs did at one threshold.

    Attributes:
        n: Pairs, each one lookup.
        hit_rate: Lookups that were served.
        error_rate: Lookups that were served a wrong answer.
        precision: Hits that were right.
        recall: Same pairs that were served.
        trap_rate: Pairs that are not the same and were served.
    """

    n: int
    hit_rate: Share
    error_rate: Share
    precision: Share
    recall: Share
    trap_rate: Share


@dataclass(frozen=True, slots=True)
class Curve:
    """One way to score pairs, over all its thresholds.

    Attributes:
        points: Each threshold with its rates, from the strictest.
        recall_at: The recall at each of `RATES`, at the loosest threshold that keeps the trap rate.
    """

    points: tuple[tuple[float, Rates], ...]
    recall_at: Mapping[float, Share]


def rates(scored: Iterable[tuple[float, bool]], threshold: float) -> Rates:
    """Count what is served from a threshold on, of scores with what is true."""
    pairs = list(scored)
    served = [same for score, same in pairs if score >= threshold and score > NEVER]
    same = sum(same for _, same in pairs)
    right = sum(served)
    wrong = len(served) - right
    return Rates(
        n=len(pairs),
        hit_rate=share(len(served), len(pairs)),
        error_rate=share(wrong, len(pairs)),
        precision=share(right, len(served)),
        recall=share(right, same),
        trap_rate=share(wrong, len(pairs) - same),
    )


def by_kind(decided: Sequence[Decided], threshold: float) -> dict[str, Rates]:
    """Count each kind of pair by itself."""
    kinds = sorted({one.pair.kind for one in decided})
    return {
        kind: rates(((one.score, one.pair.same) for one in decided if one.pair.kind == kind), threshold)
        for kind in kinds
    }


def curve(scored: Sequence[tuple[float, bool]]) -> Curve:
    """Draw the curve; where a wrong answer more is served, there is always a point."""
    scores = sorted({score for score, _ in scored if score > NEVER}, reverse=True)
    wrong = sorted({score for score, same in scored if not same and score > NEVER}, reverse=True)
    edges = {above for edge in wrong[:_POINTS] for above in (edge, _next_above(scores, edge))}
    spread = scores[:: max(1, len(scores) // _POINTS)]
    thresholds = sorted({*edges, *spread, *scores[-1:]}, reverse=True)
    points = tuple((at, rates(scored, at)) for at in thresholds)
    return Curve(points, {rate: _recall_at(scored, points, rate) for rate in RATES})


def _next_above(scores: Sequence[float], edge: float) -> float:
    """Return the least score above one, the loosest threshold that leaves it out."""
    return min((score for score in scores if score > edge), default=edge)


def _recall_at(scored: Sequence[tuple[float, bool]], points: Sequence[tuple[float, Rates]], rate: float) -> Share:
    kept = [found.recall for _, found in points if found.trap_rate.value <= rate]
    return max(kept, key=lambda found: found.value, default=share(0, sum(same for _, same in scored)))
