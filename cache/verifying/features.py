"""What two questions have in common, as numbers, each with the direction in which it may count.

A model that is free to choose learns from made-up traps that less overlap is safer, for the traps were written to look
alike. So more similarity may only raise the probability, and more difference only lower it; where neither is meant, the
direction is 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cache.verifying.alignment import align

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cache.verifying.question import Question

_SIDES = {
    "lacking": -1,
    "lacking_weight": -1,
    "covered": 1,
    "meaning": 1,
    "meaning_gap": -1,
    "use": 1,
    "use_gap": -1,
    "strange": -1,
    "unknown": -1,
    "tokens": 1,
    "weakest": 1,
}
DIRECTIONS: dict[str, int] = {
    "similarity": 1,
    "trigrams": 1,
    **{f"{name}_{end}": direction for name, direction in _SIDES.items() for end in ("least", "most")},
    "shared_use": 1,
    "impostor": -1,
    "is_one_replaced": 0,
    "names": -1,
    "numbers": -1,
    "moments": -1,
    "scope": -1,
    "particles": -1,
    "people": -1,
    "negation": -1,
    "acts": -1,
    "places": -1,
    "asking_same": 1,
    "asking_other": -1,
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
