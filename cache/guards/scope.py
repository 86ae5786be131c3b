"""How far a question reaches: all is not any, the first is not the last, only is not also."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from cache.guards import moments

if TYPE_CHECKING:
    from cache.guards.words import Words

_QUANTIFIERS = {
    word: group.split()[0]
    for group in (
        "all every everything everyone",
        "only solely exclusively just",
        "both",
        "either",
        "most",
        "least",
        "always",
        "sometimes",
        "first",
        "last final",
        "next",
        "another second additional extra",
        "same",
        "different",
        "except excluding apart",
        "including",
        "outside",
        "within",
    )
    for word in group.split()
}
_EXCLUSIVE = (frozenset(("all", "only", "both", "either")), frozenset(("first", "last", "next", "another")),
              frozenset(("most", "least")), frozenset(("always", "sometimes")), frozenset(("same", "different")),
              frozenset(("except", "including")), frozenset(("within", "outside")))  # fmt: skip
_WEIGHTY = frozenset(("all", "both", "either", "except"))
_COMPARED = {"more": "more", "less": "less", "fewer": "less", "over": "more", "under": "less", "above": "more",
             "below": "less", "exceed": "more", "larger": "more", "smaller": "less", "longer": "more",
             "shorter": "less", "older": "more", "younger": "less", "greater": "more", "least": "more",
             "most": "less", "up": "less"}  # fmt: skip
_BEFORE_BOUND = frozenset(("than", "at", "to"))


def read(words: Words) -> frozenset[str]:
    """Find the words that set how far a question reaches, and the direction of what it compares with a number."""
    found = {
        _QUANTIFIERS[word]
        for word, following in pairwise((*words.words, ""))
        if word in _QUANTIFIERS and not (word == "every" and following in moments.PERIODS)
    }
    for at, word in enumerate(words.words):
        direction = _COMPARED.get(word)
        beside = words.words[at + 1 : at + 4]
        bound = next((place for place, near in enumerate(beside) if near[:1].isdigit() or near in "£$€"), None)
        if direction and bound is not None and all(near in _BEFORE_BOUND for near in beside[:bound]):
            found.add(f"than {direction}")
    return frozenset(found)


def differ(a: frozenset[str], b: frozenset[str]) -> bool:
    """Tell whether the questions reach differently far."""
    if {"than more", "than less"} <= a ^ b or _WEIGHTY & (a ^ b):
        return True
    return any(a & kind and b & kind and a & kind != b & kind for kind in _EXCLUSIVE)
