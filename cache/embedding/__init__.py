"""Texts as vectors, computed beside the event loop and never on it.

Read in this order: this module (what every embedding promises), `batching.py` (the bounded queue that all share),
`minilm/` (the bundled model, through onnxruntime), `process.py` (any other model, by sentence-transformers in a process
of its own: `child.py` is its life, `frames.py` what is said, `server.py` what runs there), `opening.py` (which it is).

The package knows nothing of questions and answers, of similarity, or of what vectors are for. It needs the `semantic`
extra, and is imported where it is used.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray


class Embedding(Protocol):
    """Turns texts into unit vectors; the closer in meaning two texts are, the larger their dot product.

    Attributes:
        name: The model and its numerics. Vectors of different names are not comparable.
        dimensions: The length of a vector.
    """

    @property
    def name(self) -> str: ...  # noqa: D102  an attribute, described above

    @property
    def dimensions(self) -> int: ...  # noqa: D102

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return a unit vector for each text, float32 [texts, dimensions], within a bounded time.

        A text longer than the model reads counts by its beginning. A vector does not depend on the other texts.

        Raises:
            EmbeddingBusy: Too much waits already, or the answer took too long. Nothing is wrong: go on without.
            EmbeddingUnavailable: It cannot be computed now.
        """
        ...

    async def close(self) -> None:
        """Give up what waits, and free what is held. Doing so twice is harmless."""
        ...


@dataclass(frozen=True, slots=True)
class Reading:
    """One text as the model read it.

    Attributes:
        vector: The unit vector, float32 [dimensions].
        states: A state for each token, float32 [tokens, dimensions], not normalised; the vector is their mean, made
            unit. The first and the last token are marks of the model.
        ids: The tokens, int32 [tokens].
        offsets: Where each token begins and ends in the text, int32 [tokens, 2]; the marks have (0, 0).
        is_cut: Whether the text is longer than the model reads, so that its end counts for nothing.
        unknown: How many of its words the model has no tokens for: to it, they are all the same.
    """

    vector: NDArray[np.float32]
    states: NDArray[np.float32]
    ids: NDArray[np.int32]
    offsets: NDArray[np.int32]
    is_cut: bool
    unknown: int = 0


class TokenEmbedding(Embedding, Protocol):
    """An embedding that also shows what it made of each token."""

    async def read(self, texts: Sequence[str]) -> tuple[Reading, ...]:
        """Read texts, each as `embed` does and with the same errors."""
        ...
