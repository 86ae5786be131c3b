"""The values that cross the seams of the engine: sampling parameters, step plans, and what a step gives back.

The scheduler makes a `StepPlan`; a `Runner` turns it into logits; the sampler turns logits and `SampleRow`s into
`Sampled` tokens. Nothing here computes, and nothing here knows who asked.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor


class FinishReason(StrEnum):
    """Why a sequence ended."""

    STOP = "stop"
    LENGTH = "length"
    ABORT = "abort"
    ERROR = "error"


class Numerics(StrEnum):
    """How weights, cache and attention are held; all three compute the same model.

    Attributes:
        REFERENCE: fp32 weights and cache, naive attention: the oracle.
        FP32: fp32 weights and cache, fused attention.
        Q4: 4-bit weights kept losslessly for few rows, bf16 of the same integers for many, bf16 cache.
    """

    REFERENCE = "reference"
    FP32 = "fp32"
    Q4 = "q4"


@dataclass(frozen=True, slots=True)
class SamplingParams:
    """How one sequence's tokens are chosen and when it ends.

    Attributes:
        max_tokens: The most tokens to generate.
        min_tokens: End-of-sequence tokens are banned until this many tokens exist.
        temperature: 0 takes the most likely token; otherwise logits are divided by it.
        top_k: Keep the k most likely tokens; 0 keeps all.
        top_p: Keep the smallest set of tokens whose probability reaches this; the token that crosses it stays.
        min_p: Drop tokens less likely than this share of the most likely one.
        seed: The sampling noise. Always concrete: the edge draws one when the client gave none.
        presence_penalty: Subtracted from the logit of every token already generated.
        frequency_penalty: Subtracted once per earlier generation of the token.
        repetition_penalty: Divides positive and multiplies negative logits of tokens seen in prompt or output.
        logit_bias: Pairs of token id and the amount added to its logit; a token that is named twice gets both.
        logprobs: None for none; otherwise the number of alternatives to report, 0 to 20.
        stop: Texts that end the sequence.
        stop_token_ids: Tokens that end the sequence besides the model's own end tokens.
        ignore_eos: Go on through the model's end tokens.
        include_stop: Leave the stop text in the answer.
    """

    max_tokens: int
    min_tokens: int = 0
    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0
    min_p: float = 0.0
    seed: int = 0
    presence_penalty: float = 0.0
    frequency_penalty: float = 0.0
    repetition_penalty: float = 1.0
    logit_bias: tuple[tuple[int, float], ...] = ()
    logprobs: int | None = None
    stop: tuple[str, ...] = ()
    stop_token_ids: frozenset[int] = frozenset()
    ignore_eos: bool = False
    include_stop: bool = False


@dataclass(frozen=True, slots=True)
class ChunkPlan:
    """One sequence's share of a step.

    Attributes:
        sequence_id: Whose tokens these are.
        tokens: The tokens to compute now, at least one.
        start: Position of `tokens[0]` in the sequence.
        block_table: Physical block ids that cover positions 0 to `start + len(tokens) - 1`.
        wants_logits: True when `tokens` ends at the sequence's last known token.
    """

    sequence_id: int
    tokens: tuple[int, ...]
    start: int
    block_table: tuple[int, ...]
    wants_logits: bool


@dataclass(frozen=True, slots=True)
class StepPlan:
    """Everything one forward pass computes: decodes and prefill chunks side by side."""

    chunks: tuple[ChunkPlan, ...]


class Runner(Protocol):
    """Runs the model over a step plan, keeping keys and values in paged blocks.

    Position p of a chunk lives in slot `block_table[p // block_size] * block_size + p % block_size`. A layer writes
    the K/V of every token of the step before its attention reads any, so a chunk may read blocks that another chunk of
    the same step writes only where both hold the same positions of an identical prefix.
    """

    @property
    def block_size(self) -> int:
        """Tokens per cache block."""
        ...

    @property
    def num_blocks(self) -> int:
        """Blocks in the pool; ids run from 0."""
        ...

    @property
    def vocab_size(self) -> int:
        """Columns of the logits."""
        ...

    @property
    def max_context(self) -> int:
        """The most tokens one sequence may hold."""
        ...

    def execute(self, plan: StepPlan) -> Tensor:
        """Return fp32 logits [chunks with wants_logits, vocab_size], in chunk order."""
        ...


@dataclass(frozen=True, slots=True)
class SampleRow:
    """What the sampler needs to know of one row of logits.

    Attributes:
        params: The sequence's sampling parameters.
        position: Index in the sequence of the token being sampled; noise is keyed by (seed, position, token id).
        prompt_tokens: The prompt.
        output_tokens: What was generated so far.
        eos_banned: True until `min_tokens` is reached.
    """

    params: SamplingParams
    position: int
    prompt_tokens: Sequence[int]
    output_tokens: Sequence[int]
    eos_banned: bool


@dataclass(frozen=True, slots=True)
class Sampled:
    """One chosen token.

    Attributes:
        token: Its id.
        logprob: Its log probability under the raw fp32 logits, before temperature; None when not asked for.
        top: The likeliest tokens with their log probabilities, likeliest first, as many as were asked for.
    """

    token: int
    logprob: float | None
    top: tuple[tuple[int, float], ...]
