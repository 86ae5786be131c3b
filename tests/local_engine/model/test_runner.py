import random
from dataclasses import dataclass, field

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from local_engine.model.reference import ReferenceModel
from local_engine.types import ChunkPlan, Numerics, Runner, StepPlan
from tests.support.tiny_model import TINY_SPEC, tiny_runner, tiny_weights, whole_prompt

BLOCK = 4
TOLERANCE = 2e-3
"""Logits here are about 30; of 5,000 rows fp32 rounding moves half by 2e-5, a hundredth by 1e-4, one by 5e-4."""


@dataclass
class Sequence:
    """One sequence being fed to a runner in pieces."""

    id: int
    tokens: list[int]
    table: tuple[int, ...]
    done: int = 0
    logits: dict[int, torch.Tensor] = field(default_factory=dict[int, torch.Tensor])

    def next_chunk(self, count: int) -> ChunkPlan:
        tokens = tuple(self.tokens[self.done : self.done + count])
        return ChunkPlan(self.id, tokens, self.done, self.table, wants_logits=True)


def random_from(seed: int) -> random.Random:
    return random.Random(seed)


def random_tokens(count: int, noise: random.Random) -> list[int]:
    return [noise.randrange(TINY_SPEC.vocab) for _ in range(count)]


def shuffled_tables(lengths: list[int], noise: random.Random) -> list[tuple[int, ...]]:
    ids = list(range(64))
    noise.shuffle(ids)
    return [tuple(ids.pop() for _ in range(-(-length // BLOCK))) for length in lengths]


def feed(runner: Runner, sequences: list[Sequence], noise: random.Random) -> None:
    """Run all sequences to their end, in random chunks and random company."""
    while waiting := [sequence for sequence in sequences if sequence.done < len(sequence.tokens)]:
        joined = noise.sample(waiting, noise.randint(1, len(waiting)))
        chunks = [sequence.next_chunk(noise.choice((1, 1, 2, 5, 30))) for sequence in joined]
        rows = runner.execute(StepPlan(tuple(chunks)))
        for sequence, chunk, row in zip(joined, chunks, rows, strict=True):
            sequence.done += len(chunk.tokens)
            sequence.logits[sequence.done - 1] = row


@pytest.mark.parametrize("numerics", [Numerics.REFERENCE, Numerics.FP32])
@settings(max_examples=25)
@given(seed=st.integers(0, 2**32), lengths=st.lists(st.integers(1, 40), min_size=1, max_size=5))
def test_any_chunking_paging_and_batching_gives_the_logits_of_a_whole_forward(
    numerics: Numerics, seed: int, lengths: list[int]
) -> None:
    noise = random_from(seed)
    tables = shuffled_tables(lengths, noise)
    sequences = [
        Sequence(i, random_tokens(length, noise), table)
        for i, (length, table) in enumerate(zip(lengths, tables, strict=True))
    ]
    feed(tiny_runner(numerics, num_blocks=64, block_size=BLOCK), sequences, noise)
    oracle = ReferenceModel(TINY_SPEC, tiny_weights())
    for sequence in sequences:
        expected = oracle.logits(sequence.tokens)
        for position, row in sequence.logits.items():
            torch.testing.assert_close(row.double(), expected[position], atol=TOLERANCE, rtol=0)


def test_q4_is_the_same_model_up_to_the_precision_of_bf16() -> None:
    tokens = random_tokens(60, random_from(1))
    expected = ReferenceModel(TINY_SPEC, tiny_weights()).logits(tokens)[-1]
    got = tiny_runner(Numerics.Q4).execute(whole_prompt(tokens, 16))[0]
    assert got.dtype == torch.float32
    assert torch.corrcoef(torch.stack((got.double(), expected)))[0, 1] > 0.99


def test_q4_decodes_as_it_prefills() -> None:
    tokens = random_tokens(30, random_from(2))
    whole = tiny_runner(Numerics.Q4).execute(whole_prompt(tokens, 16))[0]
    stepped = Sequence(0, tokens, (3, 1))
    runner = tiny_runner(Numerics.Q4)
    while stepped.done < len(tokens):
        stepped.logits[stepped.done] = runner.execute(StepPlan((stepped.next_chunk(1),)))[0]
        stepped.done += 1
    assert torch.corrcoef(torch.stack((whole, stepped.logits[29])))[0, 1] > 0.99


def test_only_the_chunks_that_want_logits_get_rows_in_their_order() -> None:
    runner = tiny_runner(num_blocks=8, block_size=BLOCK)
    plan = StepPlan(
        (
            ChunkPlan(0, (1, 2, 3), 0, (0,), wants_logits=False),
            ChunkPlan(1, (4, 5), 0, (1,), wants_logits=True),
            ChunkPlan(2, (6,), 0, (2,), wants_logits=True),
        )
    )
    rows = runner.execute(plan)
    oracle = ReferenceModel(TINY_SPEC, tiny_weights())
    assert rows.shape == (2, TINY_SPEC.vocab)
    torch.testing.assert_close(rows[0].double(), oracle.logits([4, 5])[-1], atol=TOLERANCE, rtol=0)
    torch.testing.assert_close(rows[1].double(), oracle.logits([6])[-1], atol=TOLERANCE, rtol=0)


def test_a_step_in_which_nobody_wants_logits_returns_no_rows() -> None:
    runner = tiny_runner(num_blocks=8, block_size=BLOCK)
    rows = runner.execute(StepPlan((ChunkPlan(0, (1, 2), 0, (0,), wants_logits=False),)))
    assert rows.shape == (0, TINY_SPEC.vocab)


def test_twins_in_one_step_may_share_the_blocks_of_their_common_prefix() -> None:
    runner = tiny_runner(num_blocks=8, block_size=BLOCK)
    shared = (9, 8, 7, 6)
    plan = StepPlan(
        (
            ChunkPlan(0, (*shared, 1), 0, (0, 1), wants_logits=True),
            ChunkPlan(1, (2, 3), 4, (0, 2), wants_logits=True),
        )
    )
    rows = runner.execute(plan)
    oracle = ReferenceModel(TINY_SPEC, tiny_weights())
    torch.testing.assert_close(rows[0].double(), oracle.logits([*shared, 1])[-1], atol=TOLERANCE, rtol=0)
    torch.testing.assert_close(rows[1].double(), oracle.logits([*shared, 2, 3])[-1], atol=TOLERANCE, rtol=0)


def test_a_token_or_block_out_of_range_is_an_error_and_no_crash() -> None:
    runner = tiny_runner(num_blocks=2, block_size=BLOCK)
    for token, block in ((TINY_SPEC.vocab, 0), (1, 2)):
        with pytest.raises(IndexError):
            runner.execute(StepPlan((ChunkPlan(0, (token,), 0, (block,), wants_logits=True),)))


def test_a_runner_says_what_it_holds() -> None:
    runner: Runner = tiny_runner(num_blocks=6, block_size=BLOCK)
    assert (runner.num_blocks, runner.block_size) == (6, BLOCK)
    assert (runner.vocab_size, runner.max_context) == (TINY_SPEC.vocab, TINY_SPEC.context)
