"""The oracle: whole sequences in fp64, no cache, no paging, no fusing, nothing shared with the fast path.

It takes the same weights, so a disagreement is a fault of the fast path and not of the file; and it rounds nothing, so
what is left of a disagreement is the fast path's own rounding.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor

    from local_engine.model.spec import ModelSpec
    from local_engine.model.weights import LayerWeights, ModelWeights
    from local_engine.quant.weight import Weight


class ReferenceModel:
    """A Llama decoder written for reading."""

    def __init__(self, spec: ModelSpec, weights: ModelWeights) -> None:
        self._spec = spec
        self._weights = weights

    def logits(self, tokens: Sequence[int]) -> Tensor:
        """Return fp64 logits [tokens, vocab] for every position of one sequence."""
        spec, weights = self._spec, self._weights
        with torch.inference_mode():
            x = _exact(weights.embedding)[torch.tensor(tokens)]
            for layer in weights.layers:
                x = x + self._attention(layer, _norm(x, layer.attention_norm, spec.norm_epsilon))
                h = _norm(x, layer.ffn_norm, spec.norm_epsilon)
                gate, up = h @ _exact(layer.gate).T, h @ _exact(layer.up).T
                x = x + (gate * torch.sigmoid(gate) * up) @ _exact(layer.down).T
            return _norm(x, weights.final_norm, spec.norm_epsilon) @ _exact(weights.head).T

    def _attention(self, layer: LayerWeights, h: Tensor) -> Tensor:
        spec, length = self._spec, h.shape[0]
        q, k, v = (
            (h @ _exact(weight).T).view(length, -1, spec.head_dim).transpose(0, 1)
            for weight in (layer.query, layer.key, layer.value)
        )
        q, k = self._rotate(q), self._rotate(k)
        k, v = (t.repeat_interleave(spec.group, dim=0) for t in (k, v))
        scores = q @ k.transpose(1, 2) / math.sqrt(spec.head_dim)
        future = torch.ones(length, length, dtype=torch.bool).triu(1)
        mixed = scores.masked_fill(future, -math.inf).softmax(dim=-1) @ v
        return mixed.transpose(0, 1).reshape(length, -1) @ _exact(layer.output).T

    def _rotate(self, x: Tensor) -> Tensor:
        """Turn the pairs (x[i], x[i + head_dim / 2]) of [heads, tokens, head_dim] as complex numbers."""
        half = self._spec.head_dim // 2
        turn = torch.outer(
            torch.arange(x.shape[1], dtype=torch.float64),
            self._spec.rope_base ** (-torch.arange(half, dtype=torch.float64) / half),
        )
        pairs = torch.complex(x[..., :half], x[..., half:]) * torch.polar(torch.ones_like(turn), turn)
        return torch.cat((pairs.real, pairs.imag), dim=-1)


def _exact(weight: Weight) -> Tensor:
    return weight.dequantised().double()


def _norm(x: Tensor, weight: Tensor, epsilon: float) -> Tensor:
    return x / torch.sqrt((x * x).mean(dim=-1, keepdim=True) + epsilon) * weight
