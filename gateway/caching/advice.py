"""What the record of look-ups says about the policy: which features should be served, watched, or left alone."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Final

from cache.config import SemanticSection
from cache.evaluating.recorded import BOUNDS, Point, Seen, curve
from cache.intervals import share
from cache.learning.lookups import Action
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


@dataclass(slots=True)
class _Record:
    """What is on record of one feature; `fit` counts what was served, and what could have been and was explored."""

    embedding: str
    seen: list[Seen] = field(default_factory=list[Seen])
    fit: int = 0


def advise(lookups: Iterable[Lookup], section: SemanticSection, chance: Random) -> tuple[Advice, ...]:
    """Return what to do with each feature that is on record, in order of their names; `chance` is the learners'.

    What was looked up by another embedding than the last one says nothing of what the last one would find.
    """
    learned, records = Learned(chance), dict[str, _Record]()
    learned.bind(section.max_error)
    for lookup in lookups:
        wrong, observation = learned.learn(lookup), None if lookup.kind == "lesson" else observed(lookup)
        if observation is not None:
            decision, record = observation.decision, records.get(lookup.feature)
            if record is None or record.embedding != observation.embedding:
                record = records[lookup.feature] = _Record(observation.embedding)
            risk = 1.0 if decision.entry is None else decision.risk
            record.seen.append(Seen(risk, decision.explored, wrong))
            record.fit += decision.action is not Action.ASK
    return tuple(_advice(feature, records[feature], section) for feature in sorted(records))


def _advice(feature: str, record: _Record, section: SemanticSection) -> Advice:
    bound, count = float(section.max_error), len(record.seen)
    points = curve(record.seen, tuple({*BOUNDS, bound}))
    own = next(point for point in points if point.max_error == bound)
    # What was served is not compared, so for a feature that is served the record proves little of its errors: that is
    # the learner's part. It does prove how little was fit to be served.
    fit = share(record.fit, count)
    name, move = _named(feature), ""
    if count < ENOUGH:
        why = f"Wait: {count:,} of the {ENOUGH:,} look-ups that it takes to judge."
    elif name in section.enabled and fit.high < WORTH:
        move, why = "observe", f"Only watch it: {fit.value:.1%} of look-ups could be served, which is hardly any."
    elif name in section.observe and name not in section.enabled and own.hit_rate.low >= WORTH:
        move, why = "enable", f"Serve it: {own.hit_rate.value:.1%} of look-ups can be, within the bound."
    else:
        why = "Leave it as it is."
    return Advice(feature, count, points, own, move, why)


def advised(section: SemanticSection, advice: Iterable[Advice]) -> Mapping[str, tuple[str, ...]]:
    """Return the lists `enabled` and `observe` as the advice would have them.

    The policy names a feature for all teams at once, so it moves only where the advice is the same for each of them.
    """
    moves: dict[str, set[str]] = {}
    for one in advice:
        moves.setdefault(_named(one.feature), set()).add(one.move)
    to = {name: move for name, (move, *others) in moves.items() if move and not others}
    enabled = [name for name in section.enabled if to.get(name) != "observe"]
    observe = [name for name in section.observe if to.get(name) != "enable"]
    enabled += [name for name, move in to.items() if move == "enable"]
    observe += [name for name, move in to.items() if move == "observe" and name not in observe]
    return {"enabled": tuple(enabled), "observe": tuple(observe)}


def _named(feature: str) -> str:
    """Return a feature as the policy names it, `app/feature`."""
    return feature.partition("/")[2]
