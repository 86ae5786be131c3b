"""What kind of answer is asked for: how is not why, and when is not where."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cache.guards.words import terms

if TYPE_CHECKING:
    from cache.guards.words import Words

_AFTER_HOW = {
    word: asked
    for asked, words in {
        "amount": "much many far big large tall high deep wide heavy",
        "duration": "long soon quickly fast",
        "frequency": "often frequently times",
        "age": "old",
        "why": "come",
    }.items()
    for word in words.split()
}
_AFTER_WHAT = {
    word: asked
    for asked, words in {"when": "time date day", "amount": "price cost fee", "why": "reason"}.items()
    for word in words.split()
}
_PLAIN = {"why": "why", "when": "when", "where": "where", "who": "who", "whom": "who", "whose": "who"}
_TIME_UNITS = frozenset(terms("day days hour hours week weeks month months year years minute minutes"))
_ALIKE = ({"method", "where"},)
"""What an answer to the one often says of the other: where a thing is found is how to find it."""
_SOONEST = 6
"""A question word later than this introduces a clause and not the question."""


def read(words: Words) -> str:
    """Name what is asked for, or return the empty word when that is not plain."""
    tokens = [word for word in words.words if word not in {"the", "a", "an", "is", "are", "was", "of"}]
    for at, word in enumerate(tokens[:_SOONEST]):
        following = tokens[at + 1] if at + 1 < len(tokens) else ""
        if word == "how":
            counted = tokens[at + 2] if following == "many" and at + 2 < len(tokens) else ""
            if counted in _TIME_UNITS:
                return "duration"
            return _AFTER_HOW.get(counted, _AFTER_HOW.get(following, "method"))
        if word in {"what", "which"}:
            return _AFTER_WHAT.get(following, "")
        if word in _PLAIN and not (at and word in {"when", "where", "who"}):
            return _PLAIN[word]
    return ""


def differ(a: str, b: str) -> bool:
    """Tell whether both questions ask plainly, and for different things."""
    return bool(a and b) and a != b and {a, b} not in _ALIKE
