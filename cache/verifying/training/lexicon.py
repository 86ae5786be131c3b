"""Fit the lexicon anew: `python -m cache.verifying.training.lexicon --wordnet english-wordnet/src/yaml`."""

from __future__ import annotations

import argparse
import itertools
import random
from collections import defaultdict
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from safetensors.numpy import save
from tokenizers import Tokenizer

from cache.embedding.minilm.model import MiniLM
from cache.embedding.opening import bundled_folder
from cache.guards.words import stem
from cache.verifying.training.counter_fitting import counter_fit
from cache.verifying.training.wordnet import read_relations

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_DIMENSIONS = 48
_BATCH = 256
_SCALE = 127


def main() -> None:
    """Read the arguments, fit and write."""
    parser = argparse.ArgumentParser(prog="python -m cache.verifying.training.lexicon", description=__doc__)
    parser.add_argument("--wordnet", type=Path, required=True, help="`src/yaml` of globalwordnet/english-wordnet")
    parser.add_argument("--output", type=Path, default=Path(str(files("cache.verifying"))) / "weights")
    arguments = parser.parse_args()
    folder = bundled_folder()
    if folder is None:
        parser.error("the bundled embedding is not installed")
    words = whole_words(folder)
    vectors = fitted(words, _alone(folder, words), arguments.wordnet)
    (arguments.output / "lexicon.safetensors").write_bytes(packed(words, vectors))


def whole_words(folder: Path) -> list[str]:
    """Return the English words that the tokenizer takes whole, most frequent first."""
    vocabulary = Tokenizer.from_file(str(folder / "tokenizer.json")).get_vocab()
    found = (word for word in vocabulary if len(word) > 1 and word.isascii() and word.isalpha())
    return sorted(found, key=vocabulary.__getitem__)


def fitted(words: Sequence[str], vectors: NDArray[np.float32], wordnet: Path) -> NDArray[np.float32]:
    """Return unit vectors of words, [words, 48], from those that each has alone and from how they are related."""
    related = read_relations(wordnet, words, random.Random(0))  # noqa: S311  which sisters, not secrets
    alike, sisters, antonyms = map(np.array, (related.synonyms + _inflected(words), related.sisters, related.antonyms))
    return counter_fit(vectors, alike, sisters, antonyms, _DIMENSIONS, np.random.default_rng(0))


def packed(words: Sequence[str], vectors: NDArray[np.float32]) -> bytes:
    """Write words and vectors down, a byte a number."""
    scaled = np.rint(vectors * (_SCALE / np.abs(vectors).max())).astype(np.int8)
    return save({"vectors": scaled, "words": np.frombuffer("\n".join(words).encode(), np.uint8)})


def _inflected(words: Sequence[str]) -> list[tuple[int, int]]:
    """Return the pairs of words that have one stem."""
    rows: dict[str, list[int]] = defaultdict(list)
    for row, word in enumerate(words):
        rows[stem(word)].append(row)
    return [pair for found in rows.values() for pair in itertools.combinations(found, 2)]


def _alone(folder: Path, words: Sequence[str]) -> NDArray[np.float32]:
    """Return the unit vector that the embedding gives to each word alone, [words, 384]."""
    model = MiniLM(folder)
    batches = (words[at : at + _BATCH] for at in range(0, len(words), _BATCH))
    return np.stack([read.vector for batch in batches for read in model.read(batch)])


if __name__ == "__main__":
    main()
