"""One rule for every phase: a sequence catches up with the tokens it knows, under one token budget per step.

There is no prefill phase and no decode phase (the rule is vLLM v1's). A new prompt has all its tokens to catch up
with and does so in chunks; a decoding sequence has one; a preempted one starts again from what the prefix tree kept.

Running sequences are served first, oldest first, then waiting ones join. Those of a lower priority stop while there is
a higher one to serve: they keep their blocks until those are needed. Why nothing of the highest ever stops for good:

- A sequence joins only when all its known tokens fit, so a long prompt never outgrows the pool half-way.
- When a running sequence finds no block, the youngest running one is preempted: its full blocks are in the prefix
  tree already, its tail is freed, and it goes back to its old place among those that wait.
- So the oldest sequence is never preempted while another runs, and alone it always fits: the engine refuses longer
  requests at its edge. The oldest therefore finishes, and then the next one is the oldest.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence as Seq

    from local_engine.cache.manager import CacheManager, Lease
    from local_engine.cache.radix import Node
    from local_engine.schedule.policies import Admission
    from local_engine.schedule.sequence import Sequence


@dataclass(frozen=True, slots=True)
class Share:
    """One sequence's part in a step: `count` tokens from position `start` on."""

    sequence: Sequence
    lease: Lease
    start: int
    count: int

    @property
    def end(self) -> int:
        """Position after the last token of this share."""
        return self.start + self.count

    @property
    def is_complete(self) -> bool:
        """Whether the sequence has caught up after this share, so that a token may be sampled."""
        return self.end == len(self.sequence.tokens)


def _urgency(sequence: Sequence) -> tuple[int, int]:
    return sequence.priority, sequence.sequence_id


def _priority(sequence: Sequence) -> int:
    return sequence.priority


class Scheduler:
    """Plans steps and keeps the sequences that run and wait, both by priority and then in order of arrival.

    Args:
        cache: The owner of blocks.
        admission: When a waiting sequence may join.
        step_tokens: Tokens that one step may compute; at least as many as sequences may run.
    """

    def __init__(self, cache: CacheManager, admission: Admission, step_tokens: int) -> None:
        self.cache = cache
        self.running: list[Sequence] = []
        self.waiting: list[Sequence] = []
        self.preemptions = 0
        self._admission = admission
        self._step_tokens = step_tokens
        # Blocks that stay free when a sequence joins, so that those that run can grow a little before they preempt it.
        self._watermark = max(1, cache.total // 100)

    def add(self, sequence: Sequence) -> None:
        """Let a sequence wait for its turn."""
        insort(self.waiting, sequence, key=_urgency)

    def remove(self, sequence: Sequence) -> None:
        """Forget a sequence and free what it holds. Doing so twice is harmless."""
        if sequence.lease is not None:
            self.cache.release(sequence.lease)
            sequence.lease = None
        for queue in (self.running, self.waiting):
            if sequence in queue:
                queue.remove(sequence)

    def plan(self, now_s: float) -> list[Share]:
        """Choose what the next step computes.

        Args:
            now_s: Seconds of the clock that stamped the arrivals.
        """
        before, priority = self.preemptions, min(map(_priority, (*self.running[:1], *self.waiting[:1])), default=0)
        shares, budget = self._serve_running(priority)
        if self.preemptions == before:
            shares += self._admit(priority, budget, now_s)
        return shares

    def commit(self, shares: Seq[Share]) -> None:
        """Record that the shares were computed; their full blocks may serve other sequences from now on."""
        for share in shares:
            share.sequence.computed = share.end
            self.cache.commit(share.lease, share.sequence.tokens, share.end)

    def _serve_running(self, priority: int) -> tuple[list[Share], int]:
        shares: list[Share] = []
        budget = self._step_tokens
        index = 0
        while index < (served := self._count(priority)):
            sequence = self.running[index]
            # A long prefill leaves a token to each sequence behind it: decoding does not stop for it.
            count = min(sequence.remaining, budget - (served - index - 1))
            lease = self._with_room(sequence, sequence.computed + count)
            if lease is None:
                break  # it was the youngest and gave way itself
            shares.append(Share(sequence, lease, sequence.computed, count))
            budget -= count
            index += 1
        return shares, budget

    def _count(self, priority: int) -> int:
        """Return how many of those that run have at least this priority; they stand in front."""
        return bisect_right(self.running, priority, key=_priority)

    def _with_room(self, sequence: Sequence, tokens: int) -> Lease | None:
        """Return the sequence's lease, grown to so many tokens, preempting younger sequences if need be."""
        while (lease := sequence.lease) is not None and not self.cache.reserve(lease, tokens):
            self._preempt(self.running[-1])
        return lease

    def _preempt(self, victim: Sequence) -> None:
        self.remove(victim)
        victim.computed = 0
        victim.preemptions += 1
        self.preemptions += 1
        self.add(victim)

    def _admit(self, priority: int, budget: int, now_s: float) -> list[Share]:
        waiting = self.waiting[: bisect_right(self.waiting, priority, key=_priority)]
        if not waiting:
            return []
        waited_s, running = now_s - waiting[0].arrived_s, self._count(priority)
        places = self._admission.places(waiting=len(waiting), running=running, waited_s=waited_s)
        shares: list[Share] = []
        for sequence in waiting:
            if len(shares) >= places or budget <= 0:
                break
            prefix = self.cache.match(sequence.namespace, sequence.tokens)
            if self._admission.joins_running and self._is_being_computed(sequence, prefix):
                continue
            if not self._makes_room(sequence, prefix):
                break
            share = self._start(sequence, prefix, budget)
            shares.append(share)
            budget -= share.count
        return shares

    def _makes_room(self, sequence: Sequence, prefix: Seq[Node]) -> bool:
        """Say whether a sequence fits; those of a lower priority give way to it, the youngest first."""
        while not self.cache.fits(prefix, len(sequence.tokens), self._watermark if self.running else 0):
            if not self.running or self.running[-1].priority <= sequence.priority:
                return False
            self._preempt(self.running[-1])
        return True

    def _start(self, sequence: Sequence, prefix: Seq[Node], budget: int) -> Share:
        lease = self.cache.open(sequence.namespace, prefix)
        if not self.cache.reserve(lease, len(sequence.tokens)):
            raise AssertionError("a sequence that fits could not be given its blocks")
        sequence.lease = lease
        sequence.computed = len(prefix) * self.cache.block_size
        if sequence.cached is None:
            sequence.cached = sequence.computed
        self.waiting.remove(sequence)
        insort(self.running, sequence, key=_urgency)
        return Share(sequence, lease, sequence.computed, min(sequence.remaining, budget))

    def _is_being_computed(self, sequence: Sequence, prefix: Seq[Node]) -> bool:
        """Whether a running sequence is about to commit the very block that this one lacks next.

        Then waiting a step is cheaper than computing it twice; it is how the choices of one request, and users who
        send the same long prompt at once, share it.
        """
        size = self.cache.block_size
        start = len(prefix) * size
        if not self.cache.keeps_prefixes or start + size >= len(sequence.tokens):
            return False
        lacking = sequence.tokens[start : start + size]
        path = [node.block for node in prefix]
        return any(
            other.priority == sequence.priority
            and other.namespace == sequence.namespace
            and other.lease is not None
            and other.lease.shared == len(prefix)
            and other.tokens[start : start + size] == lacking
            and other.lease.blocks[: len(prefix)] == path
            for other in self.running
        )
