"""One Llama decoder over a flat batch of tokens: no padding, no batch dimension, plain functions over structs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import torch
from torch.nn import functional

from local_engine.model.rope import RotaryTable
from local_engine.quant.pack import compute_dtype, pack_head, pack_linear
from local_engine.quant.weight import stack_rows

if TYPE_CHECKING:
    from torch import Tensor

    from local_engine.model.rope import Rotation
    from local_engine.model.spec import ModelSpec
    from local_engine.model.weights import LayerWeights, ModelWeights
    from local_engine.quant.linear import Linear
    from local_engine.types import Numerics


class Attend(Protocol):
    """Stores a layer's new keys and values, then attends over everything each token may see."""

    def __call__(self, layer: int, q: Tensor, kv: Tensor) -> Tensor:
        """Take q [tokens, heads, head_dim], kv [tokens, 2, kv_heads, head_dim]; return [tokens, heads * head_dim]."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Layer:
    """One decoder layer, its projections of one input fused by stacking their rows."""

    attention_norm: Tensor
    qkv: Linear
    output: Linear
    ffn_norm: Tensor
    gate_up: Linear
    down: Linear


@dataclass(frozen=True, slots=True, eq=False)
class Decoder:
    """A model ready to run.

    Attributes:
        spec: Its shape.
        embedding: [vocab, hidden] in the dtype of the activations.
        layers: In order.
        final_norm: fp32 [hidden].
        head: hidden to vocab.
        rotary: The rotation of every position.
    """

    spec: ModelSpec
    embedding: Tensor
    layers: tuple[Layer, ...]
    final_norm: Tensor
    head: Linear
    rotary: RotaryTable

    @classmethod
    def build(cls, spec: ModelSpec, weights: ModelWeights, numerics: Numerics) -> Decoder:
        """Lay out the weights for one numerics mode."""
        dtype = compute_dtype(numerics)
        return cls(
            spec,
            weights.embedding.dequantised().to(dtype),
            tuple(_layer(layer, numerics) for layer in weights.layers),
            weights.final_norm,
            pack_head(weights.head),
            RotaryTable.build(spec, dtype),
        )


def _layer(weights: LayerWeights, numerics: Numerics) -> Layer:
    return Layer(
        weights.attention_norm,
        pack_linear(stack_rows((weights.query, weights.key, weights.value)), numerics),
        pack_linear(weights.output, numerics),
        weights.ffn_norm,
        pack_linear(stack_rows((weights.gate, weights.up)), numerics),
        pack_linear(weights.down, numerics),
    )


def forward(decoder: Decoder, tokens: Tensor, positions: Tensor, attend: Attend) -> Tensor:
    """Run all layers; tokens and positions [tokens] to the residual stream [tokens, hidden], before the final norm.

    The residual stream is fp32 in every mode: thirty layers of rounding it to bf16 would cost more than the weights do.
    """
    spec, dtype = decoder.spec, decoder.embedding.dtype
    rotation = decoder.rotary.at(positions)
    hidden = decoder.embedding[tokens].float()
    for index, layer in enumerate(decoder.layers):
        normed = rms_norm(hidden, layer.attention_norm, spec.norm_epsilon).to(dtype)
        q, kv = _project(spec, layer, normed, rotation)
        hidden += layer.output(attend(index, q, kv))
        normed = rms_norm(hidden, layer.ffn_norm, spec.norm_epsilon).to(dtype)
        gate, up = layer.gate_up(normed).chunk(2, dim=-1)
        hidden += layer.down(functional.silu(gate) * up)
    return hidden


def head_logits(decoder: Decoder, hidden: Tensor) -> Tensor:
    """Return fp32 logits [rows, vocab] of the given rows of the residual stream."""
    return decoder.head(rms_norm(hidden, decoder.final_norm, decoder.spec.norm_epsilon))


def rms_norm(x: Tensor, weight: Tensor, epsilon: float) -> Tensor:
    """Normalise fp32 rows by their root mean square. Written out: `functional.rms_norm` is many more kernels on CPU."""
    norm = torch.linalg.vector_norm(x, dim=-1, keepdim=True)
    scale = norm.square_().mul_(1 / x.shape[-1]).add_(epsilon).rsqrt_()
    return torch.mul(x, scale).mul_(weight)


def _project(spec: ModelSpec, layer: Layer, normed: Tensor, rotation: Rotation) -> tuple[Tensor, Tensor]:
    """Return rotated q [tokens, heads, head_dim] and kv [tokens, 2, kv_heads, head_dim], both views of one matmul."""
    rows = layer.qkv(normed).unflatten(1, (-1, spec.head_dim))
    rotation.apply_(rows[:, : spec.heads + spec.kv_heads])
    return rows[:, : spec.heads], rows[:, spec.heads :].unflatten(1, (2, spec.kv_heads))
