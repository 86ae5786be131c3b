"""Names: what is true of one place, product, person or language is not true of another.

A name is a word with a capital where the sentence does not ask for one, or a member of a closed class (countries,
large cities, languages, currencies apart, systems and brands that are asked about most) however it is written.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cache.guards import moments
from cache.guards.words import FUNCTION, stem, terms

if TYPE_CHECKING:
    from cache.guards.words import Words

_TOKEN = re.compile(r"[^\W_][\w&+#-]*(?:'[^\W\d_]+)?")
_SENTENCE_END = re.compile(r"[.!?:;]\s*$|^\W*$|[\"(]$")
_SHORTEST_MISSPELT = 6
_ALIKE = """
    australia australian | austria austrian | belgium belgian | brazil brazilian | canada canadian |
    china chinese | denmark danish | egypt egyptian | english england | eu european europe | finland finnish |
    france french | germany german | go golang | greece greek | hungary hungarian | india indian | ireland irish |
    italy italian | japan japanese | javascript js | korea korean | kubernetes k8s | macos macbook osx mac |
    mexico mexican | netherlands dutch | norway norwegian | paris parisian | poland polish | portugal portuguese |
    postgres postgresql | rome roman | russia russian | scotland scottish | spain spanish | sweden swedish |
    switzerland swiss | thailand thai | turkey turkish | typescript ts | uk britain british |
    us usa america american | vietnam vietnamese | wales welsh | york nyc
"""
_SAME = {word: group.split()[0] for group in _ALIKE.split("|") for word in group.split()[1:]}
_KNOWN = frozenset(
    terms(
        """england english scotland wales ireland france germany spain italy portugal netherlands belgium switzerland
    austria australia canada mexico brazil argentina chile peru colombia china japan korea india pakistan bangladesh
    indonesia thailand vietnam malaysia singapore philippines russia ukraine poland sweden norway denmark finland
    iceland greece turkey egypt morocco nigeria kenya ghana ethiopia israel iran iraq syria qatar dubai croatia
    serbia romania bulgaria hungary slovakia slovenia czechia estonia latvia lithuania zealand cuba jamaica london
    paris berlin madrid rome vienna amsterdam brussels dublin lisbon zurich geneva munich hamburg milan barcelona
    manchester birmingham edinburgh glasgow cardiff belfast liverpool leeds bristol tokyo osaka beijing shanghai
    delhi mumbai sydney melbourne toronto vancouver montreal boston chicago seattle austin denver dallas houston
    miami atlanta philadelphia phoenix california texas florida heathrow gatwick stansted luton python java
    javascript typescript ruby rust golang kotlin scala perl php haskell swift windows macos linux ubuntu debian
    fedora android ios iphone ipad chrome firefox safari edge django flask fastapi react angular svelte pytorch
    tensorflow keras pandas numpy postgres mysql sqlite mongodb redis docker kubernetes aws azure gcp github gitlab
    bitbucket jenkins terraform ansible google amazon microsoft facebook instagram twitter whatsapp telegram netflix
    spotify uber paypal klarna stripe visa mastercard amex gmail outlook yahoo hotmail slack discord zoom excel
    ibuprofen paracetamol aspirin amoxicillin acetaminophen"""
    )
)


@dataclass(frozen=True, slots=True)
class Names:
    """The names in a question, and all its words to look for another's names in.

    Attributes:
        named: Names, by their stems in lower case.
        words: The stems of all words.
    """

    named: frozenset[str]
    words: frozenset[str]


def read(words: Words) -> Names:
    """Find the names of a question."""
    tokens = [(match.start(), match[0]) for match in _TOKEN.finditer(words.raw)]
    capital = [(start, token) for start, token in tokens if token[0].isupper()]
    titled = len(capital) * 2 > len(tokens) > 2  # noqa: PLR2004  a headline: its capitals say nothing
    found: set[str] = set()
    for start, token in capital:
        unforced = len(token) > 1 and any(letter.isupper() for letter in token[1:])
        if unforced or not (titled or _SENTENCE_END.search(words.raw[:start])):
            found |= {_same(part) for part in token.lower().removesuffix("'s").split("-")}
    found -= {_same(word) for word in FUNCTION} - {"us", "it"}
    found |= {_same(word) for word in words.words if word in _KNOWN or (word in _SAME and len(word) > 2)}  # noqa: PLR2004
    everything = frozenset(_same(part) for word in words.words for part in word.split("-"))
    named = frozenset(name for name in found if len(name) > 1 and not moments.names(name))
    return Names(named, everything | named)


def differ(a: Names, b: Names) -> bool:
    """Tell whether each question names something that the other does not have."""
    ours = a.named - b.words
    theirs = b.named - a.words
    return bool(ours and theirs) and any(not any(_misspelt(one, other) for other in theirs) for one in ours)


def _same(word: str) -> str:
    return _SAME.get(word) or _SAME.get(stem(word), stem(word))


def _misspelt(word: str, other: str) -> bool:
    """Tell whether two long words differ by one letter left out or by two that changed places."""
    short, long = sorted((word, other), key=len)
    if len(short) < _SHORTEST_MISSPELT - 1 or any(letter.isdigit() for letter in word + other):
        return False
    if len(short) == len(long):
        wrong = [at for at, (one, two) in enumerate(zip(short, long, strict=True)) if one != two]
        return len(wrong) == 2 and short[wrong[0]] == long[wrong[1]] and short[wrong[1]] == long[wrong[0]]  # noqa: PLR2004
    return len(long) == len(short) + 1 and any(long[:at] + long[at + 1 :] == short for at in range(1, len(long)))
