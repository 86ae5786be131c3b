"""What the verifier knows of one question: its words, and what the embedding made of each token, made small.

The states of the tokens are too large to keep beside every stored answer; their `Marks` are a few hundred bytes: each
state on a few main axes, one byte an axis.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from cache.guards import Reading, read
from cache.guards.words import FUNCTION, terms

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cache.embedding import Reading as Embedded
    from cache.verifying.lexicon import Lexicon

_FILLING = FUNCTION | frozenset(
    terms(
        """quick question many cheers kindly process steps step procedure anyone somebody someone explain bit still
        actually really usually currently exactly name hiya"""
    )
)
_MOST_TOKENS = 64
_HEAD = struct.Struct("<BB")
"""How many tokens, and how many axes."""
_SCALE = 127


@dataclass(frozen=True, slots=True)
class Marks:
    """The tokens of a question, made small.

    Attributes:
        states: A unit vector for each token, on the main axes, scaled to bytes, int8 [tokens, axes].
        spans: Where each token begins and ends in the text, uint16 [tokens, 2].
    """

    states: NDArray[np.int8]
    spans: NDArray[np.uint16]

    def packed(self) -> bytes:
        """Write them down, to be kept beside a stored answer."""
        return _HEAD.pack(*self.states.shape) + self.spans.tobytes() + self.states.tobytes()

    @classmethod
    def unpacked(cls, packed: bytes) -> Marks:
        """Read what `packed` wrote.

        Raises:
            ValueError: It is something else.
        """
        tokens, axes = _HEAD.unpack_from(packed)
        begin = _HEAD.size + 4 * tokens
        spans = np.frombuffer(packed, np.uint16, 2 * tokens, _HEAD.size).reshape(tokens, 2)
        return cls(np.frombuffer(packed, np.int8, tokens * axes, begin).reshape(tokens, axes), spans)


def mark(embedded: Embedded, centre: NDArray[np.float32], axes: NDArray[np.float32]) -> Marks:
    """Make the token states of an embedding small.

    Args:
        embedded: The question as the embedding read it.
        centre: The mean of token states, float32 [dimensions].
        axes: The main axes of token states, float32 [dimensions, axes].
    """
    states = (embedded.states[1:-1][:_MOST_TOKENS] - centre) @ axes
    states /= np.maximum(np.linalg.norm(states, axis=1, keepdims=True), 1e-6)
    return Marks(
        np.rint(states * _SCALE).astype(np.int8),
        np.minimum(embedded.offsets[1:-1][:_MOST_TOKENS], np.iinfo(np.uint16).max).astype(np.uint16),
    )


@dataclass(frozen=True, slots=True)
class Question:
    """A question as the verifier sees it.

    Attributes:
        reading: What the guards know of it.
        words: Its telling words, each once.
        stems: Their stems.
        all_stems: The stems of all its words.
        trigrams: All runs of three letters.
        meanings: A vector of each telling word by the lexicon, zero where it is unknown, float32 [words, dimensions].
        known: Which telling words the lexicon has, bool [words].
        weights: How much each telling word says, float32 [words].
        uses: The unit vector of each telling word in this text, float32 [words, axes].
        tokens: The unit vector of each token in this text, float32 [tokens, axes].
    """

    reading: Reading
    words: tuple[str, ...]
    stems: tuple[str, ...]
    all_stems: frozenset[str]
    trigrams: frozenset[str]
    meanings: NDArray[np.float32]
    known: NDArray[np.bool_]
    weights: NDArray[np.float32]
    uses: NDArray[np.float32]
    tokens: NDArray[np.float32]


def describe(text: str, marks: Marks, lexicon: Lexicon) -> Question:
    """Bring together what is known of a question."""
    reading = read(text)
    words = tuple(zip(reading.words.words, reading.words.stems, strict=True))
    telling = {stem: word for word, stem in reversed(words) if word not in _FILLING and any(map(str.isalnum, word))}
    if not telling:
        telling = {stem: word for word, stem in reversed(words)}
    ordered = tuple(reversed(telling.items()))
    rows = [lexicon.row(word) for _, word in ordered]
    meanings, weights = lexicon.look_up(rows)
    tokens = _unit(marks.states.astype(np.float32))
    spaced = f" {' '.join(reading.words.words)} "
    return Question(
        reading=reading,
        words=tuple(word for _, word in ordered),
        stems=tuple(stem for stem, _ in ordered),
        all_stems=reading.stems,
        trigrams=frozenset(spaced[at : at + 3] for at in range(len(spaced) - 2)),
        meanings=meanings,
        known=np.array([row >= 0 for row in rows], np.bool_),
        weights=weights,
        uses=_uses(text.lower(), [word for _, word in ordered], marks.spans, tokens),
        tokens=tokens,
    )


def _uses(text: str, words: list[str], spans: NDArray[np.uint16], tokens: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the mean of the tokens that each word consists of, made unit; zero for a word that is not found."""
    places: list[tuple[int, int]] = []
    position = 0
    for word in words:
        at = text.find(word, position)
        at = text.find(word) if at < 0 else at
        position = position if at < 0 else at + len(word)
        places.append((at, position) if at >= 0 else (0, 0))
    at = np.array(places, np.intp).reshape(-1, 2, 1)
    inside = (spans[:, 0] >= at[:, 0]) & (spans[:, 1] <= at[:, 1])
    return _unit(inside.astype(np.float32) @ tokens)


def _unit(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    return rows / np.maximum(np.sqrt(np.einsum("ij,ij->i", rows, rows)), 1e-6)[:, None]
