"""The shape of a Llama model."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """The numbers that fix a Llama decoder.

    Attributes:
        layers: Decoder layers.
        hidden: Width of the residual stream.
        ffn: Width of the gated feed-forward layer.
        heads: Query heads.
        kv_heads: Key and value heads; divides `heads` (grouped-query attention).
        head_dim: Width of one head.
        vocab: Rows of the embedding.
        context: The most positions the model was made for.
        rope_base: Base of the rotary frequencies.
        norm_epsilon: Added to the mean square in RMSNorm.
    """

    layers: int
    hidden: int
    ffn: int
    heads: int
    kv_heads: int
    head_dim: int
    vocab: int
    context: int
    rope_base: float
    norm_epsilon: float

    @property
    def group(self) -> int:
        """Query heads that share one key and value head."""
        return self.heads // self.kv_heads
