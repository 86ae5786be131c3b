"""The llama architecture as GGUF lays it out.

Query and key rows come permuted for interleaved rotary pairs, (0, 1), (2, 3), …; the decoder pairs the halves of a
head, so the rows are put back. That is a permutation of rows, and loses nothing on quantised ones.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import torch

from local_engine.errors import ModelFileInvalid
from local_engine.load.blocks import read_weight
from local_engine.model.spec import ModelSpec
from local_engine.model.weights import LayerWeights, ModelWeights

if TYPE_CHECKING:
    from torch import Tensor

    from local_engine.load.gguf import GgufFile
    from local_engine.load.metadata import Metadata
    from local_engine.quant.weight import Weight

_MAX_LAYERS: Final = 1024
_MAX_WIDTH: Final = 1 << 20
_MAX_CONTEXT: Final = 1 << 20


def read_spec(metadata: Metadata, vocab: int) -> ModelSpec:
    """Read the model's shape.

    Raises:
        ModelFileInvalid: Another architecture, a key that is missing or absurd, or a variant the decoder lacks.
    """
    if (architecture := metadata.text("general.architecture")) != "llama":
        raise ModelFileInvalid(metadata.path, f"architecture {architecture!r} is not run (llama is)")
    hidden = metadata.size("llama.embedding_length", _MAX_WIDTH)
    heads = metadata.size("llama.attention.head_count", hidden)
    kv_heads = metadata.size("llama.attention.head_count_kv", heads, default=heads)
    head_dim = metadata.size("llama.attention.key_length", _MAX_WIDTH, default=hidden // heads)
    if heads % kv_heads or head_dim % 2:
        raise ModelFileInvalid(metadata.path, f"{heads} heads of {head_dim} cannot share {kv_heads} key heads")
    if metadata.integer("llama.rope.dimension_count", default=head_dim) != head_dim:
        raise ModelFileInvalid(metadata.path, "rotary embedding of a part of each head is not run")
    if metadata.values.get("llama.rope.scaling.type", "none") != "none":
        raise ModelFileInvalid(metadata.path, "rotary scaling is not run")
    return ModelSpec(
        layers=metadata.size("llama.block_count", _MAX_LAYERS),
        hidden=hidden,
        ffn=metadata.size("llama.feed_forward_length", _MAX_WIDTH),
        heads=heads,
        kv_heads=kv_heads,
        head_dim=head_dim,
        vocab=vocab,
        context=metadata.size("llama.context_length", _MAX_CONTEXT),
        rope_base=metadata.number("llama.rope.freq_base"),
        norm_epsilon=metadata.number("llama.attention.layer_norm_rms_epsilon"),
    )


def read_weights(file: GgufFile, spec: ModelSpec) -> ModelWeights:
    """Read every tensor the spec asks for, quantised ones as stored.

    Raises:
        ModelFileInvalid: A tensor is missing, has another shape, or is one the decoder would ignore.
    """
    reader = _Reader(file)
    q, kv = spec.heads * spec.head_dim, spec.kv_heads * spec.head_dim

    def layer(index: int) -> LayerWeights:
        block = f"blk.{index}"
        return LayerWeights(
            attention_norm=reader.vector(f"{block}.attn_norm.weight", spec.hidden),
            query=reader.matrix(f"{block}.attn_q.weight", q, spec.hidden).take_rows(half_split(spec.heads, spec)),
            key=reader.matrix(f"{block}.attn_k.weight", kv, spec.hidden).take_rows(half_split(spec.kv_heads, spec)),
            value=reader.matrix(f"{block}.attn_v.weight", kv, spec.hidden),
            output=reader.matrix(f"{block}.attn_output.weight", spec.hidden, q),
            ffn_norm=reader.vector(f"{block}.ffn_norm.weight", spec.hidden),
            gate=reader.matrix(f"{block}.ffn_gate.weight", spec.ffn, spec.hidden),
            up=reader.matrix(f"{block}.ffn_up.weight", spec.ffn, spec.hidden),
            down=reader.matrix(f"{block}.ffn_down.weight", spec.hidden, spec.ffn),
        )

    embedding = reader.matrix("token_embd.weight", spec.vocab, spec.hidden)
    tied = "output.weight" not in file.tensors
    head = embedding if tied else reader.matrix("output.weight", spec.vocab, spec.hidden)
    layers = tuple(layer(index) for index in range(spec.layers))
    weights = ModelWeights(embedding, layers, reader.vector("output_norm.weight", spec.hidden), head)
    reader.refuse_unread()
    return weights


def half_split(heads: int, spec: ModelSpec) -> Tensor:
    """Return the row order that turns interleaved rotary pairs into half-split ones, int64 [heads * head_dim]."""
    rows = torch.arange(heads * spec.head_dim)
    return rows.view(heads, spec.head_dim // 2, 2).transpose(1, 2).flatten()


class _Reader:
    """Reads tensors by name and remembers which."""

    def __init__(self, file: GgufFile) -> None:
        self._file = file
        self._read: set[str] = set()

    def matrix(self, name: str, rows: int, columns: int) -> Weight:
        return self._weight(name, (rows, columns))

    def vector(self, name: str, size: int) -> Tensor:
        return self._weight(name, (size,)).dequantised().flatten()

    def refuse_unread(self) -> None:
        if unread := sorted(self._file.tensors.keys() - self._read):
            raise ModelFileInvalid(self._file.path, f"tensors that would be ignored: {', '.join(unread[:5])}")

    def _weight(self, name: str, shape: tuple[int, ...]) -> Weight:
        entry = self._file.tensors.get(name)
        if entry is None:
            raise ModelFileInvalid(self._file.path, f"tensor {name!r} is missing")
        if entry.shape != shape:
            raise ModelFileInvalid(self._file.path, f"tensor {name!r} has shape {entry.shape}, expected {shape}")
        self._read.add(name)
        return read_weight(self._file.data, entry.shape, entry.encoding, entry.offset)
