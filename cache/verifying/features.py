"""What two questions have in common, as numbers, some with the direction in which they may count.

Traps are written to look alike, so a model that sees nothing else learns that less overlap is safer. Two things keep it
from that: similarity may only raise the probability and what the guards find different may only lower it, and among its
examples are the nearest questions of other groups, which have little in common and are not the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cache.verifying.alignment import align

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from cache.verifying.question import Question

_SIDES = (
    "lacking",
    "lacking_weight",
    "covered",
    "meaning",
    "meaning_gap",
    "use",
    "use_gap",
    "strange",
    "unknown",
    "tokens",
    "weakest",
)
DIRECTIONS: dict[str, int] = {
    "similarity": 1,
    "trigrams": 0,
    **{f"{name}_{end}": 0 for name in _SIDES for end in ("least", "most")},
    "shared_use": 0,
    "impostor": 0,
    "is_one_replaced": 0,
    "names": -1,
    "numbers": -1,
    "moments": -1,
    "scope": -1,
    "particles": -1,
    "people": -1,
    "negation": -1,
    "acts": 0,
    "places": 0,
    "asking_same": 0,
    "asking_other": 0,
    "fewest_words": 0,
    "most_words": 0,
}
"""Every feature, in order: 1 when more of it may only raise the probability, -1 when it may only lower it."""
_FIRST = 2
"""How many of them stand before those of the alignment."""


def compare(one: Question, others: Sequence[tuple[Question, float]]) -> NDArray[np.float32]:
    """Return the features of a question and each of others in the order of `DIRECTIONS`, float32 [others, features].

    Which of two is stored and which is asked makes no difference.

    Args:
        one: The one question.
        others: At least one other, each with the cosine of its embedding to that of the one.
    """
    found = align(one, [other for other, _ in others])
    sides = [(getattr(found.ours, name), getattr(found.theirs, name)) for name in _SIDES]
    measured = (
        *(end for pair in sides for end in (np.minimum(*pair), np.maximum(*pair))),
        found.shared_use,
        found.impostor,
        found.is_one_replaced,
    )
    counted = np.array([_counted(one, other, similarity) for other, similarity in others], np.float32)
    return np.hstack((counted[:, :_FIRST], np.array(measured, np.float32).T, counted[:, _FIRST:]))


def _counted(a: Question, b: Question, similarity: float) -> tuple[float, ...]:
    """Return what is counted of two questions: the features that stand before those of their alignment, and after."""
    ours, theirs = a.reading, b.reading
    shared = len(a.trigrams & b.trigrams)
    trigrams = len(a.trigrams) + len(b.trigrams) - shared
    return (
        similarity,
        shared / trigrams if trigrams else 1,
        len(ours.names.named - theirs.names.words) + len(theirs.names.named - ours.names.words),
        len(ours.numbers.values ^ theirs.numbers.values),
        len(ours.moments ^ theirs.moments),
        len(ours.scope ^ theirs.scope),
        len(ours.particles ^ theirs.particles),
        len(ours.people ^ theirs.people),
        abs(ours.negation - theirs.negation),
        abs(ours.roles.acts - theirs.roles.acts),
        len(ours.roles.places ^ theirs.roles.places),
        bool(ours.asking) and ours.asking == theirs.asking,
        ours.asking != theirs.asking,
        min(len(a.words), len(b.words)),
        max(len(a.words), len(b.words)),
    )
