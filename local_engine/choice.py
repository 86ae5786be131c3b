"""One continuation of a request: tokens become text, and one of them ends it.

What ends a choice, in this order of precedence: an end-of-text token, a stop token, a stop text, the length. None of
the first three counts while the first `min_tokens` tokens are made, and stop texts are not looked for in their text.
"""

from __future__ import annotations

import codecs
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

from local_engine.request import TokenLogprob
from local_engine.text.stream import TextMachine
from local_engine.types import FinishReason, SampleRow

if TYPE_CHECKING:
    from local_engine.request import Request
    from local_engine.schedule.sequence import Sequence
    from local_engine.types import Sampled, SamplingParams

_MASK = (1 << 64) - 1


class Vocabulary(Protocol):
    """What the engine needs of a tokenizer."""

    @property
    def eos_ids(self) -> frozenset[int]:
        """Tokens that end a text."""
        ...

    def token_bytes(self, token: int) -> bytes:
        """Return the bytes a token stands for; none for a control token."""
        ...


@dataclass(frozen=True, slots=True)
class Taken:
    """What one sampled token did to a choice."""

    text: str
    logprobs: tuple[TokenLogprob, ...]
    finish: FinishReason | None
    stop: str | int | None


@dataclass(slots=True, eq=False)
class Choice:
    """One sequence as the caller sees it: its sampling, its text, its end.

    Attributes:
        output: The tokens sampled so far.
        finish: Why it ended; None while it goes on.
    """

    request: Request
    index: int
    sequence: Sequence
    params: SamplingParams
    text: ChoiceText
    output: list[int] = field(default_factory=list[int])
    finish: FinishReason | None = None

    def row(self) -> SampleRow:
        """Return what the sampler needs to choose the next token."""
        return SampleRow(
            params=self.params,
            position=len(self.sequence.tokens),
            prompt_tokens=self.request.prompt,
            output_tokens=self.output,
            eos_banned=len(self.output) < self.params.min_tokens,
        )

    def take(self, sampled: Sampled, vocabulary: Vocabulary) -> Taken:
        """Append a sampled token and say what it means to the caller."""
        token = sampled.token
        self.sequence.tokens.append(token)
        self.output.append(token)
        text, stop = "", None
        may_stop = len(self.output) > self.params.min_tokens
        if may_stop and token in vocabulary.eos_ids and not self.params.ignore_eos:
            self.finish = FinishReason.STOP
        elif may_stop and token in self.params.stop_token_ids:
            self.finish, stop = FinishReason.STOP, token
            if self.params.include_stop:
                text, _ = self.text.feed(vocabulary.token_bytes(token), watch=False)
        else:
            text, stop = self.text.feed(vocabulary.token_bytes(token), watch=may_stop)
            if stop is not None:
                self.finish = FinishReason.STOP
            elif len(self.output) >= self.params.max_tokens:
                self.finish = FinishReason.LENGTH
        if self.finish is not None and not isinstance(stop, str):
            text += self.text.flush()
        return Taken(text, _logprobs(sampled, vocabulary), self.finish, stop)


class ChoiceText:
    """A choice's bytes on their way to text: stop texts are looked for from the moment they count."""

    def __init__(self, stop: tuple[str, ...], *, include_stop: bool) -> None:
        self._machine = TextMachine(stop, include_stop)
        self._prelude: codecs.IncrementalDecoder | None = codecs.getincrementaldecoder("utf-8")("replace")

    def feed(self, data: bytes, *, watch: bool) -> tuple[str, str | None]:
        """Return the text that is safe to show, and the stop text that was completed."""
        if self._prelude is not None:
            if not watch:
                return self._prelude.decode(data), None
            unfinished, _ = self._prelude.getstate()
            data = unfinished + data
            self._prelude = None
        piece = self._machine.feed(data)
        return piece.text, piece.stopped

    def flush(self) -> str:
        """Return what was held back, when the choice ends for another reason."""
        return self._machine.flush() if self._prelude is None else self._prelude.decode(b"", final=True)


def choice_params(params: SamplingParams, index: int) -> SamplingParams:
    """Return the sampling of one choice: choice 0 keeps the request's seed, each other one derives its own.

    The derivation is SplitMix64's output function (Steele et al., OOPSLA 2014), cut to 63 bits.
    """
    if index == 0:
        return params
    mixed = (params.seed + index * 0x9E3779B97F4A7C15) & _MASK
    mixed = ((mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & _MASK
    return replace(params, seed=(mixed ^ (mixed >> 31)) >> 1)


def _logprobs(sampled: Sampled, vocabulary: Vocabulary) -> tuple[TokenLogprob, ...]:
    if sampled.logprob is None:
        return ()
    top = tuple((token, vocabulary.token_bytes(token), logprob) for token, logprob in sampled.top)
    return (TokenLogprob(sampled.token, vocabulary.token_bytes(sampled.token), sampled.logprob, top),)
