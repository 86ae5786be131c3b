"""Contrasts between answers that the guards, which are made for questions, do not look for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cache.guards import numbers
from cache.guards.words import FUNCTION, stem, words_of

if TYPE_CHECKING:
    from cache.guards import Reading
    from cache.guards.words import Words

_VERDICTS = {
    "yes": "yes",
    "certainly": "yes",
    "correct": "yes",
    "true": "yes",
    "no": "no",
    "incorrect": "no",
    "false": "no",
}
_FEW = 3
_NEGATORS = frozenset({"not", "no", "never", "without", "neither", "nor", "unable", "except", "excluding"})


def contradict(a: Words, b: Words) -> bool:
    """Tell whether one answer begins with yes and the other with no."""
    return {_lead(a), _lead(b)} == {"yes", "no"}


def count_otherwise(a: Words, b: Words) -> bool:
    """Tell whether both answers count the same things and come to other numbers: 3 projects, 1 project."""
    ours, theirs = _counted(a), _counted(b)
    return any(not ours[thing] & theirs[thing] for thing in ours.keys() & theirs.keys())


def negate_otherwise(a: Words, b: Words) -> bool:
    """Tell whether both answers negate, and nothing that the other does: not by phone, not at a machine."""
    ours, theirs = _negated(a), _negated(b)
    return bool(ours and theirs) and not ours & theirs


def exchange(a: Reading, b: Reading) -> bool:
    """Tell whether the answers are alike but for a few words with a meaning, which may be what matters: day, week."""
    apart = len(a.content ^ b.content)
    return 0 < apart <= _FEW and len(a.content & b.content) >= apart


def _lead(words: Words) -> str:
    first = words.words[0] if words.words else ""
    return "" if first == "no" and "," not in words.text[:4] and "." not in words.text[:4] else _VERDICTS.get(first, "")


def _counted(words: Words) -> dict[str, frozenset[str]]:
    """Return what is counted, by its stem, with the numbers it comes to."""
    counted: dict[str, frozenset[str]] = {}
    for place, word in enumerate(words.words):
        if values := numbers.read(words_of(word)).values:
            thing = next((other for other in words.words[place + 1 :] if other not in FUNCTION), "")
            if thing and not numbers.read(words_of(thing)).values:
                counted[stem(thing)] = counted.get(stem(thing), frozenset()) | values
    return counted


def _negated(words: Words) -> frozenset[str]:
    """Find the first word with a meaning behind each negation, by its stem."""
    behind = (words.words[place + 1 :] for place, word in enumerate(words.words) if word in _NEGATORS)
    firsts = (next((word for word in rest if word not in FUNCTION), "") for rest in behind)
    return frozenset(stem(first) for first in firsts if first)
