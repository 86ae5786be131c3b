"""Labelled pairs of questions: from the groups in `data/`, and from files of pairs."""

from __future__ import annotations

import gzip
import itertools
import json
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING

import numpy as np

from cache.verifying.training.rewording import reword

if TYPE_CHECKING:
    import random
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

_WORDINGS_OF_TWO = 3
"""How many pairs of two other wordings are taken of each group."""
_REWORDED_TRAPS = 2
_STRANGERS = 2
_SURELY_ANOTHER = 0.8
"""Questions of two groups that are more alike may be the same one, written twice."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two questions, and whether an answer to the one is a right answer to the other.

    Attributes:
        a: The one.
        b: The other.
        same: Whether it is.
        kind: What sort of pair it is.
        group: Pairs of one group are held out together.
        weight: How much it counts in training.
        made: Whether it was put together here and not written as a pair: it teaches, and measures nothing.
    """

    a: str
    b: str
    same: bool
    kind: str
    group: str
    weight: float = 1.0
    made: bool = False


def grouped(random: random.Random) -> Iterator[Pair]:
    """Make pairs of the question groups that come with the package."""
    paths = [path for path in (files("cache.verifying") / "data").iterdir() if path.name.endswith(".jsonl")]
    for path in sorted(paths, key=lambda path: path.name):
        for line in path.read_text("utf-8").splitlines():
            yield from _of_group(json.loads(line), random)


def _of_group(group: dict[str, list[str]], random: random.Random) -> Iterator[Pair]:
    name, base, same = str(group["id"]), str(group["base"]), group["same"]
    traps: list[dict[str, str]] = group["traps"]  # pyright: ignore[reportAssignmentType]  the one field of its kind
    for other in same:
        yield Pair(base, other, same=True, kind="paraphrase", group=name)
    for other in group["near"]:
        yield Pair(base, other, same=True, kind="near repeat", group=name)
    for other in (reword(base, random), reword(base, random)):
        yield Pair(base, other, same=True, kind="near repeat", group=name, made=True)
    wordings = list(itertools.combinations(same, 2))
    for a, b in random.sample(wordings, min(_WORDINGS_OF_TWO, len(wordings))):
        yield Pair(a, b, same=True, kind="two paraphrases", group=name)
    for trap in traps:
        yield Pair(base, trap["text"], same=False, kind=trap["kind"], group=name)
        yield Pair(random.choice(same), trap["text"], same=False, kind=f"{trap['kind']}, paraphrase", group=name)
    for trap in random.sample(traps, min(_REWORDED_TRAPS, len(traps))):
        yield Pair(
            reword(base, random), trap["text"], same=False, kind=f"{trap['kind']}, near repeat", group=name, made=True
        )


def given(path: Path, weight: float, random: random.Random) -> Iterator[Pair]:
    """Read the pairs of a file whose questions are text; what shares a question is one group."""
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8") as lines:
        rows = [row for row in map(json.loads, lines) if isinstance(row["a"], str) and isinstance(row["b"], str)]
    groups = _connected((row["a"], row["b"]) for row in rows)
    for row in rows:
        group = f"{path.name}:{groups[row['a']]}"
        yield Pair(row["a"], row["b"], same=bool(row["same"]), kind=str(row["kind"]), group=group, weight=weight)
    for question in sorted({row["a"] for row in rows}):
        group = f"{path.name}:{groups[question]}"
        yield Pair(question, reword(question, random), same=True, kind="near repeat", group=group, made=True)


def strangers(pairs: Sequence[Pair], vectors: Mapping[str, NDArray[np.float32]]) -> Iterator[Pair]:
    """Pair the first question of each group with the nearest questions of others, which it is not the same as.

    Args:
        pairs: What the questions are taken from.
        vectors: The unit vector of each question.
    """
    groups: dict[str, str] = {}
    for pair in pairs:
        if not pair.made:
            groups.setdefault(pair.a, pair.group)
            groups.setdefault(pair.b, pair.group)
    texts = sorted(groups)
    rows = np.stack([vectors[text] for text in texts])
    of = np.array([groups[text] for text in texts])
    for first in sorted({pair.a for pair in pairs if not pair.made}):
        similar = rows @ vectors[first]
        similar[(of == groups[first]) | (similar > _SURELY_ANOTHER)] = -1
        for at in np.argsort(-similar)[:_STRANGERS]:
            yield Pair(first, texts[at], same=False, kind="stranger", group=groups[first], made=True)


def _connected(edges: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Name the set of questions that each belongs to, by one of its members."""
    parents: dict[str, str] = {}

    def root(name: str) -> str:
        while parents.setdefault(name, name) != name:
            name = parents[name]
        return name

    for a, b in edges:
        parents[root(a)] = root(b)
    return {name: root(name) for name in list(parents)}
