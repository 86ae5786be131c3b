"""Runs a decoder over step plans, on one device, with paged keys and values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from local_engine.attention.reference import ReferenceAttention
from local_engine.attention.sdpa import SdpaAttention
from local_engine.cache.storage import KVStorage
from local_engine.model.batch import flatten
from local_engine.model.decoder import Decoder, forward, head_logits
from local_engine.quant.pack import compute_dtype
from local_engine.types import Numerics

if TYPE_CHECKING:
    from torch import Tensor

    from local_engine.attention.base import AttentionBackend
    from local_engine.model.spec import ModelSpec
    from local_engine.model.weights import ModelWeights
    from local_engine.types import StepPlan


@dataclass(frozen=True, slots=True, eq=False)
class PagedRunner:
    """A decoder, its cache and its attention; implements `local_engine.types.Runner`."""

    decoder: Decoder
    storage: KVStorage
    attention: AttentionBackend

    @classmethod
    def build(
        cls, spec: ModelSpec, weights: ModelWeights, *, numerics: Numerics, num_blocks: int, block_size: int = 16
    ) -> PagedRunner:
        """Lay out the weights and allocate the cache for one numerics mode."""
        storage = KVStorage(
            layers=spec.layers,
            num_blocks=num_blocks,
            block_size=block_size,
            kv_heads=spec.kv_heads,
            head_dim=spec.head_dim,
            dtype=compute_dtype(numerics),
        )
        attention = ReferenceAttention() if numerics is Numerics.REFERENCE else SdpaAttention()
        return cls(Decoder.build(spec, weights, numerics), storage, attention)

    @property
    def block_size(self) -> int:
        """Tokens per cache block."""
        return self.storage.block_size

    @property
    def num_blocks(self) -> int:
        """Blocks in the pool."""
        return self.storage.num_blocks

    @property
    def vocab_size(self) -> int:
        """Columns of the logits."""
        return self.decoder.spec.vocab

    @property
    def max_context(self) -> int:
        """The most positions the rotary table covers."""
        return self.decoder.spec.context

    @torch.inference_mode()
    def execute(self, plan: StepPlan) -> Tensor:
        """Return fp32 logits [chunks with wants_logits, vocab], in chunk order.

        The head runs on the wanted rows alone; it is a fifth of this model's weights.

        Raises:
            ValueError: The plan is malformed (see `local_engine.model.batch.flatten`).
            IndexError: A token, position or block is out of range.
        """
        meta = flatten(plan, self.block_size)
        step = self.attention.plan(meta, self.storage)

        def attend(layer: int, q: Tensor, kv: Tensor) -> Tensor:
            self.storage.write(layer, kv, meta.slots)
            return step.attend(layer, q)

        hidden = forward(self.decoder, meta.tokens, meta.positions, attend)
        return head_logits(self.decoder, hidden[meta.logit_rows])
