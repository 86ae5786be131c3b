"""The answers that are one object: usage, models, tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import UNSET, Struct, UnsetType

if TYPE_CHECKING:
    from local_engine.measure.probe import Speeds
    from local_engine.request import Usage


class PromptTokensDetails(Struct):
    """Where the prompt's tokens came from."""

    cached_tokens: int


class UsageReply(Struct):
    """Tokens of a request, as OpenAI counts them."""

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int
    prompt_tokens_details: PromptTokensDetails


def usage_reply(usage: Usage) -> UsageReply:
    """Return a usage as it goes on the wire."""
    return UsageReply(usage.prompt, usage.completion, usage.total, PromptTokensDetails(usage.cached))


class MeasuredReply(Struct):
    """Speeds from which a gateway prices a token of this machine."""

    prefill_tokens_per_second: float
    decode_tokens_per_second: float | UnsetType = UNSET


class ModelReply(Struct):
    """One entry of `GET /v1/models`."""

    id: str
    created: int
    max_model_len: int
    measured: MeasuredReply
    object: str = "model"
    owned_by: str = "sluice"


class ModelsReply(Struct):
    """`GET /v1/models`."""

    data: list[ModelReply]
    object: str = "list"


def model_reply(name: str, created: int, limit: int, speeds: Speeds) -> ModelReply:
    """Describe a model; `created` is when it was loaded, in Unix seconds."""
    decode = UNSET if speeds.decode is None else _steady(speeds.decode)
    return ModelReply(name, created, limit, MeasuredReply(_steady(speeds.prefill), decode))


def _steady(speed: float) -> float:
    """Round to three digits, so that a price does not change with every look."""
    return float(f"{speed:.3g}")


class HealthReply(Struct):
    """`GET /health`: how the process is, and each model by name."""

    status: str
    models: dict[str, str]


class TokenizeReply(Struct):
    """`POST /tokenize`."""

    count: int
    max_model_len: int
    tokens: list[int]


class DetokenizeReply(Struct):
    """`POST /detokenize`."""

    prompt: str


def encode(reply: Any) -> bytes:
    """Return a reply as JSON."""
    return msgspec.json.encode(reply)
