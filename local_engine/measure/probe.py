"""How fast this machine runs this model for one alone, measured once before serving begins."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from local_engine.types import ChunkPlan, StepPlan

if TYPE_CHECKING:
    from collections.abc import Callable

    from local_engine.types import Runner

_PREFILL_TOKENS = 256
_PREFILLS = 3
_DECODES = 24


@dataclass(frozen=True, slots=True)
class Speeds:
    """Measured rates of a model on this machine.

    Attributes:
        prefill: Prompt tokens per second.
        decode: Generated tokens per second; None for a model that only reads.
    """

    prefill: float
    decode: float | None


def measure_speeds(runner: Runner, clock: Callable[[], float]) -> Speeds:
    """Time a few prefills and decode steps and take the medians.

    The probe writes into the first blocks of the pool, so it runs before any request does.

    Args:
        runner: The model, idle.
        clock: Seconds.

    Raises:
        ValueError: The model computes something that is no number, as it does with damaged weights.
    """
    room = min(runner.max_context, runner.num_blocks * runner.block_size)
    prompt_tokens = min(_PREFILL_TOKENS, room // 2)
    decodes = min(_DECODES, room - prompt_tokens)
    table = tuple(range(-(-(prompt_tokens + decodes) // runner.block_size)))
    prompt = tuple(position * 7919 % runner.vocab_size for position in range(prompt_tokens))

    def seconds(tokens: tuple[int, ...], start: int) -> float:
        blocks = table[: -(-(start + len(tokens)) // runner.block_size)]
        began = clock()
        logits = runner.execute(StepPlan((ChunkPlan(0, tokens, start, blocks, wants_logits=True),)))
        took = clock() - began
        if not logits.isfinite().all():
            raise ValueError("the model computes logits that are not finite numbers")
        return took

    seconds(prompt, 0)  # the first pass also pays for thread pools and packed weights
    prefill_s = median(seconds(prompt, 0) for _ in range(_PREFILLS))
    decode_s = median(seconds((0,), prompt_tokens + step) for step in range(decodes))
    return Speeds(prefill=prompt_tokens / prefill_s, decode=1 / decode_s)
