"""Attention as the textbook writes it, one sequence at a time in fp32: the oracle of every other backend."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from torch import Tensor

    from local_engine.attention.base import BatchMeta, Span
    from local_engine.cache.storage import KVStorage


class ReferenceAttention:
    """Plans nothing: every layer gathers and multiplies out in full."""

    def plan(self, meta: BatchMeta, storage: KVStorage) -> ReferenceStep:
        """Bind the step to its storage."""
        return ReferenceStep(meta, storage)


@dataclass(frozen=True, slots=True, eq=False)
class ReferenceStep:
    """One step of naive attention."""

    meta: BatchMeta
    storage: KVStorage

    def attend(self, layer: int, q: Tensor) -> Tensor:
        """Attend span by span."""
        spans = self.meta.spans
        return torch.cat([self._span(layer, q[span.first_row : span.stop_row], span) for span in spans]).to(q.dtype)

    def _span(self, layer: int, q: Tensor, span: Span) -> Tensor:
        kv = self.storage.gather(layer, torch.tensor(span.blocks))[: span.length].float()
        group = q.shape[1] // kv.shape[2]
        k, v = (part.repeat_interleave(group, dim=1).transpose(0, 1) for part in kv.unbind(1))
        scores = q.float().transpose(0, 1) @ k.transpose(1, 2) / math.sqrt(q.shape[2])
        rows = torch.arange(span.start, span.length).unsqueeze(1)
        hidden = torch.arange(span.length) > rows
        mixed = scores.masked_fill(hidden, -math.inf).softmax(dim=-1) @ v
        return mixed.transpose(0, 1).flatten(1)
