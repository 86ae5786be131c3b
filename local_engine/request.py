"""What goes into the engine and what comes out: a request, and the events that answer it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from local_engine.cache.radix import Namespace

if TYPE_CHECKING:
    from local_engine.types import FinishReason, SamplingParams


@dataclass(frozen=True, slots=True)
class Request:
    """A prompt and how it is to be continued.

    Attributes:
        request_id: Unique among the requests in flight.
        prompt: Token ids, at least one.
        params: How each choice is sampled; the seed is choice 0's, the others' are derived from it.
        choices: How many continuations to make of the one prompt.
        namespace: Whose cached prefixes it may use and feed.
        priority: 0, or more for one that gives way to all with a smaller number.
    """

    request_id: str
    prompt: tuple[int, ...]
    params: SamplingParams
    choices: int = 1
    namespace: Namespace = field(default_factory=Namespace)
    priority: int = 0


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of a request so far.

    Attributes:
        prompt: Tokens of the prompt, counted once however many choices there are.
        completion: Tokens sampled, over all choices; the token that ended a choice is one of them.
        cached: Tokens of the prompt that were not computed again.
    """

    prompt: int
    completion: int
    cached: int

    @property
    def total(self) -> int:
        """Prompt and completion."""
        return self.prompt + self.completion


@dataclass(frozen=True, slots=True)
class TokenLogprob:
    """One sampled token with its log probability, and the likeliest alternatives.

    Attributes:
        data: The token's bytes, which need not be whole characters.
        top: Alternatives as (token id, bytes, log probability), likeliest first.
    """

    token: int
    data: bytes
    logprob: float
    top: tuple[tuple[int, bytes, float], ...]


@dataclass(frozen=True, slots=True)
class Delta:
    """One token more in one choice.

    Attributes:
        text: Text that is safe to show; empty while what the token means is still held back.
        logprobs: The token, when log probabilities were asked for.
        finish: STOP or LENGTH when the choice ended; None while it goes on. A choice that is cut short says nothing.
        stop: What stopped it: a stop text or the id of a stop token; None for the model's own end of text.
        usage: Of the whole request, so far.
    """

    request_id: str
    choice: int
    text: str
    logprobs: tuple[TokenLogprob, ...]
    finish: FinishReason | None
    stop: str | int | None
    usage: Usage

    @property
    def is_visible(self) -> bool:
        """Whether it says more than that a token was computed."""
        return bool(self.text or self.logprobs or self.finish is not None)


@dataclass(frozen=True, slots=True)
class Ended:
    """The one terminal event of a request; nothing follows it.

    Attributes:
        finish: ABORT or ERROR when the request was cut short, else that of its last choice to end.
        usage: What was computed, also when it was cut short.
        error: What failed, for a log; None unless `finish` is ERROR.
    """

    request_id: str
    finish: FinishReason
    usage: Usage
    error: str | None = None


Event = Delta | Ended
