"""What a step looks like to attention, and what a backend must offer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from torch import Tensor

    from local_engine.cache.storage import KVStorage


@dataclass(frozen=True, slots=True)
class Span:
    """One sequence's rows in the flat batch.

    Attributes:
        first_row: Its first row in the batch.
        rows: How many rows it has; one for a decode.
        start: Position of its first row in the sequence.
        blocks: The blocks that hold positions 0 to `length - 1`, and no more.
    """

    first_row: int
    rows: int
    start: int
    blocks: tuple[int, ...]

    @property
    def length(self) -> int:
        """Positions the last row may see, its own included."""
        return self.start + self.rows

    @property
    def stop_row(self) -> int:
        """The row after its last."""
        return self.first_row + self.rows

    @property
    def contiguous(self) -> bool:
        """True when its blocks follow each other in the pool."""
        first = self.blocks[0]
        return all(block == first + i for i, block in enumerate(self.blocks))


@dataclass(frozen=True, slots=True, eq=False)
class BatchMeta:
    """A step as flat tensors, built once on the host and read by every layer.

    Attributes:
        spans: The sequences, in row order.
        tokens: int64 [tokens].
        positions: int64 [tokens], the place of each token in its sequence.
        slots: int64 [tokens], where each token's keys and values go.
        logit_rows: int64 [rows], the rows whose logits are wanted.
    """

    spans: tuple[Span, ...]
    tokens: Tensor
    positions: Tensor
    slots: Tensor
    logit_rows: Tensor


class StepAttention(Protocol):
    """Attention for one step, planned."""

    def attend(self, layer: int, q: Tensor) -> Tensor:
        """Attend over a layer's stored keys and values; q [tokens, heads, head_dim] to [tokens, heads * head_dim]."""
        ...


class AttentionBackend(Protocol):
    """A way of computing causal grouped-query attention over paged storage."""

    def plan(self, meta: BatchMeta, storage: KVStorage) -> StepAttention:
        """Do once per step what does not depend on the layer."""
        ...
