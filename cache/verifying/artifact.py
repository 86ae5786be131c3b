"""What was learned, as one safetensors file: numbers only, so that opening it runs nothing."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING

import msgspec
import numpy as np
from safetensors.numpy import load, save

from cache.verifying.features import DIRECTIONS
from cache.verifying.lexicon import Lexicon
from cache.verifying.trees import Trees

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable
    from pathlib import Path

    from numpy.typing import NDArray

_TREES = ("feature", "threshold", "left", "right", "value")


@dataclass(frozen=True, slots=True)
class Calibration:
    """How probabilities did on pairs that were held out of training.

    Attributes:
        thresholds: Probabilities from which on an answer would be served, descending.
        wrong: For each, the share of not-same pairs that would have been served.
        wrong_most: For each, the upper end of its 95 % interval.
        right: For each, the share of same pairs that would have been served.
    """

    thresholds: tuple[float, ...]
    wrong: tuple[float, ...]
    wrong_most: tuple[float, ...]
    right: tuple[float, ...]

    def threshold(self, max_error: float) -> float:
        """Return the lowest threshold at which at most `max_error` of not-same pairs were served; above 1 if none was.

        The pairs are near misses on purpose, so that of ordinary lookups fewer are served a wrong answer.
        """
        allowed = [at for at, wrong in zip(self.thresholds, self.wrong, strict=True) if wrong <= max_error]
        return min(allowed, default=1.01)


@dataclass(frozen=True, slots=True)
class Card:
    """What an artifact says of itself: the name of its embedding, its data by hash, and how it did."""

    embedding: str
    features: tuple[str, ...]
    data_sha256: str
    metrics: dict[str, float]
    calibration: Calibration
    depth: int
    base: float


@dataclass(frozen=True, slots=True)
class Artifact:
    """What was learned.

    Attributes:
        card: What it says of itself.
        lexicon: Which words mean the same.
        centre: The mean of token states, float32 [dimensions].
        axes: The main axes of token states, float32 [dimensions, axes].
        trees: From features to log odds.
    """

    card: Card
    lexicon: Lexicon
    centre: NDArray[np.float32]
    axes: NDArray[np.float32]
    trees: Trees

    @property
    def embedding(self) -> str:
        """The name of the embedding it was trained with."""
        return self.card.embedding

    @property
    def calibration(self) -> Calibration:
        """How probabilities did on pairs that were held out."""
        return self.card.calibration


def read_artifact(path: Path | Traversable) -> Artifact:
    """Read an artifact, and the lexicon beside it.

    Raises:
        ValueError: It was made for other features than this program computes.
    """
    found = load(path.read_bytes())
    card = msgspec.json.decode(found["card"].tobytes(), type=Card)
    if card.features != tuple(DIRECTIONS):
        raise ValueError("the verifier was trained for other features; train it again")
    return Artifact(
        card=card,
        lexicon=read_lexicon(),
        centre=found["centre"].astype(np.float32),
        axes=found["axes"].astype(np.float32),
        trees=Trees(**{name: found[name] for name in _TREES}, depth=card.depth, base=card.base),
    )


def write_artifact(
    path: Path, card: Card, centre: NDArray[np.float32], axes: NDArray[np.float32], trees: Trees
) -> None:
    """Write an artifact; the same input gives the same bytes."""
    tensors = {name: getattr(trees, name) for name in _TREES}
    tensors["card"] = np.frombuffer(msgspec.json.encode(card), np.uint8)
    path.write_bytes(save({**tensors, "centre": centre.astype(np.float16), "axes": axes.astype(np.float16)}))


def read_lexicon() -> Lexicon:
    """Read the lexicon that comes with the package."""
    found = load((files("cache.verifying") / "weights" / "lexicon.safetensors").read_bytes())
    return Lexicon.of(found["words"].tobytes().decode().split("\n"), found["vectors"])
