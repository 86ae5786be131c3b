"""Attention through torch's fused CPU kernel, which wants keys and values in a row.

A sequence whose blocks lie in a row is read where it is. Others are copied together first: one copy per prefill chunk,
and one per bucket of decodes, padded to the longest of the bucket. Query heads that share a key head are passed as
rows of one attention, so keys and values are never repeated.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import torch
from torch.nn.functional import scaled_dot_product_attention

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from torch import Tensor

    from local_engine.attention.base import BatchMeta, Span
    from local_engine.cache.storage import KVStorage

_READ_IN_PLACE = 1024
"""A decode this long is read where it lies rather than copied into a batch.

Measured for batches of 8 and 32: below it the copy costs less than a kernel call per sequence, above it more.
"""


class SdpaAttention:
    """Causal grouped-query attention with torch's scaled_dot_product_attention."""

    def plan(self, meta: BatchMeta, storage: KVStorage) -> SdpaStep:
        """Sort the spans into kernel calls and build their masks."""
        decodes = [span for span in meta.spans if span.rows == 1]
        alone = [span for span in decodes if span.contiguous and (len(decodes) == 1 or span.length >= _READ_IN_PLACE)]
        together = _buckets(span for span in decodes if span not in alone)
        calls: list[_Call] = [_chunk(span, storage) for span in meta.spans if span.rows > 1]
        calls += [_Decode(span, storage) for span in alone]
        calls += [_decode_batch(bucket, storage) for bucket in together]
        return SdpaStep(tuple(calls))


@dataclass(frozen=True, slots=True, eq=False)
class SdpaStep:
    """The kernel calls of one step; together they cover every row once."""

    calls: tuple[_Call, ...]

    def attend(self, layer: int, q: Tensor) -> Tensor:
        """Run each call on its rows."""
        if len(self.calls) == 1 and self.calls[0].in_order:
            return self.calls[0].attend(layer, q)
        out = q.new_empty(q.shape[0], q.shape[1] * q.shape[2])
        for call in self.calls:
            out[call.rows] = call.attend(layer, q[call.rows])
        return out


class _Call(Protocol):
    """One use of the kernel."""

    @property
    def rows(self) -> slice | Tensor:
        """The rows of the batch it covers."""
        ...

    @property
    def in_order(self) -> bool:
        """True when a call that covers the whole batch takes its rows as they come."""
        ...

    def attend(self, layer: int, q: Tensor) -> Tensor:
        """Take q [rows, heads, head_dim] to [rows, heads * head_dim]."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class _Chunk:
    """A prefill chunk; the mask [rows, length] is None for a first chunk, which is plainly causal."""

    span: Span
    storage: KVStorage
    mask: Tensor | None
    in_order: bool = True

    @property
    def rows(self) -> slice:
        return slice(self.span.first_row, self.span.stop_row)

    def attend(self, layer: int, q: Tensor) -> Tensor:
        k, v = _keys_and_values(self.storage, layer, self.span)
        mixed = scaled_dot_product_attention(
            q.transpose(0, 1).unsqueeze(0), k, v, attn_mask=self.mask, is_causal=self.mask is None, enable_gqa=True
        )
        return mixed.squeeze(0).transpose(0, 1).flatten(1)


@dataclass(frozen=True, slots=True, eq=False)
class _Decode:
    """One decode on its own; it sees everything that is stored, so it needs no mask."""

    span: Span
    storage: KVStorage
    in_order: bool = True

    @property
    def rows(self) -> slice:
        return slice(self.span.first_row, self.span.stop_row)

    def attend(self, layer: int, q: Tensor) -> Tensor:
        k, v = _keys_and_values(self.storage, layer, self.span)
        return scaled_dot_product_attention(q.unflatten(1, (k.shape[1], -1)), k, v).flatten(1)


@dataclass(frozen=True, slots=True, eq=False)
class _DecodeBatch:
    """Decodes of similar length, padded to one.

    Attributes:
        rows: int64 [batch].
        in_order: True when the rows are 0, 1, 2, …
        storage: Where the blocks are.
        blocks: int64 [batch * width], each sequence's table padded to the same width.
        mask: [batch, 1, 1, width * block_size], minus infinity past each sequence's end.
    """

    rows: Tensor
    in_order: bool
    storage: KVStorage
    blocks: Tensor
    mask: Tensor

    def attend(self, layer: int, q: Tensor) -> Tensor:
        kv = self.storage.gather(layer, self.blocks).unflatten(0, (self.rows.shape[0], -1))
        k, v = kv[:, :, 0].transpose(1, 2), kv[:, :, 1].transpose(1, 2)
        grouped = q.unflatten(1, (k.shape[1], -1))
        return scaled_dot_product_attention(grouped, k, v, attn_mask=self.mask).flatten(1)


def _buckets(spans: Iterable[Span]) -> list[list[Span]]:
    """Group decodes so that padding at most doubles what any of them reads."""
    buckets: defaultdict[int, list[Span]] = defaultdict(list)
    for span in spans:
        buckets[(len(span.blocks) - 1).bit_length()].append(span)
    return [buckets[width] for width in sorted(buckets)]


def _chunk(span: Span, storage: KVStorage) -> _Chunk:
    if span.start == 0:
        return _Chunk(span, storage, None)
    future = torch.ones(span.rows, span.length, dtype=torch.bool).triu(span.start + 1)
    return _Chunk(span, storage, torch.zeros(future.shape, dtype=storage.dtype).masked_fill_(future, -math.inf))


def _decode_batch(spans: Sequence[Span], storage: KVStorage) -> _DecodeBatch:
    rows = [span.first_row for span in spans]
    width = max(len(span.blocks) for span in spans)
    # Padding repeats a sequence's own last block: finite, already warm, and masked.
    blocks = [block for span in spans for block in span.blocks + span.blocks[-1:] * (width - len(span.blocks))]
    lengths = torch.tensor([span.length for span in spans]).unsqueeze(1)
    beyond = torch.arange(width * storage.block_size) >= lengths
    mask = torch.zeros(beyond.shape, dtype=storage.dtype).masked_fill_(beyond, -math.inf)
    in_order = rows == list(range(len(rows)))
    return _DecodeBatch(torch.tensor(rows), in_order, storage, torch.tensor(blocks), mask[:, None, None, :])


def _keys_and_values(storage: KVStorage, layer: int, span: Span) -> tuple[Tensor, Tensor]:
    """Return keys and values, both [1, kv_heads, length, head_dim]: in place when the blocks are in a row."""
    if span.contiguous:
        kv = storage.run(layer, span.blocks[0], span.length)
    else:
        kv = storage.gather(layer, torch.tensor(span.blocks))[: span.length]
    return kv[:, 0].transpose(0, 1).unsqueeze(0), kv[:, 1].transpose(0, 1).unsqueeze(0)
