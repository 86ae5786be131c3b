"""The bundled embedding: batches of texts through all-MiniLM-L6-v2 on a thread of its own."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Final, TypeVar

import numpy as np

from cache.embedding.batching import Batches, Limits
from cache.embedding.minilm.graph import DIMENSIONS
from cache.embedding.minilm.model import MiniLM
from cache.errors import EmbeddingUnavailable

if TYPE_CHECKING:
    from collections.abc import Awaitable, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from cache.embedding import Reading

T = TypeVar("T")

NAME: Final = "all-MiniLM-L6-v2/int8"


class MiniLMEmbedding:
    """A `TokenEmbedding`. The thread lets go of the interpreter while it computes, so the event loop goes on."""

    def __init__(self, model: MiniLM, limits: Limits) -> None:
        self.name: Final = NAME
        self.dimensions: Final = DIMENSIONS
        self._model = model
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="embedding")
        self._batches = Batches(self._compute, limits)

    @classmethod
    async def open(cls, folder: Path, *, threads: int = 1, limits: Limits | None = None) -> MiniLMEmbedding:
        """Load the model from its folder, beside the event loop.

        Raises:
            EmbeddingUnavailable: It cannot be loaded.
        """
        return cls(await _told(asyncio.to_thread(MiniLM, folder, threads)), limits or Limits())

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return unit vectors, as `Embedding` says."""
        readings = await self._batches.run(texts)
        return np.stack([reading.vector for reading in readings]) if readings else np.empty((0, DIMENSIONS), np.float32)

    async def read(self, texts: Sequence[str]) -> tuple[Reading, ...]:
        """Return vectors and states, as `TokenEmbedding` says."""
        return tuple(await self._batches.run(texts))

    async def close(self) -> None:
        """Give up what waits; a run that has begun goes on unheard."""
        await self._batches.close()
        self._thread.shutdown(wait=False, cancel_futures=True)

    async def _compute(self, texts: Sequence[str]) -> Sequence[Reading]:
        return await _told(asyncio.get_running_loop().run_in_executor(self._thread, self._model.read, texts))


async def _told(work: Awaitable[T]) -> T:
    """Wait for work; the runtime and the tokenizer have faults of their own, and no common name for them."""
    try:
        return await work
    except Exception as error:
        raise EmbeddingUnavailable(f"{type(error).__name__}: {error}") from error
