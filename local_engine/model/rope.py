"""Rotary position embedding in half-split order (RoFormer, arXiv 2104.09864; the layout of GPT-NeoX)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from torch import Tensor

    from local_engine.model.spec import ModelSpec


@dataclass(frozen=True, slots=True, eq=False)
class RotaryTable:
    """Cosines and sines of every position, both [context, head_dim].

    The first half of each sine row is negated, so that rotating is `x * cosine + swap(x) * sine`.
    """

    cosine: Tensor
    sine: Tensor

    @classmethod
    def build(cls, spec: ModelSpec, dtype: torch.dtype) -> RotaryTable:
        """Compute the table in fp64 and round it once to `dtype`."""
        exponent = torch.arange(0, spec.head_dim, 2, dtype=torch.float64) / spec.head_dim
        angle = torch.outer(torch.arange(spec.context, dtype=torch.float64), spec.rope_base**-exponent)
        cosine, sine = angle.cos(), angle.sin()
        return cls(torch.cat((cosine, cosine), dim=1).to(dtype), torch.cat((-sine, sine), dim=1).to(dtype))

    def at(self, positions: Tensor) -> Rotation:
        """Return the rotation of a step's tokens, looked up once for all layers; positions [tokens]."""
        return Rotation(self.cosine[positions].unsqueeze(1), self.sine[positions].unsqueeze(1))


@dataclass(frozen=True, slots=True, eq=False)
class Rotation:
    """The rotation of each token of a step: cosine and sine, both [tokens, 1, head_dim]."""

    cosine: Tensor
    sine: Tensor

    def apply_(self, x: Tensor) -> None:
        """Rotate x [tokens, heads, head_dim] in place."""
        swapped = x.roll(x.shape[-1] // 2, dims=-1)
        x.mul_(self.cosine).addcmul_(swapped, self.sine)
