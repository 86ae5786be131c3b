"""Which stored answers a fresh one should be compared with: few, and those that tell most."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cache.learning.answers.groups import Groups
    from cache.learning.evidence import Evidence
    from cache.learning.lookups import Candidate

MOST = 5
"""Comparisons per fresh answer, controls included."""


def to_compare(near: Sequence[Candidate], evidence: Evidence, groups: Groups, repeats: int, most: int) -> list[bytes]:
    """Choose what to compare a fresh answer with.

    One member of each likely group when the judge is reliable; `repeats` members of the leading group when it errs, so
    that they can outvote it. Members whose place is certain come before others.

    Args:
        near: The neighbours, nearest first.
        evidence: What they say.
        groups: Which stored answers say the same.
        repeats: How many members of the leading group to take.
        most: The most comparisons to make.
    """
    places: dict[int, list[bytes]] = {}
    for place, candidate in enumerate(near):
        group = groups.of(candidate.entry)
        places.setdefault(-1 - place if group is None else group, []).append(candidate.entry)
    for held in places.values():
        held.sort(key=lambda entry: entry not in groups.members or groups.members[entry].trust < 2.0)  # noqa: PLR2004
    order = [group for group, _ in evidence.ranked]
    chosen = places[order[0]][:repeats]
    depth = 0
    while len(chosen) < most and depth < len(near):
        for group in order[1:] if depth == 0 else order:
            left = [entry for entry in places[group] if entry not in chosen]
            if left and len(chosen) < most:
                chosen.append(left[0])
        depth += 1
    return chosen[:most]
