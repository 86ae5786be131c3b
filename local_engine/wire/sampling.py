"""What the numbers of a body mean, and which of them make no sense."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from local_engine.errors import ContextTooLong, InvalidRequest, TokenOutOfVocabulary
from local_engine.types import SamplingParams
from local_engine.wire.bodies import ChatBody, CompletionBody

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from local_engine.wire.bodies import GenerationBody

_MAX_STOPS = 16
_MAX_STOP_LENGTH = 256
_MAX_ALTERNATIVES = 20
_MAX_BIAS = 100.0

# Field: (least, greatest). As OpenAI documents them, and vLLM for those OpenAI does not have.
_RANGES: dict[str, tuple[float, float]] = {
    "temperature": (0.0, 2.0),
    "top_p": (0.0, 1.0),
    "min_p": (0.0, 1.0),
    "top_k": (-1, 1 << 31),
    "n": (1, 128),
    "presence_penalty": (-2.0, 2.0),
    "frequency_penalty": (-2.0, 2.0),
    "repetition_penalty": (0.01, 10.0),
    "max_tokens": (1, 1 << 31),
    "max_completion_tokens": (1, 1 << 31),
    "min_tokens": (0, 1 << 31),
    "top_logprobs": (0, _MAX_ALTERNATIVES),
}


@dataclass(frozen=True, slots=True)
class SamplingDefaults:
    """How a model is sampled when a request does not say: what its makers recommend, else the API's own defaults."""

    temperature: float = 1.0
    top_p: float = 1.0


@dataclass(frozen=True, slots=True)
class ModelLimits:
    """What a model allows, and what it does when it is not told.

    Attributes:
        context: Tokens that a prompt and its answer may hold together.
        vocab_size: Token ids run from 0 to `vocab_size - 1`.
        draw_seed: Draws a seed for a request that names none.
        defaults: The sampling of a request that names none.
    """

    context: int
    vocab_size: int
    draw_seed: Callable[[], int]
    defaults: SamplingDefaults = SamplingDefaults()


def sampling_of(body: GenerationBody, prompts: Sequence[int], limits: ModelLimits) -> list[SamplingParams]:
    """Return the sampling that a body asks for, for each of its prompts; they share what does not depend on the prompt.

    Args:
        body: The decoded body.
        prompts: Tokens in each prompt; an answer without `max_tokens` may use what is left of the context.
        limits: What the model allows.

    Raises:
        InvalidRequest: A value is out of range, or asks for what the engine does not do.
        ContextTooLong: Prompt and answer exceed the context.
    """
    _refuse_unsupported(body)
    for field, (least, greatest) in _RANGES.items():
        value = getattr(body, field, None)
        if value is not None and not least <= value <= greatest:
            raise InvalidRequest(f"{field} must be between {least} and {greatest}", field)
    if body.top_p == 0:
        raise InvalidRequest("top_p must be greater than 0", "top_p")
    shared = _shared(body, limits)
    params: list[SamplingParams] = []
    for prompt_tokens in prompts:
        max_tokens = _max_tokens(body, prompt_tokens, limits.context)
        if shared.min_tokens > max_tokens:
            message = f"min_tokens must not exceed the {max_tokens} tokens that may be generated"
            raise InvalidRequest(message, "min_tokens")
        seed = limits.draw_seed() if body.seed is None else body.seed
        params.append(replace(shared, max_tokens=max_tokens, seed=seed))
    return params


def _shared(body: GenerationBody, limits: ModelLimits) -> SamplingParams:
    return SamplingParams(
        max_tokens=1,
        min_tokens=body.min_tokens or 0,
        temperature=_or(body.temperature, limits.defaults.temperature),
        top_k=max(0, body.top_k or 0),
        top_p=_or(body.top_p, limits.defaults.top_p),
        min_p=_or(body.min_p, 0.0),
        presence_penalty=_or(body.presence_penalty, 0.0),
        frequency_penalty=_or(body.frequency_penalty, 0.0),
        repetition_penalty=_or(body.repetition_penalty, 1.0),
        logit_bias=_logit_bias(body.logit_bias or {}, limits.vocab_size),
        logprobs=_logprobs(body),
        stop=_stops(body.stop),
        stop_token_ids=frozenset(
            _known(token, limits.vocab_size, "stop_token_ids") for token in body.stop_token_ids or ()
        ),
        ignore_eos=bool(body.ignore_eos),
        include_stop=bool(body.include_stop_str_in_output),
    )


def _or(value: float | None, default: float) -> float:
    return default if value is None else value


def _refuse_unsupported(body: GenerationBody) -> None:
    kind = (body.response_format or {}).get("type", "text")
    if kind != "text":
        raise InvalidRequest('only response_format {"type": "text"} is supported by this model', "response_format")
    for field in ("structured_outputs", "prompt_logprobs", "suffix", "echo"):
        if getattr(body, field, None):
            raise InvalidRequest(f"{field} is not supported by this model", field)
    if body.stream_options is not None and not body.stream:
        raise InvalidRequest("stream_options needs stream to be true", "stream_options")
    if isinstance(body, CompletionBody) and body.best_of not in {None, body.n or 1}:
        raise InvalidRequest("best_of other than n is not supported by this model", "best_of")


def _max_tokens(body: GenerationBody, prompt_tokens: int, context: int) -> int:
    asked = body.max_tokens
    if isinstance(body, ChatBody) and body.max_completion_tokens is not None:
        asked = body.max_completion_tokens
    max_tokens = max(1, context - prompt_tokens) if asked is None else asked
    if prompt_tokens + max_tokens > context:
        raise ContextTooLong(prompt_tokens, max_tokens, context)
    return max_tokens


def _logprobs(body: GenerationBody) -> int | None:
    if isinstance(body, ChatBody):
        if body.top_logprobs and not body.logprobs:
            raise InvalidRequest("top_logprobs needs logprobs to be true", "top_logprobs")
        return body.top_logprobs or 0 if body.logprobs else None
    asked = body.logprobs if isinstance(body, CompletionBody) else None
    if asked is not None and not 0 <= asked <= _MAX_ALTERNATIVES:
        raise InvalidRequest(f"logprobs must be between 0 and {_MAX_ALTERNATIVES}", "logprobs")
    return asked


def _stops(stop: str | list[str] | None) -> tuple[str, ...]:
    stops = (stop,) if isinstance(stop, str) else tuple(stop or ())
    if len(stops) > _MAX_STOPS:
        raise InvalidRequest(f"at most {_MAX_STOPS} stop texts may be given", "stop")
    if any(not 0 < len(each) <= _MAX_STOP_LENGTH for each in stops):
        raise InvalidRequest(f"a stop text must have 1 to {_MAX_STOP_LENGTH} characters", "stop")
    return stops


def _logit_bias(bias: dict[str, float], vocab_size: int) -> tuple[tuple[int, float], ...]:
    biases: dict[int, float] = {}
    for key, value in bias.items():
        if not (key.isascii() and key.isdigit() and len(key) <= len(str(vocab_size))):
            raise InvalidRequest("logit_bias must map token ids to numbers", "logit_bias")
        if not -_MAX_BIAS <= value <= _MAX_BIAS:
            raise InvalidRequest(f"a logit bias must be between {-_MAX_BIAS} and {_MAX_BIAS}", "logit_bias")
        biases[_known(int(key), vocab_size, "logit_bias")] = value
    return tuple(biases.items())


def _known(token: int, vocab_size: int, param: str) -> int:
    if not 0 <= token < vocab_size:
        raise TokenOutOfVocabulary(token, vocab_size, param)
    return token
