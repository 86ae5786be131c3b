"""What a provider's error means for our caller.

A provider may blame the request (passed on), itself (an upstream error) or our own key (an upstream error too: the
caller can do nothing about it and must learn nothing of it).
"""

from collections.abc import Mapping
from typing import Any

from gateway.errors import ContextTooLong, UpstreamError, UpstreamOverloaded, UpstreamRefused
from gateway.providers.replies import json_of

_BLAMES_REQUEST = frozenset({400, 404, 413, 415, 422})
_BUSY = frozenset({429, 503, 529})
_BUSY_CODES = frozenset({"overloaded", "rate_limit_exceeded"})
_OUR_KEY_CODES = frozenset({"invalid_api_key"})
"""Some blame the request for what is wrong with our key."""

_CONTEXT_CODES = frozenset({"context_length_exceeded", "context_window_exceeded"})
_LONGEST_MESSAGE = 2000


def refusal(provider: str, status: int | None, headers: Mapping[str, str], said: Mapping[str, Any]) -> UpstreamError:
    """Return the error that a reply of `status`, or an error in place of an answer (None), stands for.

    Args:
        provider: its name.
        status: of the reply.
        headers: of the reply.
        said: the error object of a chat that says what its body says.
    """
    message = str(said.get("message") or "")[:_LONGEST_MESSAGE]
    if said.get("code") in _CONTEXT_CODES:
        return ContextTooLong(message, provider, status, "messages")
    if status in _BLAMES_REQUEST and said.get("code") not in _OUR_KEY_CODES:
        param = said.get("param")
        text = message or f"Provider {provider!r} refused the request with status {status}."
        return UpstreamRefused(text, provider, status, param if isinstance(param, str) else None)
    if status in _BUSY or (status is None and said.get("code") in _BUSY_CODES):
        # Some say it in the body alone.
        retry_after_s = _seconds(headers.get("retry-after") or str(said.get("retry_after_s")))
        return UpstreamOverloaded(f"Provider {provider!r} is busy.", provider, status, retry_after_s)
    if status is None:
        return UpstreamError(f"Provider {provider!r} answered with an error.", provider)
    return UpstreamError(f"Provider {provider!r} answered with status {status}.", provider, status)


def error_of(body: bytes) -> dict[str, Any]:
    """Return the error object in a body of OpenAI's form, wherever a provider puts it; empty when there is none."""
    value = json_of(body)
    error = value.get("error", value) if isinstance(value, dict) else None
    return error if isinstance(error, dict) else {"message": error if isinstance(error, str) else ""}


def _seconds(text: str) -> float:
    return min(float(text), 3600.0) if text.isascii() and text.isdigit() else 1.0
