"""Which words the Open English WordNet holds to be alike, and which not (McCrae et al. 2020; CC BY 4.0)."""

from __future__ import annotations

import itertools
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import yaml

if TYPE_CHECKING:
    import random
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

_Pair = tuple[int, int]
_FIRST, _KNOWN, _SISTERLY = 1, 3, 1
"""Two words are synonyms by a sense that is among the first two of one and the first four of the other, and sisters by
senses that are among the first two of both: rarer senses say little of what a word means in a question."""
_SISTERS, _SISTER_PAIRS = 60, 150
"""How many words under one hypernym are taken, and how many pairs of them."""


@dataclass(frozen=True, slots=True)
class Relations:
    """Pairs of words, by their rows, each pair once and in order.

    Attributes:
        synonyms: Of one synset.
        antonyms: Said to be each other's contrary.
        sisters: Of two synsets under one hypernym, and neither of the others.
    """

    synonyms: list[_Pair]
    antonyms: list[_Pair]
    sisters: list[_Pair]


@dataclass(frozen=True, slots=True)
class _WordNet:
    """What is read of the files: words with the rank of a sense by synset, contrary words, synsets by hypernym."""

    members: Mapping[str, list[tuple[int, int]]]
    contraries: Iterable[_Pair]
    under: Mapping[str, list[str]]


def read_relations(folder: Path, words: Sequence[str], chance: random.Random) -> Relations:
    """Read how words are related.

    Args:
        folder: `src/yaml` of the WordNet's repository.
        words: The words that count, lower case.
        chance: Which of many sisters are taken.
    """
    net = _read(folder, {word: row for row, word in enumerate(words)})
    synonyms = {
        _pair(a, b)
        for found in net.members.values()
        for (rank, a), (other, b) in itertools.combinations(found, 2)
        if a != b and min(rank, other) <= _FIRST and max(rank, other) <= _KNOWN
    }
    antonyms = {_pair(a, b) for a, b in net.contraries if a != b}
    sisters = set(_sisters(net, chance)) - synonyms - antonyms
    return Relations(sorted(synonyms - antonyms), sorted(antonyms), sorted(sisters))


def _sisters(net: _WordNet, chance: random.Random) -> Iterator[_Pair]:
    for _, synsets in sorted(net.under.items()):
        found = [(row, at) for at in sorted(synsets) for rank, row in net.members.get(at, ()) if rank <= _SISTERLY]
        found = chance.sample(found, _SISTERS) if len(found) > _SISTERS else found
        pairs = [_pair(a, b) for (a, at), (b, other) in itertools.combinations(found, 2) if at != other and a != b]
        yield from chance.sample(pairs, min(_SISTER_PAIRS, len(pairs)))


def _read(folder: Path, rows: Mapping[str, int]) -> _WordNet:
    members: dict[str, list[tuple[int, int]]] = defaultdict(list)
    word_of: dict[str, str] = {}
    contraries: list[tuple[str, str]] = []
    for word, sense, rank in _senses(folder):
        word_of[sense["id"]] = word
        contraries += ((sense["id"], other) for other in sense.get("antonym", ()))
        if word in rows:
            members[sense["synset"]].append((rank, rows[word]))
    named = ((word_of[a], word_of.get(b, "")) for a, b in contraries)
    return _WordNet(members, [(rows[a], rows[b]) for a, b in named if a in rows and b in rows], _under(folder))


def _senses(folder: Path) -> Iterator[tuple[str, dict[str, Any], int]]:
    """Give each sense with its word and its rank among those of the word's part of speech."""
    for path in sorted(folder.glob("entries-*.yaml")):
        for word, entry in _load(path).items():
            for part in entry.values():
                for rank, sense in enumerate(part.get("sense", ())):
                    yield str(word).lower(), sense, rank


def _under(folder: Path) -> dict[str, list[str]]:
    under: dict[str, list[str]] = defaultdict(list)
    for path in sorted(folder.glob("*.*.yaml")):
        for name, synset in _load(path).items():
            for hypernym in (*synset.get("hypernym", ()), *synset.get("instance_hypernym", ())):
                under[hypernym].append(name)
    return under


def _load(path: Path) -> dict[Any, Any]:
    with path.open("rb") as file:
        return yaml.load(file, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506  both are safe


def _pair(a: int, b: int) -> _Pair:
    return min(a, b), max(a, b)
