"""What an engine has done and what it holds, in figures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from local_engine.measure.throughput import Throughput


@dataclass(frozen=True, slots=True)
class Stats:
    """The engine at one moment; the totals count from its start.

    Attributes:
        throughput: What was computed in how much time; steps that failed are not counted.
        blocks_used: Cache blocks that running sequences need; idle prefixes do not count, they would be evicted.
        prefix_hit_tokens: Prompt tokens that were found in the cache.
    """

    throughput: Throughput
    running: int = 0
    waiting: int = 0
    blocks_used: int = 0
    blocks_total: int = 0
    blocks_cached: int = 0
    prompt_tokens: int = 0
    prefix_hit_tokens: int = 0
    generation_tokens: int = 0
    preemptions: int = 0
    steps: int = 0
