"""A run of all-MiniLM-L6-v2: texts to tokens to states to vectors. Blocking, and for one thread at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np
import onnxruntime
from tokenizers import Tokenizer

from cache.embedding import Reading
from cache.embedding.batching import readable
from cache.embedding.minilm.graph import build_graph
from cache.embedding.minilm.weights import read_weights

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

READS_TOKENS: Final = 256
"""What the published model reads of a text, its two marks included."""

_READS_CHARACTERS: Final = 20_000
"""More than the tokens of any real text; what comes after is not even looked at."""


class MiniLM:
    """The model with its weights; opening it takes some 0.3 s and 130 MB.

    Args:
        folder: Where its weights and its tokenizer lie, as published.
        threads: Threads of one run.
    """

    def __init__(self, folder: Path, threads: int = 1) -> None:
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(READS_TOKENS)
        self._unknown = self._tokenizer.token_to_id("[UNK]")
        self._session = _session(folder / "model.safetensors", threads)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return unit vectors, float32 [texts, 384]."""
        return np.stack([reading.vector for reading in self.read(texts)])

    def read(self, texts: Sequence[str]) -> list[Reading]:
        """Read texts, each in a run of its own: what is rounded beside another text would depend on it."""
        tokens = self._tokenizer.encode_batch([readable(text, _READS_CHARACTERS) for text in texts])
        return [self._read(text, of_text) for text, of_text in zip(texts, tokens, strict=True)]

    def _read(self, text: str, tokens: Any) -> Reading:
        ids = np.array([tokens.ids], np.int32)
        states = cast("NDArray[np.float32]", self._session.run(["states"], {"ids": ids, "mask": np.ones_like(ids)})[0])
        is_cut = bool(tokens.overflowing) or len(text) > _READS_CHARACTERS
        unknown = 0 if self._unknown is None else tokens.ids.count(self._unknown)
        return _reading(tokens, states[0], is_cut=is_cut, unknown=unknown)


def _reading(tokens: Any, states: NDArray[np.float32], *, is_cut: bool, unknown: int) -> Reading:
    mean = states.mean(axis=0)
    return Reading(
        vector=mean / np.linalg.norm(mean),
        states=states,
        ids=np.array(tokens.ids, np.int32),
        offsets=np.array(tokens.offsets, np.int32),
        is_cut=is_cut,
        unknown=unknown,
    )


def _session(weights: Path, threads: int) -> onnxruntime.InferenceSession:
    graph = build_graph(read_weights(weights))
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")  # the gateway needs the cores
    values = {name: onnxruntime.OrtValue.ortvalue_from_numpy(weight) for name, weight in graph.weights.items()}
    options.add_external_initializers(list(values), list(values.values()))
    return onnxruntime.InferenceSession(graph.model, options, providers=["CPUExecutionProvider"])
