from dataclasses import dataclass

import pytest
import torch
from torch import Tensor

from local_engine.measure.probe import Speeds, measure_speeds
from local_engine.types import StepPlan
from tests.support.hash_engine import HashRunner


@dataclass(slots=True)
class TimedRunner(HashRunner):
    """Takes a second a prompt token, and half a second when it decodes."""

    now: float = 0.0

    def execute(self, plan: StepPlan) -> Tensor:
        [chunk] = plan.chunks
        self.now += 0.5 if len(chunk.tokens) == 1 else float(len(chunk.tokens))
        HashRunner.execute(self, plan)
        return torch.empty(0)


def test_prefill_and_decode_are_measured_apart() -> None:
    runner = TimedRunner(num_blocks=64, block_size=16, max_context=1024)
    assert measure_speeds(runner, lambda: runner.now) == Speeds(prefill=1.0, decode=2.0)


class NanRunner(HashRunner):
    """Computes a NaN."""

    def execute(self, plan: StepPlan) -> Tensor:
        return HashRunner.execute(self, plan).index_fill(1, torch.tensor([3]), torch.nan)


def test_a_model_that_computes_no_numbers_is_refused() -> None:
    with pytest.raises(ValueError, match="finite"):
        measure_speeds(NanRunner(), lambda: 0.0)


def test_a_small_pool_is_enough() -> None:
    runner = TimedRunner(num_blocks=4, block_size=2, max_context=1024)
    assert measure_speeds(runner, lambda: runner.now) == Speeds(prefill=1.0, decode=2.0)
