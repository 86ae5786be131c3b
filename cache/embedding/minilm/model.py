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
_RUN: Final = 8
_FILLING: Final = 0.25
"""Texts in one run, and how much longer the longest may be than the shortest: more costs more than it gains."""


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
        """Read texts, in whatever order is quickest."""
        tokens = self._tokenizer.encode_batch([readable(text, _READS_CHARACTERS) for text in texts])
        readings: dict[int, Reading] = {}
        for places in _runs([len(of_text.ids) for of_text in tokens]):
            states = self._run([tokens[place].ids for place in places])
            for place, of_text in zip(places, states, strict=True):
                is_cut = bool(tokens[place].overflowing) or len(texts[place]) > _READS_CHARACTERS
                unknown = 0 if self._unknown is None else tokens[place].ids.count(self._unknown)
                readings[place] = _reading(tokens[place], of_text, is_cut=is_cut, unknown=unknown)
        return [readings[place] for place in range(len(texts))]

    def _run(self, tokens: Sequence[Sequence[int]]) -> list[NDArray[np.float32]]:
        longest = max(len(ids) for ids in tokens)
        ids = np.zeros((len(tokens), longest), np.int32)
        mask = np.zeros_like(ids)
        for row, of_text in enumerate(tokens):
            ids[row, : len(of_text)] = of_text
            mask[row, : len(of_text)] = 1
        states = cast("NDArray[np.float32]", self._session.run(["states"], {"ids": ids, "mask": mask})[0])
        return [states[row, : len(of_text)] for row, of_text in enumerate(tokens)]


def _runs(lengths: Sequence[int]) -> list[list[int]]:
    """Share out texts, by their places, into runs of about the same length."""
    runs = list[list[int]]()
    for place in sorted(range(len(lengths)), key=lengths.__getitem__):
        if runs and len(runs[-1]) < _RUN and lengths[place] <= lengths[runs[-1][0]] * (1 + _FILLING):
            runs[-1].append(place)
        else:
            runs.append([place])
    return runs


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
