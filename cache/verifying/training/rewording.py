"""The same question again, as people type it: slips, greetings, another case, a phrase moved to the front."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

_OPENINGS = ("Hi, ", "Hello, ", "Hey, ", "Hello there, ", "Quick question: ", "Please, ", "um ", "so ", "uh so ", "ok ")
_CLOSINGS = (" Thanks", " Thank you!", " please", " Cheers", " Many thanks.", "", "??", "...")
_SWAPS = (
    ("How do I ", "How can I "),
    ("How can I ", "How do I "),
    ("How do you ", "How do I "),
    ("What is ", "What's "),
    ("What's ", "What is "),
    ("Where is ", "Where's "),
    ("Who is ", "Who's "),
    ("Can I ", "Am I able to "),
    ("Can I ", "May I "),
    ("Do I need ", "Do I have to have "),
    ("How do I ", "How do I go about "),
    ("How do I ", "What do I do to "),
    ("How much is ", "How much does it cost for "),
    ("What are ", "Tell me what are "),
    ("is it possible to ", "can I "),
)
_TAIL = re.compile(r"^(\w[^,.?!]{12,}?) ((?:on|in|at|for|from|near|during|before|after) (?:[\w'-]+ ?){1,4})\?$")
_WORD = re.compile(r"\b[a-z]{5,}\b")


def reword(question: str, random: random.Random) -> str:
    """Return the question as somebody else would have typed it, by one or two harmless changes."""
    for change in random.sample(_CHANGES, random.choice((1, 1, 2))):
        question = change(question, random)
    return question


def _slip(question: str, random: random.Random) -> str:
    words = list(_WORD.finditer(question))
    if not words:
        return question
    found = random.choice(words)
    word, at = found[0], random.randrange(1, len(found[0]) - 1)
    slips = (
        word[:at] + word[at + 1 :],
        word[:at] + word[at + 1] + word[at] + word[at + 2 :],
        word[:at] + word[at] + word[at:],
    )
    return question[: found.start()] + random.choice(slips) + question[found.end() :]


def _open(question: str, random: random.Random) -> str:
    return random.choice(_OPENINGS) + question[:1].lower() + question[1:]


def _close(question: str, random: random.Random) -> str:
    return question + random.choice(_CLOSINGS)


def _lower(question: str, random: random.Random) -> str:
    return question.lower().rstrip("?") if random.random() < 1 / 2 else question.lower().replace("'", "")


def _swap(question: str, random: random.Random) -> str:
    fitting = [(old, new) for old, new in _SWAPS if old in question]
    return question.replace(*random.choice(fitting), 1) if fitting else _open(question, random)


def _to_front(question: str, random: random.Random) -> str:
    found = _TAIL.match(question)
    if found is None:
        return _swap(question, random)
    rest, tail = found.groups()
    return f"{tail[:1].upper()}{tail[1:]}, {rest[:1].lower()}{rest[1:]}?".replace(" i ", " I ")


_CHANGES: tuple[Callable[[str, random.Random], str], ...] = (_slip, _open, _close, _lower, _swap, _swap, _to_front)
