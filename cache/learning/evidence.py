"""What the neighbours of a question say about the answer: the numbers that the risk of a hit is worked out from.

The neighbours vote, each with a weight that grows with its likeness, for the group their answer is in; the group with
most votes is put forward, and its nearest member that no guard forbids is the entry to serve.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, log, sqrt
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cache.learning.answers.groups import Groups
    from cache.learning.lookups import Candidate

NEIGHBOURS = 32
"""How many neighbours a lookup should bring; more are not looked at."""

NAMES = (
    "one",
    "similarity",
    "margin",
    "share_wide",
    "share",
    "share_narrow",
    "mass_wide",
    "mass_narrow",
    "top_ten",
    "members",
    "near_copy",
    "nearest",
    "group_record",
    "entry_record",
    "verifier",
    "novelty",
)
"""The features, in the order of `Evidence.features`."""

_WIDE, _MIDDLE, _NARROW = 10.0, 20.0, 40.0
_TOP = 10
_UNSEEN = 0.3


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a lookup's neighbours say.

    Attributes:
        entry: The entry to serve, or None when every member of the leading group is forbidden.
        group: The leading group.
        features: As `NAMES` lists them.
        ranked: The groups seen with their share of the votes, most votes first.
    """

    entry: bytes | None
    group: int
    features: tuple[float, ...]
    ranked: tuple[tuple[int, float], ...]


def weigh(candidates: Sequence[Candidate], groups: Groups, novelty: float = 0.0) -> Evidence | None:
    """Let the neighbours vote.

    Args:
        candidates: The neighbours, nearest first.
        groups: Which stored answers say the same.
        novelty: The share of late lookups whose answer was unlike any before.

    Returns:
        What they say, or None when there are none.
    """
    near = candidates[:NEIGHBOURS]
    if not near:
        return None
    found = [-1 - place if (g := groups.of(c.entry)) is None else g for place, c in enumerate(near)]
    votes: dict[int, float] = {}
    for candidate, group in zip(near, found, strict=True):
        votes[group] = votes.get(group, 0.0) + exp(_MIDDLE * (candidate.similarity - 1.0))
    lead = max(votes, key=votes.__getitem__)
    total = sum(votes.values())
    ranked = tuple(sorted(((g, v / total) for g, v in votes.items()), key=lambda pair: -pair[1]))
    chosen = next((c for c, g in zip(near, found, strict=True) if g == lead and not c.vetoed), None)
    best = chosen or next(c for c, g in zip(near, found, strict=True) if g == lead)
    return Evidence(
        entry=None if chosen is None else chosen.entry,
        group=lead,
        features=(*_features(near, found, lead, best, groups), sqrt(novelty)),
        ranked=ranked,
    )


def expect(evidence: Evidence, risk: float, most: int) -> tuple[tuple[int, float], ...]:
    """Return how probably the right answer is in each group: the leading one first, `most` others by their votes.

    What the risk leaves is spread over the others, but for a part that is kept for a group not yet seen.
    """
    (lead, share), *others = evidence.ranked[: most + 1]
    rest = max(1.0 - share, 1e-9)
    return ((lead, 1.0 - risk), *((g, risk * (1 - _UNSEEN) * s / rest) for g, s in others if g > 0))


def _features(
    near: Sequence[Candidate], found: list[int], lead: int, best: Candidate, groups: Groups
) -> tuple[float, ...]:
    inside = [c.similarity for c, g in zip(near, found, strict=True) if g == lead]
    outside = [c.similarity for c, g in zip(near, found, strict=True) if g != lead]
    shares: list[float] = []
    masses: list[float] = []
    for sharpness in (_WIDE, _MIDDLE, _NARROW):
        mine = sum(exp(sharpness * (s - 1.0)) for s in inside)
        rest = sum(exp(sharpness * (s - 1.0)) for s in outside)
        shares.append(_logit(mine / (mine + rest)))
        masses.append(log(mine + 1e-4))
    record, member = groups.records.get(lead), groups.members.get(best.entry)
    return (
        1.0,
        best.similarity,
        min(best.similarity - outside[0], 0.6) if outside else 0.6,
        *shares,
        masses[0],
        masses[2],
        sum(g == lead for g in found[:_TOP]) / min(_TOP, len(near)),
        log(1.0 + len(inside)),
        max(0.0, best.similarity - 0.9),
        float(found[0] == lead),
        0.0 if record is None else log((record.right + 3.0) / (record.wrong + 0.3)) - log(10.0),
        0.0 if member is None else log((member.right + 3.0) / (member.wrong + 0.3)) - log(10.0),
        0.0 if best.match is None else _logit(best.match),
    )


def _logit(share: float) -> float:
    return log((share + 1e-3) / (1.0 - share + 1e-3))
