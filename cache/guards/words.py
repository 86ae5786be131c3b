"""A question as words: folded, contractions opened, each word with its stem."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache


def terms(text: str) -> tuple[str, ...]:
    """Read a table of terms that is written as text."""
    return tuple(text.split())


_QUOTES = str.maketrans({"\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"', "\u2013": "-", "\u2014": "-"})
_WORD = re.compile(r"\d+(?:[.,:/]\d+)*(?:[^\W\d_]+)?|[^\W\d_]+\d[^\W_]*|[^\W\d_]+(?:'[^\W\d_]+)?|[£$€¥%]")
_CONTRACTED = {
    "can't": "can not",
    "cant": "can not",
    "cannot": "can not",
    "won't": "will not",
    "wont": "will not",
    "shan't": "shall not",
    "let's": "let us",
    "whats": "what is",
    "wheres": "where is",
    "hows": "how is",
    "whens": "when is",
    "whos": "who is",
    "im": "i am",
    "ive": "i have",
} | {
    f"{verb}nt": f"{verb} not"
    for verb in terms("do does did is are was were has have had would could should must need")
}
_TAILS = {
    "'s": "is",
    "'re": "are",
    "'m": "am",
    "'ve": "have",
    "'d": "would",
    "'ll": "will",
}
_HOSTS = frozenset(terms("what where how when who why that there here it he she this which"))
_SHORT = 3
_SPELT = {"centre": "center", "licence": "license", "enroll": "enrol", "cheque": "check", "programme": "program"}
_COMPOUND = re.compile(
    r"\b(full|part|half)[- ](time)\b|\b(in)[- ](store)\b|\b(one)[- ](way)\b|\b(round)[- ](trip)\b|\b(on)-(line)\b|"
    r"\b(self|pre|post|anti|multi)-(?=\w)"
)
_SUFFIXES = ("ing", "ed")
FUNCTION = frozenset(
    terms(
        """a an the this that these those some any of to in on at by for from with into onto about over under as than
    and or but if so then do does did done is are was were be been being am have has had having can could will would
    shall should may might must i me my mine myself you your yours we us our ours he him his she her hers it its
    they them their what which who whom whose when where why how there here not no please just also too very hi hey
    hello there thanks thank um uh er get got go going need want like tell know way possible able let out up off
    down one ones"""
    )
)
"""Words whose presence alone says little about what is asked."""


@dataclass(frozen=True, slots=True)
class Words:
    """A question as words.

    Attributes:
        raw: The text as it was asked, quotes and width folded, white space made single.
        text: The same in lower case.
        words: Its words in order, lower case, contractions opened.
        stems: The stem of each word.
    """

    raw: str
    text: str
    words: tuple[str, ...]
    stems: tuple[str, ...]


def words_of(question: str) -> Words:
    """Split a question into words."""
    raw = " ".join(unicodedata.normalize("NFKC", question).translate(_QUOTES).split())
    text = raw.lower()
    words = tuple(part for word in _WORD.findall(_COMPOUND.sub(_joined, text)) for part in _opened(word))
    return Words(raw, text, words, tuple(map(stem, words)))


@lru_cache(maxsize=16_384)
def stem(word: str) -> str:
    """Cut the endings of English inflection, so that `invoices`, `invoiced` and `invoicing` are one."""
    word = _SPELT.get(word, word)
    if len(word) <= _SHORT or not word.isalpha():
        return word
    if word.endswith("ies"):
        return word[:-3] + "y"
    if word.endswith(("ches", "shes", "sses", "xes", "zes")):
        word = word[:-2]
    elif word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    for suffix in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= _SHORT:
            word = word[: -len(suffix)]
            break
    if len(word) > _SHORT and word[-1] == word[-2] and word[-1] not in "aeious":
        word = word[:-1]
    word = word.replace("our", "or") if len(word) > _SHORT + 1 else word
    return word[:-1] if word.endswith("e") and len(word) > _SHORT else word


def _joined(compound: re.Match[str]) -> str:
    return "".join(part for part in compound.groups() if part)


def _opened(word: str) -> tuple[str, ...]:
    if word in _CONTRACTED:
        return tuple(_CONTRACTED[word].split())
    if word.endswith("n't"):
        return (word[:-3], "not")
    head, quote, tail = word.partition("'")
    if not quote:
        return (word,)
    if tail == "s" and head not in _HOSTS:
        return (head,)  # the possessive says who, and the word before it already does
    return (head, _TAILS.get(quote + tail, tail))
