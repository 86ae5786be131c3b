"""Tense: what was is not what is, nor what will be."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cache.guards.words import Words

_PAST = frozenset(("did", "was", "were", "had"))
_NOT_PAST = frozenset(("do", "does", "is", "are", "am", "has", "have", "will", "shall", "can", "should", "may", "must"))
_ASKS = frozenset(("what", "which", "who", "when", "where", "why", "how"))
_REACH = 4
"""How many words after the question word its verb stands at the latest: `how many people did`."""


def read(words: Words) -> str:
    """Tell whether the question itself is asked in the past; what is told before it does not count.

    Returns:
        `past`, `other`, or the empty word when there is no verb to go by.
    """
    start = next((at for at, word in enumerate(words.words) if word in _ASKS), 0)
    for word in words.words[start : start + 1 + _REACH]:
        if word in _PAST:
            return "past"
        if word in _NOT_PAST:
            return "other"
    return ""


def differ(a: str, b: str) -> bool:
    """Tell whether one question is about the past and the other is not."""
    return bool(a and b) and a != b
