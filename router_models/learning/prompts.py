"""Many prompts as arrays, as heads learn from them and score them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from router_models.features import PromptFeatures

    Floats = NDArray[np.float32]
    Where = NDArray[np.bool_] | NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Prompts:
    """Prompts as a router sees them.

    Attributes:
        vectors: Unit vectors, float32 [prompts, dimensions].
        rows: What is counted, float32 [prompts, features].
        terms: Hashed terms of all, one after another, uint32 [all].
        starts: Where those of each begin, and the last one's end, int64 [prompts + 1].
    """

    vectors: Floats
    rows: Floats
    terms: NDArray[np.uint32]
    starts: NDArray[np.int64]

    @classmethod
    def of(cls, vectors: Floats, features: Sequence[PromptFeatures]) -> Prompts:
        """Put together what is known of each prompt."""
        sizes = [len(one.terms) for one in features]
        terms = np.concatenate([np.array(one.terms, np.uint32) for one in features] or [np.empty(0, np.uint32)])
        rows = np.array([one.row() for one in features], np.float32)
        return cls(vectors, rows, terms, np.concatenate(([0], np.cumsum(sizes, dtype=np.int64))))

    def __len__(self) -> int:
        return len(self.vectors)

    def taken(self, where: Where) -> Prompts:
        """Return some of them, in order."""
        places = np.arange(len(self))[where]
        sizes = np.diff(self.starts)[places]
        starts = np.concatenate(([0], np.cumsum(sizes)))
        inside = np.arange(starts[-1]) - np.repeat(starts[:-1], sizes) + np.repeat(self.starts[places], sizes)
        return Prompts(self.vectors[places], self.rows[places], self.terms[inside], starts)


class Head(Protocol):
    """One way to predict by how much the strong model's score exceeds the weak one's."""

    def predict(self, prompts: Prompts) -> Floats:
        """Return the predicted gap of each prompt, float32 [prompts]."""
        ...
