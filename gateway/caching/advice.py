"""What the record of look-ups says about the policy: which features should be served, watched, or left alone."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from random import Random
from typing import Any, Final

from cache.config import SemanticSection
from cache.evaluating.recorded import BOUNDS, Point, Seen, curve
from gateway.caching.learned import Learned, observed
from governance.lookups.records import Lookup

WORTH: Final = 0.02
"""The share of look-ups from which on it pays to serve a feature: below, keeping answers is work for nothing."""

ENOUGH: Final = 500
"""Look-ups from which on a feature may be judged."""


@dataclass(frozen=True, slots=True)
class Advice:
    """What to do with one feature.

    Attributes:
        feature: `team/app/feature`.
        lookups: how many are on record.
        curve: hits against errors for several bounds, the policy's own among them.
        own: the point of the policy's own bound.
        move: `enable`, `observe`, or nothing.
        why: in a sentence.
    """

    feature: str
    lookups: int
    curve: tuple[Point, ...]
    own: Point
    move: str
    why: str

    @property
    def name(self) -> str:
        """The feature as the policy names it: `app/feature`."""
        return self.feature.partition("/")[2]


def advise(lookups: Iterable[Lookup], section: SemanticSection, chance: Random) -> tuple[Advice, ...]:
    """Return what to do with each feature that is on record, in order of their names."""
    learned, seen = Learned(chance), dict[str, list[Seen]]()
    learned.bind(section.max_error)
    for lookup in lookups:
        observation = observed(lookup) if lookup.kind != "lesson" else None
        wrong = learned.learn(lookup)
        if observation is not None:
            decision = observation.decision
            risk = 1.0 if decision.entry is None else decision.risk
            seen.setdefault(lookup.feature, []).append(Seen(risk, decision.explored, wrong))
    return tuple(_advice(feature, seen[feature], section, chance) for feature in sorted(seen))


def _advice(feature: str, seen: list[Seen], section: SemanticSection, chance: Random) -> Advice:
    bound = float(section.max_error)
    points = curve(seen, chance, tuple({*BOUNDS, bound}))
    own = next(point for point in points if point.max_error == bound)
    name, hits = feature.partition("/")[2], own.hit_rate
    if len(seen) < ENOUGH:
        move, why = "", f"Wait: {len(seen):,} of {ENOUGH:,} look-ups that it takes to judge."
    elif name in section.observe and hits.low >= WORTH:
        move, why = "enable", f"Serve it: {hits.value:.1%} of look-ups within the bound."
    elif name in section.enabled and hits.high < WORTH:
        move, why = "observe", f"Only watch it: {hits.value:.1%} of look-ups within the bound, which is hardly any."
    else:
        move, why = "", "Leave it as it is."
    return Advice(feature, len(seen), points, own, move, why)


def advised(section: SemanticSection, advice: Iterable[Advice], stated: Mapping[str, Any]) -> dict[str, Any]:
    """Return the section as the advice would have it; `stated` is the section as the policy's text has it."""
    moves = {one.name: one.move for one in advice if one.move}
    enabled = [name for name in section.enabled if moves.get(name) != "observe"]
    observe = [name for name in section.observe if moves.get(name) != "enable"]
    enabled += [name for name, move in moves.items() if move == "enable"]
    observe += [name for name, move in moves.items() if move == "observe"]
    lists = {"enabled": enabled, "observe": observe}
    return {**stated, **{name: features for name, features in lists.items() if features or name in stated}}
