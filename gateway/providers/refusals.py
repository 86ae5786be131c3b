"""What a provider's error means for our caller.

A provider may blame the request (passed on), itself (an upstream error) or our own key (an upstream error too: the
caller can do nothing about it and must learn nothing of it).
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from gateway.errors import ContextTooLong, UpstreamError, UpstreamOverloaded, UpstreamRefused

_BLAMES_REQUEST = frozenset({400, 404, 413, 415, 422})
_BUSY = frozenset({429, 503, 529})
_CONTEXT_CODES = frozenset({"context_length_exceeded", "context_window_exceeded"})
_LONGEST_MESSAGE = 2000


def refusal(provider: str, status: int | None, headers: Mapping[str, str], body: bytes) -> UpstreamError:
    """Return the error that a reply of `status`, or an error in place of an answer (None), stands for."""
    said = _error(body)
    message = str(said.get("message") or "")[:_LONGEST_MESSAGE]
    if said.get("code") in _CONTEXT_CODES:
        return ContextTooLong(message, provider, status, "messages")
    if status in _BLAMES_REQUEST:
        param = said.get("param")
        text = message or f"Provider {provider!r} refused the request with status {status}."
        return UpstreamRefused(text, provider, status, param if isinstance(param, str) else None)
    if status in _BUSY:
        retry_after_s = _seconds(headers.get("retry-after", ""))
        return UpstreamOverloaded(f"Provider {provider!r} is busy.", provider, status, retry_after_s)
    if status is None:
        return UpstreamError(f"Provider {provider!r} answered with an error.", provider)
    return UpstreamError(f"Provider {provider!r} answered with status {status}.", provider, status)


def _error(body: bytes) -> dict[str, Any]:
    try:
        value = msgspec.json.decode(body)
    except (msgspec.DecodeError, RecursionError):
        return {}
    error = value.get("error", value) if isinstance(value, dict) else None
    return error if isinstance(error, dict) else {"message": error if isinstance(error, str) else ""}


def _seconds(text: str) -> float:
    return min(float(text), 3600.0) if text.isascii() and text.isdigit() else 1.0
