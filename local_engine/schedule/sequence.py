"""What the scheduler knows of one sequence: its tokens, how many are computed, and its lease on the cache."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from local_engine.cache.manager import Lease
    from local_engine.cache.radix import Namespace


@dataclass(slots=True, eq=False)
class Sequence:
    """A prompt that grows by one sampled token at a time.

    Attributes:
        sequence_id: Its place in the order of arrival, which it keeps when it is preempted.
        namespace: Whose cached prefixes it may use.
        tokens: Prompt and output.
        arrived_s: When it arrived, in seconds of the engine's clock.
        priority: Its class; while there is one of a smaller number to serve, it stops.
        computed: How many tokens have keys and values in the cache.
        lease: Its hold on the cache while it runs; None while it waits.
        cached: Prompt tokens that were found in the cache when it first ran; None before that.
        preemptions: How often it lost its place.
    """

    sequence_id: int
    namespace: Namespace
    tokens: list[int]
    arrived_s: float
    priority: int = 0
    computed: int = 0
    lease: Lease | None = None
    cached: int | None = None
    preemptions: int = 0

    @property
    def remaining(self) -> int:
        """Known tokens that are not computed yet: 1 when it decodes, more when it prefills."""
        return len(self.tokens) - self.computed
