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


def compare(a: Question, b: Question, similarity: float) -> NDArray[np.float32]:
    """Return the features of two questions in the order of `DIRECTIONS`, float32 [features].

    Which of the two is stored and which is asked makes no difference.

    Args:
        a: The one question.
        b: The other.
        similarity: The cosine of their embeddings.
    """
    found = align(a, b)
    sides = [(getattr(found.ours, name), getattr(found.theirs, name)) for name in _SIDES]
    ours, theirs = a.reading, b.reading
    trigrams = len(a.trigrams | b.trigrams)
    return np.array(
        (
            similarity,
            len(a.trigrams & b.trigrams) / trigrams if trigrams else 1,
            *(end for pair in sides for end in (min(pair), max(pair))),
            found.shared_use,
            found.impostor,
            found.is_one_replaced,
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
        ),
        np.float32,
    )
