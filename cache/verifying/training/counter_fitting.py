"""Word vectors that are pulled together for synonyms and apart for the rest.

Mrkšić et al., "Counter-fitting Word Vectors to Linguistic Constraints" (NAACL 2016), with one map that all words share
beside the vector that each is moved by, so that words without a relation are moved as well; a pair of words is told by
the logistic of its cosine, and the steps are those of Adam (Kingma and Ba 2015).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]
    Pairs = NDArray[np.int64]

_STEPS = 3_000
_ALIKE, _SISTERS, _ANTONYMS, _RANDOM = 512, 512, 128, 256
"""Pairs of each sort in one step."""
_RATE = {"moved": 3e-3}
_USUAL_RATE = 1e-3
_STAY = 2e-3
"""What it costs to move a word by itself: a word with few relations stays where the shared map puts it."""
_DECAY, _SQUARES, _TINY = 0.9, 0.999, 1e-8
"""Adam's: how long a gradient and its square are remembered."""


def counter_fit(
    vectors: Floats,
    alike: Pairs,
    sisters: Pairs,
    antonyms: Pairs,
    dimensions: int,
    chance: np.random.Generator,
    steps: int = _STEPS,
) -> Floats:
    """Return a unit vector of each word, float32 [words, dimensions].

    Args:
        vectors: Where the words begin, float32 [words, wide].
        alike: Pairs that mean the same, by row, int64 [pairs, 2].
        sisters: Pairs of one sort that do not, likewise.
        antonyms: Pairs that mean the contrary, likewise.
        dimensions: How many are kept.
        chance: What a step looks at, and where the map begins.
        steps: How often everything is moved a little.
    """
    fitting = _Fitting.begin(vectors - vectors.mean(axis=0), dimensions, chance)
    same = np.zeros(_ALIKE + _SISTERS + _ANTONYMS + _RANDOM, np.float32)
    same[:_ALIKE] = 1
    for _ in range(steps):
        drawn = [
            pairs[chance.integers(len(pairs), size=size)]
            for pairs, size in ((alike, _ALIKE), (sisters, _SISTERS), (antonyms, _ANTONYMS))
        ]
        fitting.step(np.concatenate([*drawn, chance.integers(len(vectors), size=(_RANDOM, 2))]), same)
    return fitting.units(np.arange(len(vectors)))


@dataclass(slots=True)
class _Seen:
    """What a step keeps of the way forward: rows, the hidden layer, lengths and unit vectors."""

    rows: NDArray[np.int64]
    hidden: Floats
    lengths: Floats
    units: Floats


@dataclass(slots=True)
class _Fitting:
    words: Floats
    learned: dict[str, Floats]
    steps: int = 0
    means: dict[str, Floats] = field(default_factory=dict)
    squares: dict[str, Floats] = field(default_factory=dict)

    @classmethod
    def begin(cls, words: Floats, dimensions: int, chance: np.random.Generator) -> _Fitting:
        """Begin at the main axes of the words."""
        wide = words.shape[1]
        values, axes = np.linalg.eigh(np.cov(words.T))
        bound = wide**-0.5
        learned = {
            "axes": axes[:, np.argsort(-values)[:dimensions]],
            "inner": chance.uniform(-bound, bound, (wide, wide)),
            "bias": chance.uniform(-bound, bound, wide),
            "outer": chance.uniform(-bound, bound, (wide, dimensions)),
            "moved": np.zeros((len(words), dimensions)),
            "scale": np.array([6.0]),
            "offset": np.array([-3.0]),
        }
        return cls(words, {name: value.astype(np.float32) for name, value in learned.items()})

    def units(self, rows: NDArray[np.int64]) -> Floats:
        return self._forward(rows).units

    def _forward(self, rows: NDArray[np.int64]) -> _Seen:
        words, learned = self.words[rows], self.learned
        hidden = np.maximum(words @ learned["inner"] + learned["bias"], 0)
        placed = words @ learned["axes"] + hidden @ learned["outer"] + learned["moved"][rows]
        lengths = np.maximum(np.linalg.norm(placed, axis=1, keepdims=True), 1e-12)
        return _Seen(rows, hidden, lengths, placed / lengths)

    def step(self, pairs: Pairs, same: Floats) -> None:
        """Move everything a little, so that the logistic of these pairs says more nearly whether they are the same."""
        seen = self._forward(pairs.T.reshape(-1))
        ours, theirs = np.split(seen.units, 2)
        cosines = (ours * theirs).sum(axis=1)
        odds = self.learned["scale"] * cosines + self.learned["offset"]
        off = (1 / (1 + np.exp(-odds)) - same) / len(same)
        gradients = self._backward(
            seen, (off * self.learned["scale"])[:, None] * np.concatenate((theirs, ours)).reshape(2, len(same), -1)
        )
        gradients["scale"], gradients["offset"] = np.array([off @ cosines]), np.array([off.sum()])
        self._descend(gradients)

    def _backward(self, seen: _Seen, pull: Floats) -> dict[str, Floats]:
        """Return the gradients, given that with respect to the unit vectors, [2, pairs, dimensions]."""
        pull = pull.reshape(seen.units.shape)
        pull = (pull - seen.units * (pull * seen.units).sum(axis=1, keepdims=True)) / seen.lengths
        words, learned = self.words[seen.rows], self.learned
        into = (pull @ learned["outer"].T) * (seen.hidden > 0)
        moved = np.zeros_like(learned["moved"])
        np.add.at(moved, seen.rows, pull + 2 * _STAY / len(seen.rows) * learned["moved"][seen.rows])
        return {
            "axes": words.T @ pull,
            "inner": words.T @ into,
            "bias": into.sum(axis=0),
            "outer": seen.hidden.T @ pull,
            "moved": moved,
        }

    def _descend(self, gradients: dict[str, Floats]) -> None:
        self.steps += 1
        for name, gradient in gradients.items():
            mean = self.means.setdefault(name, np.zeros_like(self.learned[name]))
            square = self.squares.setdefault(name, np.zeros_like(self.learned[name]))
            mean += (1 - _DECAY) * (gradient - mean)
            square += (1 - _SQUARES) * (gradient * gradient - square)
            step = _RATE.get(name, _USUAL_RATE) / (1 - _DECAY**self.steps)
            self.learned[name] -= step * mean / (np.sqrt(square / (1 - _SQUARES**self.steps)) + _TINY)
