"""Errors, as Messages and as chat write them, each from the other.

Spec: the Anthropic API reference, "Errors"; our codes are those of `gateway/wire/errors.py`.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from gateway.dialects.messages.parts import without


class Row(NamedTuple):
    """One kind of error: its type in Messages, its status there, and its code and type in chat."""

    type: str
    status: int
    code: str
    kind: str = "invalid_request_error"


_ROWS = (
    Row("invalid_request_error", 400, "invalid_request_error"),
    Row("authentication_error", 401, "invalid_api_key"),
    Row("billing_error", 402, "insufficient_quota", "insufficient_quota"),
    Row("permission_error", 403, "forbidden", "permission_error"),
    Row("not_found_error", 404, "not_found"),
    Row("conflict_error", 409, "conflict"),
    Row("request_too_large", 413, "request_too_large"),
    Row("rate_limit_error", 429, "rate_limit_exceeded", "rate_limit_error"),
    Row("api_error", 500, "upstream_error", "server_error"),
    Row("overloaded_error", 503, "overloaded", "server_error"),
    Row("timeout_error", 504, "upstream_timeout", "server_error"),
)
_BY_TYPE = {row.type: row for row in _ROWS}
_BY_CODE = {row.code: row for row in _ROWS}
_BY_STATUS = {row.status: row for row in _ROWS} | {529: _BY_TYPE["overloaded_error"]}
_BY_KIND = {row.kind: row for row in reversed(_ROWS)} | {"server_error": _BY_TYPE["api_error"]}
_FITS_NOT = ("prompt is too long", "exceed context limit")
"""How Anthropic words that the prompt and the answer do not fit the model; the type alone does not tell."""

_NOT_PAID = "credit balance is too low"
"""How Anthropic words, under the type of a bad request, that whoever calls it has no money left."""


def from_chat_error(error: Mapping[str, Any], status: int | None, request_id: str | None) -> dict[str, Any]:
    """Return the error body of Messages for the error object of a chat.

    The code and the facts beside it are its `details`, where SDKs look for what to do.

    Args:
        error: what stands under `error` in the chat form.
        status: the status of the reply; None inside a stream.
        request_id: the id to quote when asking for help, where there is one.
    """
    code = error.get("code")
    row = _BY_CODE.get(str(code)) or _BY_STATUS.get(status or 0) or _BY_KIND.get(str(error.get("type")))
    facts = {"error_code": code} | without(dict(error), "message", "type", "code")
    details = {name: fact for name, fact in facts.items() if fact is not None}
    told = {"type": (row or _BY_TYPE["api_error"]).type, "message": str(error.get("message")), "details": details}
    return {"type": "error", "error": told, "request_id": request_id}


def to_chat_error(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the error body of a chat for one of Messages, whether it came as a reply or in a stream."""
    said = body.get("error")
    error: dict[str, Any] = said if isinstance(said, dict) else {}
    message = str(error.get("message") or "")
    row = _BY_TYPE.get(str(error.get("type")), _BY_TYPE["api_error"])
    row = _BY_TYPE["billing_error"] if _NOT_PAID in message else row
    too_long = any(words in message for words in _FITS_NOT)
    code = "context_length_exceeded" if too_long else row.code
    return {"error": {"message": message, "type": row.kind, "param": None, "code": code}}
