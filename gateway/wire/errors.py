"""From exceptions to HTTP: one table, and how a row of it is written on OpenAI paths.

Spec: the OpenAI API's error object; `x-should-retry` is what its SDKs obey before they look at the status.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from cache.errors import (
    BadDirective,
    BadLine,
    EmbeddingUnavailable,
    IndexUnavailable,
    NoAnswerInTime,
    SharedAway,
    TooDeep,
)
from gateway import errors as edge
from gateway.dialects.messages.failures import from_chat_error
from gateway.policy.problems import PolicyInvalid
from gateway.wire.headers import Headers
from governance import errors as governance
from router_models import errors as routing


@dataclass(frozen=True, slots=True)
class Shape:
    """How one kind of failure looks from outside. `retry` is what an SDK should do by itself."""

    status: int
    code: str
    retry: bool
    kind: str = "invalid_request_error"


_BUSY = Shape(503, "overloaded", retry=True, kind="server_error")
_DENIED = Shape(403, "model_not_allowed", retry=False, kind="permission_error")
UNEXPECTED = Shape(500, "internal_error", retry=True, kind="server_error")

STATUS: Mapping[type[Exception], Shape] = {
    governance.Unauthenticated: Shape(401, "invalid_api_key", retry=False),
    governance.UnknownTeam: _DENIED,
    governance.UnknownKey: Shape(404, "not_found", retry=False),
    governance.UnknownPerson: Shape(404, "not_found", retry=False),
    governance.UnknownFile: Shape(404, "not_found", retry=False),
    governance.UnknownBatch: Shape(404, "not_found", retry=False),
    governance.BatchEnded: Shape(409, "conflict", retry=False),
    governance.Forbidden: Shape(403, "forbidden", retry=False, kind="permission_error"),
    governance.TooManyGuesses: Shape(429, "rate_limit_exceeded", retry=True, kind="rate_limit_error"),
    governance.BudgetExhausted: Shape(429, "insufficient_quota", retry=False, kind="insufficient_quota"),
    governance.RateLimited: Shape(429, "rate_limit_exceeded", retry=True, kind="rate_limit_error"),
    governance.ContextTooLong: Shape(400, "context_length_exceeded", retry=False),
    governance.LoopDetected: Shape(429, "loop_detected", retry=False, kind="rate_limit_error"),
    governance.Unconfinable: Shape(403, "zone_refused", retry=False, kind="permission_error"),
    governance.ContentBlocked: Shape(400, "content_blocked", retry=False),
    # As the IETF's draft "The Idempotency-Key HTTP Header Field" has them, in its section 2.7.
    governance.IdempotencyKeyReused: Shape(422, "invalid_request_error", retry=False),
    governance.IdempotencyKeyBusy: Shape(409, "conflict", retry=True),
    governance.NotMoney: Shape(400, "invalid_request_error", retry=False),
    governance.StoreUnavailable: _BUSY,
    governance.LedgerBehind: _BUSY,
    routing.ArtifactUnusable: _BUSY,
    routing.BadExample: Shape(400, "invalid_request_error", retry=False),
    routing.TooFewExamples: Shape(400, "invalid_request_error", retry=False),
    routing.NotAllowed: _DENIED,
    routing.ZoneRefused: Shape(403, "zone_refused", retry=False, kind="permission_error"),
    routing.ZoneUnavailable: Shape(503, "zone_unavailable", retry=True, kind="server_error"),
    routing.NothingAvailable: _BUSY,
    BadDirective: Shape(400, "invalid_request_error", retry=False),
    BadLine: Shape(400, "invalid_request_error", retry=False),
    EmbeddingUnavailable: _BUSY,
    IndexUnavailable: _BUSY,
    SharedAway: _BUSY,
    TooDeep: Shape(400, "invalid_request_error", retry=False),
    NoAnswerInTime: Shape(504, "upstream_timeout", retry=True, kind="server_error"),
    edge.BadRequest: Shape(400, "invalid_request_error", retry=False),
    edge.ContextTooLong: Shape(400, "context_length_exceeded", retry=False),
    edge.ModelNotFound: Shape(404, "model_not_found", retry=False),
    edge.RequestNotFound: Shape(404, "not_found", retry=False),
    edge.UnknownPolicy: Shape(404, "not_found", retry=False),
    PolicyInvalid: Shape(400, "invalid_policy", retry=False),
    edge.OutOfZone: Shape(403, "zone_refused", retry=False, kind="permission_error"),
    edge.UpstreamRefused: Shape(400, "invalid_request_error", retry=False),
    edge.UpstreamError: Shape(502, "upstream_error", retry=True, kind="server_error"),
    edge.UpstreamUnconnected: Shape(504, "upstream_timeout", retry=True, kind="server_error"),
    edge.UpstreamTimeout: Shape(504, "upstream_timeout", retry=True, kind="server_error"),
    edge.UpstreamOverloaded: _BUSY,
}


def shape_of(error: Exception) -> Shape:
    """Return the row for `error`: its own class, or the nearest class above it that has one."""
    return next((STATUS[kind] for kind in type(error).__mro__ if kind in STATUS), UNEXPECTED)


def error_object(shape: Shape, message: str, facts: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return the OpenAI error object that says `message`, with what else there is to know."""
    return {"error": {"message": message, "type": shape.kind, "param": None, "code": shape.code, **(facts or {})}}


