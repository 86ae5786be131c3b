"""The tensors that hold keys and values, addressed by slot."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from torch import Tensor


class KVStorage:
    """One pool of slots per layer; a block is `block_size` slots in a row.

    Which sequence owns which block is not known here. The pool starts as zeros and stays finite: attention kernels
    multiply masked slots by zero, and zero times NaN is NaN.
    """

    def __init__(
        self, *, layers: int, num_blocks: int, block_size: int, kv_heads: int, head_dim: int, dtype: torch.dtype
    ) -> None:
        self.num_blocks = num_blocks
        self.block_size = block_size
        self._pool = torch.zeros(layers, num_blocks * block_size, 2, kv_heads, head_dim, dtype=dtype)

    @property
    def dtype(self) -> torch.dtype:
        """The dtype of keys and values."""
        return self._pool.dtype

    @property
    def nbytes(self) -> int:
        """Bytes the pool takes."""
        return self._pool.nbytes

    def write(self, layer: int, kv: Tensor, slots: Tensor) -> None:
        """Store kv [tokens, 2, kv_heads, head_dim] at slots [tokens]; keys first, values second."""
        self._pool[layer].index_copy_(0, slots, kv)

    def run(self, layer: int, first_block: int, length: int) -> Tensor:
        """Return a view [length, 2, kv_heads, head_dim] of slots in a row, without copying."""
        start = first_block * self.block_size
        return self._pool[layer, start : start + length]

    def gather(self, layer: int, blocks: Tensor) -> Tensor:
        """Return a copy [blocks * block_size, 2, kv_heads, head_dim] of the given blocks [blocks], in order."""
        return self._pool[layer].unflatten(0, (self.num_blocks, self.block_size)).index_select(0, blocks).flatten(0, 1)
