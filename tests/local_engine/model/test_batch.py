import pytest

from local_engine.model.batch import flatten
from local_engine.types import ChunkPlan, StepPlan


def test_chunks_are_laid_end_to_end_and_slots_follow_the_block_tables() -> None:
    prefill = ChunkPlan(7, (10, 11, 12), 2, (5, 1), wants_logits=False)
    decode = ChunkPlan(8, (13,), 4, (0, 3), wants_logits=True)
    meta = flatten(StepPlan((prefill, decode)), block_size=4)
    assert meta.tokens.tolist() == [10, 11, 12, 13]
    assert meta.positions.tolist() == [2, 3, 4, 4]
    assert meta.slots.tolist() == [22, 23, 4, 12]
    assert meta.logit_rows.tolist() == [3]
    assert [(span.first_row, span.rows, span.length) for span in meta.spans] == [(0, 3, 5), (3, 1, 5)]


def test_blocks_past_a_chunks_end_are_left_out() -> None:
    meta = flatten(StepPlan((ChunkPlan(0, (1,), 3, (2, 9, 9), wants_logits=True),)), block_size=4)
    assert meta.spans[0].blocks == (2,)


@pytest.mark.parametrize(
    "chunk",
    [
        ChunkPlan(0, (), 0, (0,), wants_logits=False),
        ChunkPlan(0, (1,), 4, (0,), wants_logits=True),
        ChunkPlan(0, (1, 2, 3, 4, 5), 0, (0,), wants_logits=True),
    ],
)
def test_a_chunk_that_does_not_fit_its_blocks_is_refused(chunk: ChunkPlan) -> None:
    with pytest.raises(ValueError, match="do not fit"):
        flatten(StepPlan((chunk,)), block_size=4)


def test_an_empty_step_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one chunk"):
        flatten(StepPlan(()), block_size=4)
