"""A step plan as flat tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from local_engine.attention.base import BatchMeta, Span

if TYPE_CHECKING:
    from local_engine.types import ChunkPlan, StepPlan


def flatten(plan: StepPlan, block_size: int) -> BatchMeta:
    """Lay the chunks of a plan end to end.

    Raises:
        ValueError: The plan has no chunk, a chunk has no token, or a block table is too short for its chunk.
    """
    spans: list[Span] = []
    tokens: list[int] = []
    positions: list[int] = []
    slots: list[int] = []
    for chunk in plan.chunks:
        span = _span(chunk, len(tokens), block_size)
        spans.append(span)
        tokens += chunk.tokens
        places = range(span.start, span.length)
        positions += places
        slots += [span.blocks[p // block_size] * block_size + p % block_size for p in places]
    if not spans:
        raise ValueError("a step needs at least one chunk")
    wanted = [span.stop_row - 1 for span, chunk in zip(spans, plan.chunks, strict=True) if chunk.wants_logits]
    return BatchMeta(
        tuple(spans),
        torch.tensor(tokens),
        torch.tensor(positions),
        torch.tensor(slots),
        torch.tensor(wanted, dtype=torch.int64),
    )


def _span(chunk: ChunkPlan, first_row: int, block_size: int) -> Span:
    length = chunk.start + len(chunk.tokens)
    needed = -(-length // block_size)
    if not chunk.tokens or len(chunk.block_table) < needed:
        raise ValueError(
            f"sequence {chunk.sequence_id}: {len(chunk.tokens)} tokens at {chunk.start} "
            f"do not fit {len(chunk.block_table)} blocks of {block_size}"
        )
    return Span(first_row, len(chunk.tokens), chunk.start, chunk.block_table[:needed])
