"""Which words mean the same: vectors of single words that were pulled together for synonyms and apart for the rest.

The vectors of a sentence embedding put *hot* beside *cold* and *pool* beside *gym*, for they are talked about alike.
Here synonyms were attracted and antonyms and sisters under one hypernym repelled, after Mrkšić et al., "Counter-
fitting Word Vectors to Linguistic Constraints" (NAACL 2016), with the relations of the Open English WordNet (CC BY
4.0).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from cache.guards.words import stem

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

_COMMON, _RARE = 0.3, 1.0
"""What the most frequent word weighs, and the rarest."""


@dataclass(frozen=True, slots=True)
class Lexicon:
    """Words with their vectors.

    Attributes:
        rows: The row of each word, most frequent first.
        vectors: Unit vectors, float32 [words, dimensions].
        weights: How much a word says by being rare, float32 [words].
    """

    rows: Mapping[str, int]
    vectors: NDArray[np.float32]
    weights: NDArray[np.float32]

    @classmethod
    def of(cls, words: Sequence[str], vectors: NDArray[np.int8]) -> Lexicon:
        """Open a lexicon from words, most frequent first, and vectors scaled to whole numbers."""
        units = vectors.astype(np.float32)
        units /= np.maximum(np.linalg.norm(units, axis=1, keepdims=True), 1e-6)
        ranks = np.log1p(np.arange(len(words), dtype=np.float32)) / np.log1p(max(1, len(words) - 1))
        return cls(
            {word: row for row, word in enumerate(words)},
            units,
            (_COMMON + (_RARE - _COMMON) * ranks).astype(np.float32),
        )

    def row(self, word: str) -> int:
        """Return the row of a word or of its stem, or -1 when neither is known."""
        found = self.rows.get(word)
        return self.rows.get(stem(word), -1) if found is None else found

    def look_up(self, rows: Sequence[int]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return vectors [rows, dimensions] and weights [rows]; an unknown word is like none and weighs most."""
        if not rows:
            return np.zeros((0, self.vectors.shape[1]), np.float32), np.zeros(0, np.float32)
        at = np.asarray(rows)
        known = at >= 0
        return self.vectors[at] * known[:, None], np.where(known, self.weights[at], np.float32(_RARE))
