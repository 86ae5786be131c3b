"""How much each piece of a context has to do with the question.

Words are weighed as BM25 does (Robertson and Zaragoza 2009), meaning by the cosine of embeddings where there are any.
Neither is enough alone: an answer is often worded otherwise than its question, and numbers and names mean little to an
embedding. What holds a rare number or name of the question is always kept first.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from math import log
from typing import Final

from governance.context.repeating import words_of

_K1: Final = 1.2
_B: Final = 0.5
MEANING: Final = 2.0
"""What a cosine counts against the share of the question's words, weighed by how rare they are."""

NEIGHBOUR: Final = 0.3
"""What a piece gets of the score of the better one beside it: a sentence often goes on with what the last named."""

SURE: Final = 10.0
"""Added for a rare number or name of the question: a piece with so much is never left out."""

_STEM: Final = 6
_RARE: Final = 3
_STOP_WORDS: Final = (
    "a an the and or but if of to in on at by for with from as is are was were be been being am do does did have "
    "has had i me my we our you your he she it its they them their this that these those what which who whom "
    "whose when where why how can could may might must shall should will would not no so than then there here "
    "about into over please tell give say said know want need find show again just also any some all more most"
)
_STOP: Final = frozenset(_STOP_WORDS.split())
_NAMING: Final = re.compile(r"\d|^[A-Z]|[a-z][A-Z]|[_@/]")


def terms_of(text: str) -> list[str]:
    """Return the words of a text that mean something, each cut to its stem, roughly."""
    folded = (word.casefold() for word in words_of(text))
    return [word if any(map(str.isdigit, word)) else word[:_STEM] for word in folded if word not in _STOP]


def named_in(question: str) -> frozenset[str]:
    """Return the numbers and names of a question; a capital at the start of a sentence makes no name."""
    starts = {match[1] for match in re.finditer(r"(?:^|[.!?:]\s+|\n\s*)([^\W_]+)", question)}
    return frozenset(
        word.casefold()
        for word in words_of(question)
        if _NAMING.search(word) and (word not in starts or word.isdigit())
    )


def scored(questions: Sequence[str], pieces: Sequence[str], cosines: Sequence[float] | None) -> list[float]:
    """Score pieces by how much they have to do with the questions.

    Args:
        questions: What is asked; the first is the last turn's.
        pieces: Texts.
        cosines: The likeness in meaning of each piece to the nearest question; None for words alone.
    """
    split = [terms_of(piece) for piece in pieces]
    within = Counter(term for terms in split for term in set(terms))
    weights = [_weights(terms_of(question), within, len(pieces)) for question in questions]
    length = sum(map(len, split)) / max(1, len(split))
    lexical = [max((_bm25(terms, weight, length) for weight in weights), default=0.0) for terms in split]
    scores = [one + MEANING * cosine for one, cosine in zip(lexical, cosines or [0.0] * len(pieces), strict=True)]
    return _sure(questions, pieces, _with_neighbours(scores))


def _weights(question: Sequence[str], within: Counter[str], of: int) -> dict[str, float]:
    """Return what each word of a question weighs, all together 1."""
    rare = {term: log(1 + (of - within[term] + 0.5) / (within[term] + 0.5)) for term in set(question)}
    total = sum(rare.values())
    return {term: weight / total for term, weight in rare.items()} if total else {}


def _bm25(terms: Sequence[str], weights: dict[str, float], length: float) -> float:
    counts = Counter(terms)
    norm = _K1 * (1 - _B + _B * len(terms) / max(1.0, length))
    return sum(weight * counts[term] * (_K1 + 1) / (counts[term] + norm) for term, weight in weights.items())


def _with_neighbours(scores: Sequence[float]) -> list[float]:
    padded = [0.0, *scores, 0.0]
    return [
        own + NEIGHBOUR * max(before, after) for before, own, after in zip(padded, padded[1:], padded[2:], strict=False)
    ]


def _sure(questions: Sequence[str], pieces: Sequence[str], scores: list[float]) -> list[float]:
    names = named_in(questions[0]) if questions else frozenset()
    if not names:
        return scores
    holding = [names.intersection(word.casefold() for word in words_of(piece)) for piece in pieces]
    met = Counter(name for held in holding for name in held)
    few = max(_RARE, len(pieces) // 20)
    return [score + SURE * sum(met[name] <= few for name in held) for score, held in zip(scores, holding, strict=True)]
