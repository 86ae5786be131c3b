"""The error bound, held against made-up worlds that the shipped prior has never seen."""

from __future__ import annotations

import pytest

from tests.support.question_streams import made_up, play

STREAMS = 100


@pytest.mark.parametrize("judge_error", [0.0, 0.05])
def test_at_most_one_stream_in_twenty_is_ever_over_its_error_bound(judge_error: float) -> None:
    played = [play(made_up(seed, 500), seed=seed, judge_error=judge_error) for seed in range(STREAMS)]
    assert sum(each.worst > 0.01 for each in played) <= STREAMS * 0.05
    assert sum(each.learner.standing().upper < each.error for each in played) <= STREAMS * 0.05
    assert sum(each.hits for each in played) > 0
