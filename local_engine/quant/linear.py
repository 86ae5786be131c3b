"""Matmuls `x @ w.T`, one class per way of holding `w`; all are called the same way.

The packed kernels are ATen's and oneDNN's own: int4pack streams 4-bit weights and is best for the few rows of a
decode step, pre-packed bf16 feeds the matrix units and is best for the many rows of a prefill. `DualLinear` holds both.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import torch
from torch.nn import functional

if TYPE_CHECKING:
    from torch import Tensor

    from local_engine.quant.weight import Grouped

FEW_ROWS = 4
"""Up to this many rows int4pack is faster than packed bf16.

Measured on two cores with AVX-512 and AMX over this model's four shapes: the kernel re-reads the weights once per four
rows, so row 5 costs as much as four more (60 us against 30 us at 8 rows, 576x960).
"""


class Linear(Protocol):
    """A matmul with a fixed weight."""

    def __call__(self, x: Tensor) -> Tensor:
        """Return `x @ w.T`: [rows, columns] to [rows, outputs], in the dtype of x."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class DenseLinear:
    """A plain matmul; weight [outputs, columns] in the dtype of its input."""

    weight: Tensor

    def __call__(self, x: Tensor) -> Tensor:
        """Return `x @ w.T`."""
        return functional.linear(x, self.weight)


@dataclass(frozen=True, slots=True, eq=False)
class PackedLinear:
    """A bf16 matmul whose weight was laid out once for oneDNN instead of on every call."""

    packed: Tensor

    @classmethod
    def pack(cls, weight: Tensor, rows: int) -> PackedLinear:
        """Lay out a dense bf16 weight [outputs, columns]; any number of rows works, `rows` is the one tuned for."""
        return cls(torch.ops.mkldnn._reorder_linear_weight(weight, rows))  # noqa: SLF001  # the only eager entry to oneDNN's packed layout

    def __call__(self, x: Tensor) -> Tensor:
        """Return `x @ w.T`."""
        return torch.ops.mkldnn._linear_pointwise(x, self.packed, None, "none", [], "")  # noqa: SLF001  # see pack


@dataclass(frozen=True, slots=True, eq=False)
class Int4Linear:
    """A bf16 matmul over 4-bit weights in ATen's CPU layout.

    ATen computes `(code - 8) * scale + zero`; Q4_1 stores `code * scale + minimum`, so `zero = minimum + 8 * scale`
    and the integers are kept as they are.
    """

    packed: Tensor
    scale_and_zero: Tensor
    group: int

    @classmethod
    def pack(cls, weight: Grouped) -> Int4Linear:
        """Lay out a 4-bit weight; `fits_int4` must hold for it."""
        scale, minimum = weight.scale.float(), weight.minimum.float()
        pair = torch.stack((scale, minimum + 8 * scale), dim=-1)  # [outputs, groups, 2]
        packed = torch.ops.aten._convert_weight_to_int4pack_for_cpu(weight.codes.int(), 1)  # noqa: SLF001  # ATen has no public name for it
        return cls(packed, pair.transpose(0, 1).contiguous().bfloat16(), weight.group)

    def __call__(self, x: Tensor) -> Tensor:
        """Return `x @ w.T`."""
        return torch.ops.aten._weight_int4pack_mm_for_cpu(x, self.packed, self.group, self.scale_and_zero)  # noqa: SLF001  # see pack


@dataclass(frozen=True, slots=True, eq=False)
class DualLinear:
    """Two layouts of the same integers: one for few rows, one for many.

    Both come from one source, so prefill and decode are the same model up to rounding.
    """

    few: Linear
    many: Linear

    def __call__(self, x: Tensor) -> Tensor:
        """Return `x @ w.T`."""
        return self.few(x) if x.shape[0] <= FEW_ROWS else self.many(x)


def fits_int4(weight: Grouped) -> bool:
    """Tell whether ATen's int4 kernel takes this weight: 4 bits, outputs in sixteens, a group size it knows."""
    return weight.bits == 4 and weight.shape[0] % 16 == 0 and weight.group in {32, 64, 128, 256}  # noqa: PLR2004
