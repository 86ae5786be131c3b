"""What is counted in a prompt for next to nothing, beside its embedding: pure Python, some tenths of a millisecond.

An embedding says what a text is about; how hard it is shows as well in what it leaves out: length, numbers, symbols,
negations, how many conditions are put, how many answers are offered. Only the beginning of a long text is looked at.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from math import log1p
from typing import Final
from zlib import crc32

READS: Final = 6_000
"""Characters that are looked at; of what comes after only the length counts."""

BUCKETS: Final = 1 << 14
"""Into how many places words and pairs of words are hashed (Weinberger et al. 2009, arXiv:0902.2206)."""

_TERMS: Final = 600

_WORD: Final = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?|\d+(?:[.,]\d+)*")
_NUMBER: Final = re.compile(r"\d+(?:[.,]\d+)*")
_SENTENCE: Final = re.compile(r"[.!?](?:\s|$)")
_OPTION: Final = re.compile(r"(?m)^\s*\(?[A-J1-9][.):]\s*(.*)$")
_OPERATOR: Final = re.compile(r"[-+*/=<>^%±×÷≤≥√∑∫]")
_MATHS: Final = re.compile(
    r"\\[a-zA-Z]+|\$[^$\s][^$]*\$|\b(?:sqrt|integral|derivative|equation|polynomial|matrix|theorem|proof|prove|modulo|"
    r"probability|triangle|vector|prime|divisible|function f|f\(x\))\b|[xyzn]\s*[\^=]|[∞∈∀∃≡]",
    re.IGNORECASE,
)
_CODE: Final = re.compile(
    r"```|\bdef \w+\(|\bclass \w+|\breturn\b|\bimport \w+|#include|\bfunction\b\s*\w*\(|=>|\bassert\b|</\w+>|[{};]\s*$|"
    r"\bSELECT\b.+\bFROM\b|\bpython\b|\bjavascript\b",
    re.MULTILINE,
)
_NOT: Final = re.compile(
    r"\b(?:not|no|never|none|neither|nor|except|false|incorrect|least|without|\w+n['’]t)\b", re.IGNORECASE
)
_BOUND: Final = re.compile(
    r"\b(?:must|should|exactly|only|at least|at most|no more than|no less than|each|every|all of|unless|if|then|"
    r"suppose|assume|given that|such that|respectively|ensure|format|json|words or less|bullet)\b",
    re.IGNORECASE,
)
_COMPARED: Final = re.compile(
    r"\b(?:more|less|fewer|greater|twice|thrice|double|triple|half|third|quarter|times|percent|percentage|ratio|"
    r"average|per|remaining|left|total|altogether|than|same)\b|%",
    re.IGNORECASE,
)
_TIMES: Final = re.compile(
    r"\b(?:second|minute|hour|day|week|month|year|today|tomorrow|yesterday|morning|evening)s?\b", re.IGNORECASE
)
_MONEY: Final = re.compile(r"[$€£¥]\s?\d|\b(?:dollar|cent|euro|pound)s?\b|\bprice|\bcosts?\b", re.IGNORECASE)
_HOW_MANY: Final = re.compile(r"\bhow (?:many|much|long|far|old|fast|often)\b", re.IGNORECASE)
_WHY: Final = re.compile(r"\b(?:why|explain|because|cause|reason|discuss|analy[sz]e|compare|evaluate)\b", re.IGNORECASE)
_WHICH: Final = re.compile(r"\b(?:which|what|who|whom|whose|where|when)\b", re.IGNORECASE)
_WRITE: Final = re.compile(
    r"\b(?:write|compose|draft|story|poem|essay|email|letter|summari[sz]e|rewrite|translate|list|generate|create)\b",
    re.IGNORECASE,
)
_ROMAN: Final = re.compile(r"\b(?:I{1,3}|IV|statement \d|scenario \d)\b[.:,|]?", re.IGNORECASE)
_BLANK: Final = re.compile(r"_{2,}|\.{3,}|\[blank\]", re.IGNORECASE)
_NAMES: Final = re.compile(r"(?<=[a-z,;] )[A-Z][a-z]+")
_QUOTED: Final = re.compile(r"[\"“”«»]")


@dataclass(frozen=True, slots=True)
class PromptFeatures:
    """What is counted in a prompt. Counts are logarithms of one more than the count, shares are 0 to 1.

    Attributes:
        terms: Words and pairs of neighbours, hashed into `BUCKETS` places, each once, ascending.
    """

    characters: float
    words: float
    lines: float
    sentences: float
    word_length: float
    long_words: float
    repeated: float
    digits: float
    numbers: float
    distinct_numbers: float
    largest_number: float
    decimals: float
    operators: float
    maths: float
    code: float
    foreign: float
    accents: float
    capitals: float
    names: float
    negations: float
    bounds: float
    comparisons: float
    times: float
    money: float
    how_many: float
    why: float
    which: float
    write: float
    questions: float
    asks_last: float
    statements: float
    blanks: float
    quotes: float
    options: float
    option_length: float
    option_spread: float
    option_numbers: float
    turns: float
    tools: float
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
    words = _WORD.findall(read.lower())
    letters = [word for word in words if not word[0].isdigit()]
    numbers = _NUMBER.findall(read)
    options = [found.strip() for found in _OPTION.findall(read)] if "\n" in read else []
    option_lengths = [len(option) for option in options]
    size, count = max(len(read), 1), max(len(words), 1)

    def share(pattern: re.Pattern[str]) -> float:
        return log1p(len(pattern.findall(read)))

    return PromptFeatures(
        characters=log1p(len(text)),
        words=log1p(len(words)),
        lines=log1p(read.count("\n")),
        sentences=share(_SENTENCE),
        word_length=sum(map(len, letters)) / max(len(letters), 1) / 10,
        long_words=sum(len(word) > 9 for word in letters) / count,  # noqa: PLR2004  letters of a long word
        repeated=1 - len(set(words)) / count,
        digits=sum(map(len, numbers)) / size,
        numbers=log1p(len(numbers)),
        distinct_numbers=log1p(len(set(numbers))),
        largest_number=log1p(log1p(max(map(_value, numbers), default=0.0))),
        decimals=log1p(sum("." in number for number in numbers)),
        operators=share(_OPERATOR),
        maths=share(_MATHS),
        code=share(_CODE),
        foreign=sum(character > "ɏ" for character in read if character.isalpha()) / size,
        accents=sum("\x7f" < character <= "ɏ" for character in read) / size,
        capitals=sum(map(str.isupper, read)) / size,
        names=share(_NAMES),
        negations=share(_NOT),
        bounds=share(_BOUND),
        comparisons=share(_COMPARED),
        times=share(_TIMES),
        money=share(_MONEY),
        how_many=share(_HOW_MANY),
        why=share(_WHY),
        which=share(_WHICH),
        write=share(_WRITE),
        questions=log1p(read.count("?")),
        asks_last=float(read.rstrip().endswith(("?", ":"))),
        statements=share(_ROMAN),
        blanks=share(_BLANK),
        quotes=share(_QUOTED),
        options=log1p(len(options)),
        option_length=log1p(sum(option_lengths) / max(len(options), 1)),
        option_spread=log1p(max(option_lengths, default=0) - min(option_lengths, default=0)),
        option_numbers=sum(bool(_NUMBER.search(option)) for option in options) / max(len(options), 1),
        turns=log1p(turns),
        tools=log1p(tools),
        terms=_terms(words),
    )


def _value(number: str) -> float:
    try:
        return float(number.replace(",", "")[:300])
    except ValueError:
        return 0.0


def _terms(words: list[str]) -> tuple[int, ...]:
    read = words[:_TERMS]
    pairs = [f"{first} {second}" for first, second in zip(read, read[1:], strict=False)]
    return tuple(sorted({crc32(term.encode()) % BUCKETS for term in (*read, *pairs)}))
