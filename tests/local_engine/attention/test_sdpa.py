import random

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from local_engine.attention import sdpa
from local_engine.attention.base import BatchMeta, Span
from local_engine.attention.reference import ReferenceAttention
from local_engine.attention.sdpa import SdpaAttention
from local_engine.cache.storage import KVStorage

BLOCK, KV_HEADS, GROUP, DIM = 4, 2, 3, 8


def filled(num_blocks: int, dtype: torch.dtype = torch.float32) -> KVStorage:
    storage = KVStorage(layers=2, num_blocks=num_blocks, block_size=BLOCK, kv_heads=KV_HEADS, head_dim=DIM, dtype=dtype)
    noise = torch.Generator().manual_seed(0)
    slots = num_blocks * BLOCK
    for layer in range(2):
        kv = torch.randn(slots, 2, KV_HEADS, DIM, generator=noise).to(dtype)
        storage.write(layer, kv, torch.arange(slots))
    return storage


def meta_of(sequences: list[tuple[int, int]], *, contiguous: bool, seed: int) -> tuple[BatchMeta, int]:
    """Lay out (start, rows) pairs; attention reads nothing of a meta but its spans."""
    widths = [-(-(start + rows) // BLOCK) for start, rows in sequences]
    ids = list(range(sum(widths)))
    if not contiguous:
        random.Random(seed).shuffle(ids)
    spans: list[Span] = []
    row = taken = 0
    for (start, rows), width in zip(sequences, widths, strict=True):
        spans.append(Span(row, rows, start, tuple(ids[taken : taken + width])))
        row, taken = row + rows, taken + width
    nothing = torch.zeros(row, dtype=torch.int64)
    return BatchMeta(tuple(spans), nothing, nothing, nothing, nothing), len(ids)


def queries(meta: BatchMeta, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    noise = torch.Generator().manual_seed(1)
    return torch.randn(meta.tokens.shape[0], KV_HEADS * GROUP, DIM, generator=noise).to(dtype)


@given(
    sequences=st.lists(st.tuples(st.integers(0, 40), st.one_of(st.just(1), st.integers(1, 9))), min_size=1, max_size=7),
    contiguous=st.booleans(),
    seed=st.integers(0, 99),
)
def test_it_agrees_with_the_reference_on_any_mix(sequences: list[tuple[int, int]], contiguous: bool, seed: int) -> None:
    meta, blocks = meta_of(sequences, contiguous=contiguous, seed=seed)
    storage, q = filled(blocks), queries(meta)
    expected = ReferenceAttention().plan(meta, storage)
    got = SdpaAttention().plan(meta, storage)
    for layer in range(2):
        torch.testing.assert_close(got.attend(layer, q), expected.attend(layer, q), atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("contiguous", [True, False])
def test_long_decodes_in_a_batch_agree_too(contiguous: bool) -> None:
    sequences = [(1200, 1), (5, 1), (1030, 1), (1023, 1), (70, 4)]
    meta, blocks = meta_of(sequences, contiguous=contiguous, seed=3)
    storage, q = filled(blocks), queries(meta)
    expected = ReferenceAttention().plan(meta, storage).attend(0, q)
    torch.testing.assert_close(SdpaAttention().plan(meta, storage).attend(0, q), expected, atol=1e-5, rtol=1e-5)


def test_bf16_agrees_to_the_precision_of_bf16() -> None:
    meta, blocks = meta_of([(0, 17), (30, 1), (12, 5), (9, 1)], contiguous=False, seed=4)
    storage, q = filled(blocks, torch.bfloat16), queries(meta, torch.bfloat16)
    expected = ReferenceAttention().plan(meta, storage).attend(1, q)
    torch.testing.assert_close(SdpaAttention().plan(meta, storage).attend(1, q), expected, atol=2e-2, rtol=2e-2)


def test_slots_past_a_sequence_have_no_influence() -> None:
    meta, blocks = meta_of([(5, 1), (8, 1), (2, 3)], contiguous=False, seed=5)
    storage, q = filled(blocks), queries(meta)
    before = SdpaAttention().plan(meta, storage).attend(0, q)
    beyond = [
        span.blocks[p // BLOCK] * BLOCK + p % BLOCK
        for span in meta.spans
        for p in range(span.length, len(span.blocks) * BLOCK)
    ]
    storage.write(0, torch.full((len(beyond), 2, KV_HEADS, DIM), 1e4), torch.tensor(beyond))
    assert torch.equal(SdpaAttention().plan(meta, storage).attend(0, q), before)


def test_a_lone_decode_in_a_run_of_blocks_copies_nothing() -> None:
    class NoCopies(KVStorage):
        def gather(self, layer: int, blocks: torch.Tensor) -> torch.Tensor:
            raise AssertionError("keys and values were copied")

    storage = NoCopies(layers=1, num_blocks=8, block_size=BLOCK, kv_heads=KV_HEADS, head_dim=DIM, dtype=torch.float32)
    for sequences in ([(20, 1)], [(0, 9)], [(9, 6), (3, 1)]):
        meta, _ = meta_of(sequences, contiguous=True, seed=0)
        SdpaAttention().plan(meta, storage).attend(0, queries(meta))


def test_padding_never_doubles_what_a_decode_reads() -> None:
    spans = [Span(i, 1, length - 1, tuple(range(-(-length // BLOCK)))) for i, length in enumerate(range(1, 200, 7))]
    buckets = sdpa._buckets(spans)
    assert sorted(span.first_row for bucket in buckets for span in bucket) == list(range(len(spans)))
    for bucket in buckets:
        widths = [len(span.blocks) for span in bucket]
        assert max(widths) <= 2 * min(widths)