def error_body(error: Exception) -> dict[str, Any]:
    """Return the error object of `error`; an unexpected one keeps its words to the log."""
    shape = shape_of(error)
    unexpected = "Something went wrong on our side; our log says what."
    return error_object(shape, unexpected if shape is UNEXPECTED else _sentence(str(error)), _facts(error))


ErrorBody = Callable[[Exception, str], dict[str, Any]]
"""Writes an error, and the id of its request, as the body of a reply."""


def openai_error(error: Exception, request_id: str) -> dict[str, Any]:
    """Return the body of an error as OpenAI's APIs have it; the id is in a header."""
    del request_id
    return error_body(error)


def anthropic_error(error: Exception, request_id: str) -> dict[str, Any]:
    """Return the body of an error as Anthropic's API has it."""
    return from_chat_error(error_body(error)["error"], shape_of(error).status, request_id)


def error_headers(error: Exception, now: datetime) -> Headers:
    """Return `x-should-retry`, and `Retry-After` in whole seconds where a time is known."""
    shape = shape_of(error)
    retry = shape.retry and not _never_fits(error)
    headers: Headers = [(b"x-should-retry", b"true" if retry else b"false")]
    seconds = wait_s(error, now)
    if seconds is not None:
        headers.append((b"retry-after", str(max(1, math.ceil(seconds))).encode()))
    return headers


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "!", "?")) else ".")


def _facts(error: Exception) -> dict[str, Any]:
    found: dict[str, Any] = {}
    match error:
        case edge.BadRequest(param=param) | edge.UpstreamRefused(param=param):
            found = {"param": param}
        case edge.ModelNotFound():
            found = {"param": "model"}
        case governance.BudgetExhausted():
            found = {
                "scope": error.scope,
                "limit_usd": error.limit.usd,
                "spent_usd": error.spent.usd,
                "held_usd": error.held.usd,
                "window": error.window,
                "resets_at": None if error.resets_at is None else error.resets_at.isoformat(),
            }
        case governance.RateLimited():
            found = {"scope": error.scope, "unit": error.unit, "limit": error.limit}
        case governance.ContextTooLong():
            found = {"param": "messages", "tokens": error.tokens, "limit": error.limit}
        case governance.LoopDetected() | governance.ContentBlocked():
            found = error.facts
        case _:
            pass
    return found


def _never_fits(error: Exception) -> bool:
    """Say whether waiting cannot help: the request alone is over its limit."""
    return isinstance(error, governance.RateLimited) and error.never_fits


def wait_s(error: Exception, now: datetime) -> float | None:
    """Return for how long it makes sense to wait after an error, in seconds; None when nobody knows, or never."""
    if _never_fits(error):
        return None
    match error:
        case governance.BudgetExhausted():
            return None if error.resets_at is None else (error.resets_at - now).total_seconds()
        case governance.RateLimited() | governance.TooManyGuesses() | governance.IdempotencyKeyBusy():
            return error.retry_after_s
        case edge.UpstreamOverloaded():
            return error.retry_after_s or 1.0
        case _:
            return 1.0 if shape_of(error).status == _BUSY.status else None
