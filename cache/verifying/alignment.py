"""One question beside others, token by token and word by word.

Each token of the one is held against the closest of the other, after Zhang et al., "BERTScore: Evaluating Text
Generation with BERT" (ICLR 2020). Of the words that one question has and the other lacks, this asks how near the
other comes: in what the word means (by the lexicon) and in how it is used (by the embedding). All others are held
beside the one in the same few steps, for these are what takes time; where they are shorter they are filled up.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from cache.verifying.question import Question

    Floats = NDArray[np.float32]
    Truths = NDArray[np.bool_]

STRANGE = 0.4
"""Below this similarity in the lexicon, two words are no synonyms."""
_SHORTEST_MISSPELT = 4
_LONG = 6


@dataclass(frozen=True, slots=True)
class Side:
    """What the other question lacks of one question, each a number for every pair, float32 [pairs].

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

    lacking: Floats
    lacking_weight: Floats
    covered: Floats
    meaning: Floats
    meaning_gap: Floats
    use: Floats
    use_gap: Floats
    strange: Floats
    unknown: Floats
    tokens: Floats
    weakest: Floats


@dataclass(frozen=True, slots=True)
class Alignment:
    """One question beside others.

    Attributes:
        ours: What the others lack of the one.
        theirs: What the one lacks of the others.
        shared_use: The least similarity in use of a word that both have, float32 [pairs].
        impostor: The greatest similarity in use of two lacking words, one of each, that do not mean the same, likewise.
        is_one_replaced: Whether each lacks one word, bool [pairs].
    """

    ours: Side
    theirs: Side
    shared_use: Floats
    impostor: Floats
    is_one_replaced: Truths


def align(one: Question, others: Sequence[Question]) -> Alignment:
    """Hold a question beside others, at least one."""
    lacks = [_lacking(one, other) for other in others]
    ours, theirs = np.array([mine for mine, _ in lacks], np.bool_), _filled([other for _, other in lacks], np.bool_)
    meaning = _filled([other.meanings for other in others]) @ one.meanings.T
    use = _filled([other.uses for other in others]) @ one.uses.T
    tokens = _filled([other.tokens for other in others]) @ one.tokens.T
    sizes = np.array([len(other.tokens) for other in others])
    said = np.arange(tokens.shape[1]) < sizes[:, None]
    heard = np.broadcast_to((sizes > 0)[:, None], (len(others), len(one.tokens)))
    used = use.max(axis=1, initial=0)
    impostors = np.where(theirs[:, :, None] & ours[:, None, :] & (meaning < STRANGE), use, 0)
    return Alignment(
        ours=_side(
            _Words(one.weights[None], one.known[None], ours, meaning.max(axis=1, initial=0), used),
            np.where(said[:, :, None], tokens, -1).max(axis=1, initial=-1),
            heard,
        ),
        theirs=_side(
            _Words(
                _filled([other.weights for other in others]),
                _filled([other.known for other in others], np.bool_),
                theirs,
                meaning.max(axis=2, initial=0),
                use.max(axis=2, initial=0),
            ),
            tokens.max(axis=2, initial=-1),
            said & (len(one.tokens) > 0),
        ),
        shared_use=np.where(ours.all(axis=1), 0, np.where(ours, 1, used).min(axis=1, initial=1)),
        impostor=impostors.max(axis=(1, 2), initial=0),
        is_one_replaced=(ours.sum(axis=1) == 1) & (theirs.sum(axis=1) == 1),
    )


@dataclass(frozen=True, slots=True)
class _Words:
    """The telling words of one side, [pairs, words]: which the other lacks, and how near it comes to each."""

    weights: Floats
    known: Truths
    lacking: Truths
    meaning: Floats
    use: Floats


def _side(words: _Words, nearest: Floats, is_token: Truths) -> Side:
    lacking, weights = words.lacking, words.weights * words.lacking
    total, weight = words.weights.sum(axis=1), weights.sum(axis=1)
    count = is_token.sum(axis=1)
    return Side(
        lacking=lacking.sum(axis=1),
        lacking_weight=weight,
        covered=np.where(total > 0, (words.weights * ~lacking).sum(axis=1) / np.maximum(total, 1e-6), 1),
        meaning=np.where(lacking, words.meaning, 1).min(axis=1, initial=1),
        meaning_gap=(weights * (1 - words.meaning)).sum(axis=1),
        use=np.where(lacking, words.use, 1).min(axis=1, initial=1),
        use_gap=(weights * (1 - words.use)).sum(axis=1),
        strange=(weights * (words.meaning < STRANGE)).sum(axis=1),
        unknown=(lacking & ~words.known).sum(axis=1),
        tokens=(nearest * is_token).sum(axis=1) / np.maximum(count, 1),
        weakest=np.where(count > 0, np.where(is_token, nearest, np.inf).min(axis=1, initial=np.inf), 0),
    )


def _filled(rows: Sequence[NDArray[Any]] | Sequence[list[bool]], kind: type = np.float32) -> NDArray[Any]:
    """Put rows of several lengths in one array, the shorter ones filled up with nothing."""
    most = max(map(len, rows))
    filled = np.zeros((len(rows), most, *np.shape(rows[0])[1:]), kind)
    for at, row in enumerate(rows):
        filled[at, : len(row)] = row
    return filled


def _lacking(a: Question, b: Question) -> tuple[list[bool], list[bool]]:
    """Tell which telling words of each question the other lacks.

    One that the other has misspelt it does not lack; one of the two is then no word of the lexicon.
    """
    lacks_a = [stem not in b.all_stems for stem in a.stems]
    lacks_b = [stem not in a.all_stems for stem in b.stems]
    for at, word in enumerate(a.words):
        if not lacks_a[at]:
            continue
        for place, other in enumerate(b.words):
            if lacks_b[place] and not (a.known[at] and b.known[place]) and _is_misspelt(word, other):
                lacks_a[at] = lacks_b[place] = False
                break
    return lacks_a, lacks_b


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
