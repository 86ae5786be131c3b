"""A model's weights before any kernel's layout is chosen for them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor

    from local_engine.quant.weight import Weight


@dataclass(frozen=True, slots=True, eq=False)
class LayerWeights:
    """One decoder layer. Query and key rows are in half-split rotary order.

    Attributes:
        attention_norm: fp32 [hidden].
        query: [heads * head_dim, hidden].
        key: [kv_heads * head_dim, hidden].
        value: [kv_heads * head_dim, hidden].
        output: [hidden, heads * head_dim].
        ffn_norm: fp32 [hidden].
        gate: [ffn, hidden].
        up: [ffn, hidden].
        down: [hidden, ffn].
    """

    attention_norm: Tensor
    query: Weight
    key: Weight
    value: Weight
    output: Weight
    ffn_norm: Tensor
    gate: Weight
    up: Weight
    down: Weight


@dataclass(frozen=True, slots=True, eq=False)
class ModelWeights:
    """A whole decoder.

    Attributes:
        embedding: [vocab, hidden].
        layers: In order.
        final_norm: fp32 [hidden].
        head: [vocab, hidden]; the same object as `embedding` where the model ties them.
    """

    embedding: Weight
    layers: tuple[LayerWeights, ...]
    final_norm: Tensor
    head: Weight
