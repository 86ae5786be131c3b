"""What a model that reads lower case without accents does not see: signs, accents, capitals that make another word.

*C*, *C#* and *C++* may be one word to it, as may *resume* and *résumé*, *polish* and *Polish*, `<` and `>`, or any two
emojis. A text that is written without any capitals or accents might mean either, and is kept apart from neither.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from cache.guards.words import terms

if TYPE_CHECKING:
    from cache.guards.words import Words

_RUN = re.compile(r"[^\w\s]+")
_SIGNS: Final = frozenset("#@\\{}")
_TWICE: Final = frozenset("&*")
_ORDINARY: Final = frozenset("°™®©`\u00b4¨")
_TOKEN = re.compile(r"[^\W\d_]+")
_TWO_WORDS: Final = frozenset(
    terms("polish turkey china us who nice bath reading job bill mark rose will jack frank sue")
)
"""Words that mean something else with a capital."""


@dataclass(frozen=True, slots=True)
class Unread:
    """What of a question such a model does not see.

    Attributes:
        signs: Its signs and emojis, each run as often as it stands there.
        accented: Its words with accents, by what is left of them without.
        plain: Its words without.
        capital: Those of its words that mean something else with a capital, and have one within a sentence.
        small: And those that have none, in a text with other capitals.
    """

    signs: frozenset[tuple[str, int]]
    accented: frozenset[tuple[str, str]]
    plain: frozenset[str]
    capital: frozenset[str]
    small: frozenset[str]


def read(words: Words) -> Unread:
    """Find the signs, the accents, and the capitals that matter."""
    runs = Counter(run for run in map(_sign, _RUN.findall(words.raw)) if run)
    tokens = [(match.group(), _begins(words.raw, match.start())) for match in _TOKEN.finditer(words.raw)]
    accented = {(_bare(token), token.lower()) for token, _ in tokens if not token.isascii()}
    telling = [token for token, first in tokens if not first and token.lower() in _TWO_WORDS]
    cased = any(token[0].isupper() for token, _ in tokens) and not words.raw.isupper()
    return Unread(
        signs=frozenset(runs.items()),
        accented=frozenset(pair for pair in accented if pair[0] != pair[1]),
        plain=frozenset(token.lower() for token, _ in tokens if token.isascii()),
        capital=frozenset(token.lower() for token in telling if token[0].isupper() and cased),
        small=frozenset(token for token in telling if token[0].islower() and cased),
    )


def differ_in_signs(a: Unread, b: Unread) -> bool:
    """Tell whether one question has a sign that the other has not, or has it more often."""
    return a.signs != b.signs


def differ_in_accents(a: Unread, b: Unread) -> bool:
    """Tell whether a word stands in both with different accents, or in one without."""
    return _accents_differ(a, b) or _accents_differ(b, a)


def differ_in_capitals(a: Unread, b: Unread) -> bool:
    """Tell whether a word that means something else with a capital has one in one question alone."""
    return bool(a.capital & b.small or a.small & b.capital)


def _accents_differ(a: Unread, b: Unread) -> bool:
    theirs = {bare for bare, _ in b.accented}
    return any(bare in theirs or bare in b.plain for bare, _ in a.accented - b.accented)


def _sign(run: str) -> str:
    kept = [char for char in run if _is_sign(char)]
    return "".join(char for char in kept if char not in _TWICE or len(kept) > 1)


def _is_sign(char: str) -> bool:
    if char in _SIGNS or char in _TWICE:
        return True
    kind = unicodedata.category(char)
    return kind in {"Sm", "Sk", "So"} and char not in _ORDINARY


def _bare(token: str) -> str:
    parts = unicodedata.normalize("NFD", token.lower())
    return "".join(char for char in parts if unicodedata.category(char) != "Mn")


def _begins(text: str, at: int) -> bool:
    """Tell whether a sentence begins at a place."""
    before = text[:at].rstrip(" \"'(")
    return not before or before[-1] in ".?!:"
