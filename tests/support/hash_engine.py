"""A model made of hashes: exact, instant, and wrong as soon as a block holds what it should not.

The "keys and values" of a position are a hash of the whole prefix, built from the slot before it, as in a causal
model. Logits are drawn from a hash of every slot that the block table names. So a stale, shared-by-mistake or missing
block changes the tokens, and a run can be compared token for token with running each request alone.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from local_engine.config import Batching
from local_engine.engine import Engine
from local_engine.measure.machine import Machine
from local_engine.measure.probe import Speeds
from local_engine.types import Sampled

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from torch import Tensor

    from local_engine.engine import Sampler
    from local_engine.request import Event
    from local_engine.types import ChunkPlan, SampleRow, StepPlan

LETTERS = 30
EOS = LETTERS
VOCAB = LETTERS + 1


def _mix(*parts: int) -> int:
    digest = hashlib.blake2b(repr(parts).encode(), digest_size=7).digest()
    return int.from_bytes(digest, "big")


class LetterVocabulary:
    """Tokens 0 .. 29 are the letters from "a" on, token 30 ends a text."""

    eos_ids = frozenset({EOS})

    def token_bytes(self, token: int) -> bytes:
        return b"" if token == EOS else bytes([ord("a") + token])


@dataclass(slots=True)
class HashRunner:
    """Implements `Runner`; `on_step` may raise to make a step fail half-way."""

    num_blocks: int = 64
    block_size: int = 2
    max_context: int = 256
    vocab_size: int = VOCAB
    on_step: Callable[[StepPlan], None] | None = None
    slots: list[int] | None = None

    def execute(self, plan: StepPlan) -> Tensor:
        if self.slots is None:
            self.slots = [-1] * (self.num_blocks * self.block_size)
        for chunk in plan.chunks:
            self._write(self.slots, chunk)
        if self.on_step is not None:
            self.on_step(plan)
        rows = [self._logits(self.slots, chunk) for chunk in plan.chunks if chunk.wants_logits]
        return torch.stack(rows) if rows else torch.empty(0, self.vocab_size)

    def _slot(self, chunk: ChunkPlan, position: int) -> int:
        return chunk.block_table[position // self.block_size] * self.block_size + position % self.block_size

    def _write(self, slots: list[int], chunk: ChunkPlan) -> None:
        if not chunk.tokens:
            raise AssertionError("a chunk without tokens")
        before = slots[self._slot(chunk, chunk.start - 1)] if chunk.start else 0
        for position, token in enumerate(chunk.tokens, chunk.start):
            before = slots[self._slot(chunk, position)] = _mix(before, token)

    def _logits(self, slots: list[int], chunk: ChunkPlan) -> Tensor:
        history = [slots[self._slot(chunk, position)] for position in range(chunk.start + len(chunk.tokens))]
        if -1 in history:
            raise AssertionError("a slot was read that nobody wrote")
        return torch.rand(self.vocab_size, generator=torch.Generator().manual_seed(_mix(*history)))


def hash_sampler(logits: Tensor, rows: Sequence[SampleRow], eos_ids: frozenset[int]) -> list[Sampled]:
    """Take the best token of logits plus noise keyed by (seed, position)."""
    chosen: list[Sampled] = []
    for row, each in zip(rows, logits, strict=True):
        noise = torch.rand(len(each), generator=torch.Generator().manual_seed(_mix(row.params.seed, row.position)))
        scores = each + noise * row.params.temperature
        if row.eos_banned:
            scores[list(eos_ids)] = -torch.inf
        token = int(scores.argmax())
        chosen.append(Sampled(token, float(each[token]) if row.params.logprobs is not None else None, ()))
    return chosen


def hash_engine(
    runner: HashRunner | None = None,
    batching: Batching | None = None,
    clock: Callable[[], float] = lambda: 0.0,
    sampler: Sampler = hash_sampler,
) -> Engine:
    """Build an engine over the model of hashes."""
    return Engine(
        runner or HashRunner(),
        LetterVocabulary(),
        sampler,
        batching or Batching(),
        Machine(clock),
        Speeds(1000.0, 50.0),
    )


def run_to_end(engine: Engine) -> list[Event]:
    """Step until nothing is left, checking the cache after every step."""
    events: list[Event] = []
    for _ in range(20_000):
        if not engine.has_work:
            return events
        events += engine.step()
        engine.cache.check()
    raise AssertionError("the engine does not come to an end")
