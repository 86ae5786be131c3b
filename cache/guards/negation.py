"""Negation: what is included is not what is not included."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cache.guards.words import terms

if TYPE_CHECKING:
    from cache.guards.words import Words

_NEGATORS = frozenset(
    terms(
        """not no never without none nothing nobody nowhere neither nor unable except excluding besides hardly barely
    non nicht kein keine keinen nie ohne ne pas jamais sans nunca sin nem sem mai senza niet geen nooit"""
    )
)


def read(words: Words) -> int:
    """Count the words that negate."""
    return sum(word in _NEGATORS for word in words.words)


def differ(a: int, b: int) -> bool:
    """Tell whether one question negates and the other does not, or twice against once."""
    return a % 2 != b % 2 or (a > 0) != (b > 0)
