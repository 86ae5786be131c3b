"""What a caller is told when a request fails, in OpenAI's shape."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import UNSET, Struct, UnsetType

from local_engine.errors import (
    ContextTooLong,
    EngineError,
    EngineStopped,
    GenerationFailed,
    InvalidRequest,
    ModelLoading,
    ModelNotFound,
    Overloaded,
)
from local_engine.types import FinishReason
from local_engine.wire.replies import UsageReply

if TYPE_CHECKING:
    from local_engine.request import Ended


class ErrorBody(Struct):
    """The inner object; the counts are there when the context is exceeded."""

    message: str
    type: str
    param: str | None
    code: str
    prompt_tokens: int | UnsetType = UNSET
    max_tokens: int | UnsetType = UNSET
    limit: int | UnsetType = UNSET


class ErrorReply(Struct):
    """`{"error": {…}}`; of a stream that broke also what was computed, when usage was asked for."""

    error: ErrorBody
    usage: UsageReply | UnsetType = UNSET


_INVALID = "invalid_request_error"
_SERVER = "server_error"

# Error: (type, code).
_KINDS: dict[type[EngineError], tuple[str, str]] = {
    InvalidRequest: (_INVALID, _INVALID),
    ContextTooLong: (_INVALID, "context_length_exceeded"),
    ModelNotFound: (_INVALID, "model_not_found"),
    ModelLoading: (_SERVER, "model_loading"),
    Overloaded: (_SERVER, "overloaded"),
    GenerationFailed: (_SERVER, "generation_failed"),
    EngineStopped: (_SERVER, "engine_stopped"),
}


def error_reply(error: EngineError) -> ErrorReply:
    """Return what the caller is told; an error of a kind without a row is told as its parent."""
    kind = next((_KINDS[each] for each in type(error).__mro__ if each in _KINDS), (_SERVER, "internal_error"))
    body = ErrorBody(str(error), kind[0], error.param if isinstance(error, InvalidRequest) else None, kind[1])
    if isinstance(error, ContextTooLong):
        body.prompt_tokens, body.max_tokens, body.limit = error.prompt_tokens, error.max_tokens, error.limit
    return ErrorReply(body)


def failure_of(ended: Ended) -> EngineError | None:
    """Return why a request was cut short, or None when it came to its own end."""
    match ended.finish:
        case FinishReason.ERROR:
            return GenerationFailed(ended.error or "unknown")
        case FinishReason.ABORT:
            return EngineStopped()
        case _:
            return None
