"""Errors, from Google's form to that of a chat.

Spec: `google.rpc.Status`; the Gemini API's guide "Troubleshooting".
"""

import math
from typing import Any, NamedTuple

from gateway.wire.fold import objects


class _Row(NamedTuple):
    """The code and the type of an error in chat."""

    code: str
    kind: str = "invalid_request_error"


_FAILED = _Row("upstream_error", "server_error")
_ROWS = {
    "INVALID_ARGUMENT": _Row("invalid_request_error"),
    "FAILED_PRECONDITION": _Row("invalid_request_error"),
    "OUT_OF_RANGE": _Row("invalid_request_error"),
    "UNAUTHENTICATED": _Row("invalid_api_key"),
    "PERMISSION_DENIED": _Row("forbidden", "permission_error"),
    "NOT_FOUND": _Row("not_found"),
    "ALREADY_EXISTS": _Row("conflict"),
    "ABORTED": _Row("conflict"),
    "RESOURCE_EXHAUSTED": _Row("rate_limit_exceeded", "rate_limit_error"),
    "UNAVAILABLE": _Row("overloaded", "server_error"),
    "DEADLINE_EXCEEDED": _Row("upstream_timeout", "server_error"),
}
_BAD_KEYS = frozenset({"API_KEY_INVALID", "API_KEY_SERVICE_BLOCKED", "ACCESS_TOKEN_EXPIRED"})
"""Reasons under which Google blames the request for what is wrong with our own key."""

_TOO_LONG = "exceeds the maximum number of tokens allowed"
"""How Google words that the prompt does not fit the model; the status alone does not tell."""


def to_chat_error(body: object) -> dict[str, Any]:
    """Return the error body of a chat for one of Google's, whether it came as a reply or in a stream.

    Outside a stream of events it may stand in a list, as whatever was to be the answer. How long to wait Google says
    in the body alone; where it does, `retry_after_s` has it in whole seconds.
    """
    error = _error(body)
    message = error.get("message")
    text = message if isinstance(message, str) else ""
    row = _ROWS.get(str(error.get("status")), _FAILED)
    details = objects(error.get("details"))
    if any(detail.get("reason") in _BAD_KEYS for detail in details):
        row = _ROWS["UNAUTHENTICATED"]
    code = "context_length_exceeded" if _TOO_LONG in text else row.code
    waits = [wait for detail in details if (wait := _seconds(detail.get("retryDelay"))) is not None]
    asked = {"retry_after_s": max(waits)} if waits else {}
    return {"error": {"message": text, "type": row.kind, "param": None, "code": code} | asked}


def _seconds(delay: object) -> int | None:
    digits = delay.removesuffix("s") if isinstance(delay, str) else ""
    return math.ceil(float(digits)) if digits.isascii() and digits.replace(".", "", 1).isdigit() else None


def _error(body: object) -> dict[str, Any]:
    said = next(iter(objects(body)), body)
    error = said.get("error") if isinstance(said, dict) else None
    return error if isinstance(error, dict) else {}
