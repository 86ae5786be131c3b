"""What is counted in a prompt for next to nothing, beside its embedding: pure Python, some tenths of a millisecond.

An embedding says what a text is about; how hard it is shows as well in what it leaves out: length, numbers, symbols,
negations, how many conditions are put, how many answers are offered. Only the beginning of a long text is looked at.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, fields
from itertools import pairwise
from math import log1p
from typing import Final
from zlib import crc32

from router_models.cues import CUES

READS: Final = 3_000
"""Characters that are looked at; of what comes after only the length counts."""

_PAIR: Final = 0x9E3779B1
_TRIPLE: Final = 0x85EBCA6B
_BITS: Final = 0xFFFFFFFF

_LONG: Final = 9
_FOREIGN: Final = "\u024f"
"""The last of the Latin letters."""

_WORD: Final = re.compile(r"[^\W\d_]+(?:['\u2019][^\W\d_]+)?|\d+(?:[.,]\d+)*")
_OPTION: Final = re.compile(r"\n\s*\(?[A-J1-9][.):]\s*([^\n]*)")
_OPERATORS: Final = "+*/=<>^\u00d7÷≤≥√∑∫∞∈"
_LATEX: Final = re.compile(r"\\[a-zA-Z]+|[xyzn]\s?[\^=]")
_CODE: Final = re.compile(r"```|\bdef \w+\(|\bclass \w+[(:]|\breturn |\bimport \w+|#include|=>|</\w+>|[{};]\n|\(\)")
_NAMES: Final = re.compile(r"[a-z,;] [A-Z][a-z]+")
_CAPITAL: Final = re.compile(r"[A-Z]")
_NUMBER: Final = re.compile(r"\d")


@dataclass(frozen=True, slots=True)
class PromptFeatures:
    """What is counted in a prompt. Counts are logarithms of one more than the count, shares are 0 to 1.

    Attributes:
        terms: Words, pairs and triples of neighbours, hashed to 32 bits, each once.
    """

    characters: float
    words: float
    lines: float
    sentences: float
    sentence_words: float
    last_sentence: float
    word_length: float
    long_words: float
    repeated: float
    digits: float
    numbers: float
    distinct_numbers: float
    largest_number: float
    decimals: float
    percents: float
    operators: float
    latex: float
    code: float
    foreign: float
    accents: float
    capitals: float
    names: float
    commas: float
    quotes: float
    questions: float
    asks_last: float
    how_many: float
    at_least: float
    as_many: float
    blanks: float
    options: float
    option_length: float
    option_spread: float
    option_numbers: float
    turns: float
    tools: float
    maths: float
    negations: float
    bounds: float
    comparisons: float
    fractions: float
    ifs: float
    rests: float
    earlier: float
    thans: float
    totals: float
    ordinals: float
    numerals: float
    times: float
    money: float
    why: float
    which: float
    write: float
    statements: float
    terms: tuple[int, ...] = ()

    def row(self) -> tuple[float, ...]:
        """Return all but the terms, in the order of `NAMES`."""
        return tuple(getattr(self, name) for name in NAMES)


NAMES: Final = tuple(field.name for field in fields(PromptFeatures) if field.name != "terms")
"""What the places of a row are called; an artifact names those it was trained on."""


def features_of(text: str, *, turns: int = 1, tools: int = 0) -> PromptFeatures:
    """Count what can be counted in a prompt.

    Args:
        text: The text of the last user turn, the same that is embedded.
        turns: How many turns the user has had, this one included.
        tools: How many tools the request offers.
    """
    read = text[:READS]
    lowered = read.lower()
    words = _WORD.findall(lowered)
    counted = Counter(words)
    numbers = [word for word in words if word[0].isdigit()]
    letters = sum(map(len, words)) - sum(map(len, numbers))
    size, count = max(len(read), 1), max(len(words), 1)
    sentences = 1 + sum(read.count(mark) for mark in (". ", "? ", "! "))
    stripped = read.rstrip(" .?!:\n")
    begins = max(stripped.rfind(mark) for mark in (". ", "? ", "\n"))
    return PromptFeatures(
        characters=log1p(len(text)),
        words=log1p(len(words)),
        lines=log1p(read.count("\n")),
        sentences=log1p(sentences),
        sentence_words=log1p(len(words) / sentences),
        last_sentence=log1p(len(stripped) - max(begins, 0)),
        word_length=letters / max(len(words) - len(numbers), 1) / 10,
        long_words=sum(many for word, many in counted.items() if len(word) > _LONG) / count,
        repeated=1 - len(counted) / count,
        digits=sum(map(len, numbers)) / size,
        numbers=log1p(len(numbers)),
        distinct_numbers=log1p(len(set(numbers))),
        largest_number=log1p(log1p(max(map(_value, numbers), default=0.0))),
        decimals=log1p(sum("." in number for number in numbers)),
        percents=log1p(read.count("%")),
        operators=log1p(sum(map(read.count, _OPERATORS))),
        latex=log1p(len(_LATEX.findall(read))),
        code=log1p(len(_CODE.findall(read))),
        **_letters(read, size),
        names=log1p(len(_NAMES.findall(read))),
        commas=log1p(read.count(",")),
        quotes=log1p(sum(map(read.count, '"\u201c«'))),
        questions=log1p(read.count("?")),
        asks_last=float(read.rstrip().endswith(("?", ":"))),
        how_many=log1p(sum(map(lowered.count, ("how many", "how much", "how long", "how far", "how old")))),
        at_least=log1p(sum(map(lowered.count, ("at least", "at most", "no more than", "no less than", "such that")))),
        as_many=log1p(sum(map(lowered.count, ("as many", "as much", "as old", "of them", "of those", "of these")))),
        blanks=log1p(sum(map(read.count, ("__", "...", "…")))),
        **_options(read),
        turns=log1p(turns),
        tools=log1p(tools),
        **{name: log1p(sum(counted[word] for word in cues & counted.keys())) for name, cues in CUES.items()},
        terms=_terms(words, counted),
    )


def _letters(read: str, size: int) -> dict[str, float]:
    plain = read.isascii()
    return {
        "foreign": 0.0 if plain else sum(one > _FOREIGN for one in read if one.isalpha()) / size,
        "accents": 0.0 if plain else sum("\x7f" < one <= _FOREIGN for one in read) / size,
        "capitals": len(_CAPITAL.findall(read)) / size,
    }


def _options(read: str) -> dict[str, float]:
    found = _OPTION.findall(read)
    lengths = [len(option.strip()) for option in found]
    return {
        "options": log1p(len(found)),
        "option_length": log1p(sum(lengths) / max(len(found), 1)),
        "option_spread": log1p(max(lengths, default=0) - min(lengths, default=0)),
        "option_numbers": sum(bool(_NUMBER.search(option)) for option in found) / max(len(found), 1),
    }


def _value(number: str) -> float:
    try:
        return float(number.replace(",", "")[:300])
    except ValueError:  # 1.2.3
        return 0.0


def _terms(words: list[str], counted: Counter[str]) -> tuple[int, ...]:
    hashed = {word: crc32(word.encode()) for word in counted}
    ones = [hashed[word] for word in words]
    twos = [(one * _PAIR + other) & _BITS for one, other in pairwise(ones)]
    threes = [(two * _TRIPLE + one) & _BITS for two, one in zip(twos, ones[2:], strict=False)]
    return tuple({*ones, *twos, *threes})
