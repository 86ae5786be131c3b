"""What a weight matrix is before a kernel's layout is chosen for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import torch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor


@dataclass(frozen=True, slots=True, eq=False)
class Dense:
    """A matrix held as floating-point values.

    Attributes:
        values: [rows, columns].
    """

    values: Tensor

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        rows, columns = self.values.shape
        return rows, columns

    def dequantised(self) -> Tensor:
        """Return the matrix as fp32 [rows, columns]."""
        return self.values.float()

    def take_rows(self, order: Tensor) -> Dense:
        """Return the matrix with its rows in the given order."""
        return Dense(self.values[order])


@dataclass(frozen=True, slots=True, eq=False)
class Grouped:
    """A matrix held as integers with one scale and minimum per group of columns: `w = code * scale + minimum`.

    This is exactly what Q4_1 and Q8_0 store, so nothing is lost by holding it so.

    Attributes:
        codes: [rows, columns], uint8 0 to 15 for 4 bits, int8 for 8 bits.
        scale: [rows, columns / group], as stored.
        minimum: [rows, columns / group], as stored; zeros when the format has none.
        bits: 4 or 8.
    """

    codes: Tensor
    scale: Tensor
    minimum: Tensor
    bits: int

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        rows, columns = self.codes.shape
        return rows, columns

    @property
    def group(self) -> int:
        """Columns that share one scale."""
        return self.codes.shape[1] // self.scale.shape[1]

    def dequantised(self) -> Tensor:
        """Return the matrix as fp32 [rows, columns]."""
        grouped = self.codes.float().unflatten(1, (-1, self.group))
        return grouped.mul_(self.scale.float().unsqueeze(-1)).add_(self.minimum.float().unsqueeze(-1)).flatten(1)

    def take_rows(self, order: Tensor) -> Grouped:
        """Return the matrix with its rows in the given order; lossless, because no group spans two rows."""
        return Grouped(self.codes[order], self.scale[order], self.minimum[order], self.bits)


Weight: TypeAlias = Dense | Grouped


def stack_rows(weights: Sequence[Weight]) -> Weight:
    """Return one matrix with the rows of all, so that several projections of one input become one matmul.

    Integers stay integers when all parts share bits and group; otherwise the result is dense.
    """
    grouped = [weight for weight in weights if isinstance(weight, Grouped)]
    if len(grouped) == len(weights) and len({(weight.bits, weight.group) for weight in grouped}) == 1:
        return Grouped(
            torch.cat([weight.codes for weight in grouped]),
            torch.cat([weight.scale for weight in grouped]),
            torch.cat([weight.minimum for weight in grouped]),
            grouped[0].bits,
        )
    return Dense(torch.cat([weight.dequantised() for weight in weights]))
