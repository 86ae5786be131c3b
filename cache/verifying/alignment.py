"""Two questions side by side, token by token and word by word.

Each token of the one is held against the closest of the other, after Zhang et al., "BERTScore: Evaluating Text
Generation with BERT" (ICLR 2020). Of the words that one question has and the other lacks, this asks how near the
other comes: in what the word means (by the lexicon) and in how it is used (by the embedding).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cache.verifying.question import Question

STRANGE = 0.4
"""Below this similarity in the lexicon, two words are no synonyms."""
_SHORTEST_MISSPELT = 4
_LONG = 6


@dataclass(frozen=True, slots=True)
class Side:
    """What the other question lacks of one question.

    Attributes:
        lacking: Telling words that the other does not have.
        lacking_weight: What they weigh.
        covered: The share, by weight, of telling words that the other has.
        meaning: The least similarity of a lacking word to its closest in meaning; 1 when none is lacking.
        meaning_gap: The weighted sum of what is missing to a similarity of 1.
        use: As `meaning`, by how the words are used.
        use_gap: As `meaning_gap`, by how the words are used.
        strange: The weight of lacking words that mean nothing the other says.
        unknown: Lacking words that the lexicon does not have.
        tokens: The mean similarity of each token to its closest.
        weakest: The least of these.
    """

    lacking: float
    lacking_weight: float
    covered: float
    meaning: float
    meaning_gap: float
    use: float
    use_gap: float
    strange: float
    unknown: float
    tokens: float
    weakest: float


@dataclass(frozen=True, slots=True)
class Alignment:
    """Two questions side by side.

    Attributes:
        ours: What the second lacks of the first.
        theirs: What the first lacks of the second.
        shared_use: The least similarity in use of a word that both have.
        impostor: The greatest similarity in use of two lacking words, one of each, that do not mean the same.
        is_one_replaced: Whether each lacks one word.
    """

    ours: Side
    theirs: Side
    shared_use: float
    impostor: float
    is_one_replaced: bool


def align(a: Question, b: Question) -> Alignment:
    """Hold two questions side by side."""
    has_a = np.array([stem in b.all_stems for stem in a.stems], np.bool_)
    has_b = np.array([stem in a.all_stems for stem in b.stems], np.bool_)
    _forgive_misspelling(a, b, has_a, has_b)
    meaning, use, tokens = a.meanings @ b.meanings.T, a.uses @ b.uses.T, a.tokens @ b.tokens.T
    lacking = np.ix_(~has_a, ~has_b)
    impostors = np.where(meaning[lacking] < STRANGE, use[lacking], 0)
    shared = use[has_a].max(axis=1, initial=0)
    return Alignment(
        ours=_side(a, has_a, meaning, use, tokens),
        theirs=_side(b, has_b, meaning.T, use.T, tokens.T),
        shared_use=float(shared.min(initial=1)) if shared.size else 0,
        impostor=float(impostors.max(initial=0)),
        is_one_replaced=impostors.shape == (1, 1),
    )


def _side(
    question: Question,
    has: NDArray[np.bool_],
    meaning: NDArray[np.float32],
    use: NDArray[np.float32],
    tokens: NDArray[np.float32],
) -> Side:
    weights = question.weights
    total = float(weights.sum())
    lacking = ~has
    weight = weights[lacking]
    closest = meaning[lacking].max(axis=1, initial=0)
    used = use[lacking].max(axis=1, initial=0)
    nearest = tokens.max(axis=1, initial=-1) if tokens.size else np.zeros(1, np.float32)
    return Side(
        lacking=float(lacking.sum()),
        lacking_weight=float(weight.sum()),
        covered=float(weights[has].sum()) / total if total else 1.0,
        meaning=float(closest.min(initial=1)),
        meaning_gap=float(weight @ (1 - closest)),
        use=float(used.min(initial=1)),
        use_gap=float(weight @ (1 - used)),
        strange=float(weight[closest < STRANGE].sum()),
        unknown=float((~question.known[lacking]).sum()),
        tokens=float(nearest.mean()),
        weakest=float(nearest.min()),
    )


def _forgive_misspelling(a: Question, b: Question, has_a: NDArray[np.bool_], has_b: NDArray[np.bool_]) -> None:
    """Count a word as had when the other question has it misspelt: one of the two is then no word of the lexicon."""
    for at in np.flatnonzero(~has_a):
        for other in np.flatnonzero(~has_b):
            if (not (a.known[at] and b.known[other])) and _is_misspelt(a.words[at], b.words[other]):
                has_a[at] = has_b[other] = True
                break


def _is_misspelt(word: str, other: str) -> bool:
    shortest = min(len(word), len(other))
    if shortest < _SHORTEST_MISSPELT or word[0] != other[0] or not (word + other).isalpha():
        return False
    most = 1 if shortest < _LONG else 2
    return abs(len(word) - len(other)) <= most and _edits(word, other) <= most


def _edits(word: str, other: str) -> int:
    """Count the letters to drop, add, change or swap with their neighbour (Damerau 1964)."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for at, letter in enumerate(word, start=1):
        older, before = before, row
        row = [at]
        for place, theirs in enumerate(other, start=1):
            steps = min(before[place] + 1, row[place - 1] + 1, before[place - 1] + (letter != theirs))
            if at > 1 and place > 1 and letter == other[place - 2] and word[at - 2] == theirs:
                steps = min(steps, older[place - 2] + 1)
            row.append(steps)
    return row[-1]
