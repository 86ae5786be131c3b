"""What kind of answer is asked for: how is not why, and when is not where."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cache.guards.words import terms

if TYPE_CHECKING:
    from cache.guards.words import Words

_AFTER_HOW = {
    "much": "amount", "many": "amount", "long": "duration", "often": "frequency", "far": "distance", "old": "age",
    "soon": "duration", "quickly": "duration", "fast": "duration", "come": "why", "big": "size", "large": "size",
    "tall": "size", "heavy": "weight",
}  # fmt: skip
_AFTER_WHAT = {
    "time": "when", "date": "when", "price": "amount", "cost": "amount", "fee": "amount", "reason": "why",
    "day": "when",
}  # fmt: skip
_PLAIN = {"why": "why", "when": "when", "where": "where", "who": "who", "whom": "who", "whose": "who"}
_TIME_UNITS = frozenset(terms("day days hour hours week weeks month months year years minute minutes"))
_SOONEST = 6
"""A question word later than this introduces a clause and not the question."""


def read(words: Words) -> str:
    """Name what is asked for, or return the empty word when that is not plain."""
    tokens = [word for word in words.words if word not in {"the", "a", "an", "is", "are", "was", "of"}]
    for at, word in enumerate(tokens[:_SOONEST]):
        following = tokens[at + 1] if at + 1 < len(tokens) else ""
        if word == "how":
            unit = tokens[at + 2] if following == "many" and at + 2 < len(tokens) else ""
            return "duration" if unit in _TIME_UNITS else _AFTER_HOW.get(following, "method")
        if word in {"what", "which"}:
            return _AFTER_WHAT.get(following, "")
        if word in _PLAIN and not (at and word in {"when", "where", "who"}):
            return _PLAIN[word]
    return ""


def differ(a: str, b: str) -> bool:
    """Tell whether both questions ask plainly, and for different things."""
    return bool(a and b) and a != b
