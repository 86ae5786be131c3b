"""Swapped roles: from A to B is not from B to A, and A suing B is not B suing A."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cache.guards.words import FUNCTION, terms

if TYPE_CHECKING:
    from cache.guards.words import Words

_SOURCE = frozenset(("from", "leaving", "off"))
_TARGET = frozenset(("to", "into", "onto", "for", "than"))
_STOPS = frozenset(("in", "on", "at", "by", "with", "and", "or", "is", "are", "do", "does", "can", "will", "i", "if"))
_ARTICLES = frozenset(terms("a an the my your our his her their its"))
_REACH = 3


@dataclass(frozen=True, slots=True)
class Roles:
    """What stands where in a question.

    Attributes:
        sources: Stems that something comes from.
        targets: Stems that something goes to.
        places: Each telling stem after the word before it.
        words: All words in order.
        told: The telling stems.
        acts: Whether who asks acts: 1 when they do, -1 when something is done to them, else 0.
    """

    sources: frozenset[str]
    targets: frozenset[str]
    places: frozenset[tuple[str, str]]
    words: tuple[str, ...]
    told: frozenset[str]
    acts: int


def read(words: Words) -> Roles:
    """Find what stands where."""
    sources: set[str] = set()
    targets: set[str] = set()
    places: set[tuple[str, str]] = set()
    before = ""
    for at, (word, stem) in enumerate(zip(words.words, words.stems, strict=True)):
        if word in _SOURCE:
            sources |= _phrase(words, at + 1)
        elif word in _TARGET:
            targets |= _phrase(words, at + 1)
            if word != "for" and at and words.words[at - 1] not in FUNCTION:
                sources.add(words.stems[at - 1])
        if word not in _ARTICLES:
            if word not in FUNCTION:
                places.add((before, stem))
            before = stem
    pairs = tuple(zip(words.words, words.stems, strict=True))
    return Roles(
        sources=frozenset(sources - targets),
        targets=frozenset(targets - sources),
        places=frozenset(places),
        words=words.words,
        told=frozenset(stem for word, stem in pairs if word not in FUNCTION),
        acts=("i" in words.words) - ("me" in words.words),
    )


def differ(a: Roles, b: Roles) -> bool:
    """Tell whether what is a source in one question is a target in the other, or the same words stand elsewhere."""
    if a.sources & b.targets and a.targets & b.sources:
        return True
    if a.told == b.told and a.acts * b.acts < 0:
        return True
    return _are_rearranged(a.words, b.words)


def _are_rearranged(a: tuple[str, ...], b: tuple[str, ...]) -> bool:
    """Tell whether the same words stand in another order, or as often in another way.

    A phrase that moved to the front (`On Sundays, are you open?`) leaves the order as it was, taken as a ring.
    """
    if a == b or set(a) != set(b):
        return False
    if sorted(a) != sorted(b):
        return any(a.count(word) != b.count(word) for word in set(a) - FUNCTION)
    return not any(a[at:] + a[:at] == b for at in range(len(a)))


def _phrase(words: Words, start: int) -> set[str]:
    found: set[str] = set()
    for word, stem in zip(words.words[start : start + _REACH], words.stems[start : start + _REACH], strict=True):
        if word in _SOURCE or word in _TARGET or word in _STOPS:
            break
        if word not in FUNCTION:
            found.add(stem)
    return found
