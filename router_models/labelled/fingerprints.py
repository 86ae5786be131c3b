"""Knows prompts again that were seen before, whole or nearly so, from 24 bytes each and without their text.

A prompt is the same as another when only case, spacing or punctuation differ. It is nearly the same when its words,
pairs and triples of words are mostly those of the other: their Jaccard similarity is estimated by min-wise hashing
(Broder 1997), with the lowest byte of each minimum kept (Li and König 2010, arXiv:0910.3349).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_MINIMA: Final = 16
_ALIKE: Final = 11
"""Of 16 minima, how many must agree: a similarity of about 0.7."""

_SPACES: Final = re.compile(r"[\W_]+")
_MULTIPLIERS: Final = np.random.default_rng(97).integers(1, 1 << 63, _MINIMA, np.uint64) | np.uint64(1)
_ROWS: Final = 256


@dataclass(frozen=True, slots=True)
class Fingerprints:
    """Prompts without their texts.

    Attributes:
        whole: A hash of each text, uint64 [prompts].
        minima: What its terms look like, uint8 [prompts, 16].
    """

    whole: NDArray[np.uint64]
    minima: NDArray[np.uint8]

    @classmethod
    def of(cls, texts: Sequence[str], terms: Sequence[Sequence[int]]) -> Fingerprints:
        """Take the fingerprints of prompts, from their texts and their hashed terms (`PromptFeatures.terms`)."""
        whole = np.array([_hash(text) for text in texts], np.uint64)
        minima = np.zeros((len(texts), _MINIMA), np.uint8)
        for row, of_text in enumerate(terms):
            minima[row] = _minima(of_text or (int(whole[row]) % 2**32,))
        return cls(whole, minima)

    def seen(self, others: Fingerprints) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Say which of these prompts are among others: the same, and nearly the same (which includes the same)."""
        same = np.isin(self.whole, others.whole)
        near = same.copy()
        for start in range(0, len(self.minima), _ROWS):
            here = slice(start, start + _ROWS)
            near[here] |= _agreeing(self.minima[here], others.minima)
        return same, near

    def first(self) -> NDArray[np.bool_]:
        """Say which of these prompts are nearly the same as none before them."""
        fresh = np.ones(len(self.whole), np.bool_)
        fresh[np.setdiff1d(np.arange(len(fresh)), np.unique(self.whole, return_index=True)[1])] = False
        for start in range(0, len(self.minima), _ROWS):
            rows = np.arange(start, min(start + _ROWS, len(fresh)))
            before = self.minima[: rows[-1] + 1]
            alike = _agreements(self.minima[rows], before) >= _ALIKE
            fresh[rows] &= ~(alike & (np.arange(len(before)) < rows[:, None])).any(axis=1)
        return fresh

    def taken(self, at: NDArray[np.bool_] | NDArray[np.intp]) -> Fingerprints:
        """Return those of some prompts."""
        return Fingerprints(self.whole[at], self.minima[at])


def _agreeing(rows: NDArray[np.uint8], others: NDArray[np.uint8]) -> NDArray[np.bool_]:
    if not len(others):
        return np.zeros(len(rows), np.bool_)
    return _agreements(rows, others).max(axis=1) >= _ALIKE


def _agreements(rows: NDArray[np.uint8], others: NDArray[np.uint8]) -> NDArray[np.uint8]:
    found = np.zeros((len(rows), len(others)), np.uint8)
    for place in range(_MINIMA):
        found += rows[:, place, None] == others[:, place]
    return found


def _hash(text: str) -> int:
    plain = _SPACES.sub(" ", text.casefold()).strip() or text
    return int.from_bytes(blake2b(plain.encode(), digest_size=8).digest())


def _minima(terms: Sequence[int]) -> NDArray[np.uint8]:
    mixed = (np.asarray(terms, np.uint64)[:, None] + np.uint64(1)) * _MULTIPLIERS
    mixed ^= mixed >> np.uint64(29)
    return ((mixed * _MULTIPLIERS[::-1]).min(axis=0) >> np.uint64(40)).astype(np.uint8)
