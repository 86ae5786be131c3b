"""A Llama small enough for property tests: random weights on the same code path as the real model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from local_engine.model.runner import PagedRunner
from local_engine.model.spec import ModelSpec
from local_engine.model.weights import LayerWeights, ModelWeights
from local_engine.quant.weight import Dense, Grouped
from local_engine.types import ChunkPlan, Numerics, StepPlan

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor

TINY_SPEC = ModelSpec(
    layers=2,
    hidden=64,
    ffn=128,
    heads=2,
    kv_heads=1,
    head_dim=32,
    vocab=260,
    context=512,
    rope_base=10_000.0,
    norm_epsilon=1e-5,
)
"""260 tokens: the vocabulary of `tests.support.tiny_text`."""


def tiny_weights(spec: ModelSpec = TINY_SPEC, seed: int = 0) -> ModelWeights:
    """Draw weights from a seed; layer matrices are 4-bit groups of 32 as in a Q4_1 file, the rest is dense."""
    noise = torch.Generator().manual_seed(seed)

    def grouped(rows: int, columns: int) -> Grouped:
        codes = torch.randint(0, 16, (rows, columns), dtype=torch.uint8, generator=noise)
        scale = (torch.rand(rows, columns // 32, generator=noise) + 0.5) * (0.5 / columns**0.5)
        return Grouped(codes, scale.half(), (-7.5 * scale).half(), bits=4)

    def norm() -> Tensor:
        return 1 + 0.1 * torch.randn(spec.hidden, generator=noise)

    def layer() -> LayerWeights:
        q, kv = spec.heads * spec.head_dim, spec.kv_heads * spec.head_dim
        return LayerWeights(
            norm(),
            grouped(q, spec.hidden),
            grouped(kv, spec.hidden),
            grouped(kv, spec.hidden),
            grouped(spec.hidden, q),
            norm(),
            grouped(spec.ffn, spec.hidden),
            grouped(spec.ffn, spec.hidden),
            grouped(spec.hidden, spec.ffn),
        )

    def table() -> Dense:
        return Dense(torch.randn(spec.vocab, spec.hidden, generator=noise))

    # An untied head, because with a tied one a random model only repeats its last token.
    return ModelWeights(table(), tuple(layer() for _ in range(spec.layers)), norm(), table())


def tiny_runner(
    numerics: Numerics = Numerics.FP32, *, num_blocks: int = 64, block_size: int = 16, seed: int = 0
) -> PagedRunner:
    """Build a runner over the tiny weights; the same seed gives the same model in every numerics mode."""
    return PagedRunner.build(
        TINY_SPEC, tiny_weights(seed=seed), numerics=numerics, num_blocks=num_blocks, block_size=block_size
    )


def whole_prompt(tokens: Sequence[int], block_size: int, first_block: int = 0, sequence_id: int = 0) -> StepPlan:
    """Plan one sequence from its first token in one chunk, in blocks that follow each other."""
    blocks = range(first_block, first_block + -(-len(tokens) // block_size))
    return StepPlan((ChunkPlan(sequence_id, tuple(tokens), 0, tuple(blocks), wants_logits=True),))
