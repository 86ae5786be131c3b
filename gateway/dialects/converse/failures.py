"""Errors, from Converse to chat.

Spec: the Amazon Bedrock API reference, `ConverseStream`, "Errors", and `ConverseStreamOutput`.
"""

from typing import Any, Final

from gateway.dialects.messages.failures import to_chat_error

FAILED: Final = "Exception"
"""How the names of events end that tell of an error."""

_TYPES = {
    "accessDenied": "permission_error",
    "internalServer": "api_error",
    "modelNotReady": "overloaded_error",
    "modelTimeout": "timeout_error",
    "resourceNotFound": "not_found_error",
    "serviceQuotaExceeded": "rate_limit_error",
    "serviceUnavailable": "overloaded_error",
    "throttling": "rate_limit_error",
    "validation": "invalid_request_error",
}
"""What Messages calls them; what is not here, such as `modelStreamErrorException`, is an error of the provider."""

_FITS_NOT = ("input is too long", "prompt is too long", "maximum context length", "exceed context limit")
"""How models there word that the prompt and the answer do not fit them."""

_CONTEXT = "context_length_exceeded"


def failure(name: str, data: dict[str, Any]) -> dict[str, Any]:
    """Return the error body of a chat for an exception in a stream, by its name there and what it says."""
    kind = _TYPES.get(name.removesuffix(FAILED), "api_error")
    said = str(data.get("message") or data.get("originalMessage") or name)
    body = to_chat_error({"error": {"type": kind, "message": said}})
    return {"error": body["error"] | {"code": _CONTEXT}} if _too_long(said) else body


def refused(body: dict[str, Any]) -> dict[str, Any]:
    """Return the error object of a chat for the body of a refusal; its status tells what kind of error it is."""
    said = str(body.get("message") or body.get("Message") or "")
    return {"message": said, "param": None, "code": _CONTEXT if _too_long(said) else None}


def _too_long(message: str) -> bool:
    return any(words in message.lower() for words in _FITS_NOT)
