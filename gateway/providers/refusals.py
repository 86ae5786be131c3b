"""What a provider's error means for our caller.

A provider may blame the request (passed on), itself (an upstream error) or our own key (an upstream error too: the
caller can do nothing about it and must learn nothing of it).
"""

from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Any, Final

from gateway.errors import ContextTooLong, UpstreamError, UpstreamOverloaded, UpstreamRefused

_BLAMES_REQUEST = frozenset({400, 404, 413, 415, 422})
_REQUEST_CODES = frozenset({"content_filter"})
"""Some blame the request under a status that says something else."""

_BUSY = frozenset({429, 498, 503, 529})
"""498 is Groq's own, for its flexible tier."""

_BUSY_CODES = frozenset({"overloaded", "rate_limit_exceeded"})
_OUR_ACCOUNT_CODES = frozenset({"insufficient_quota", "invalid_api_key"})
"""Some blame the request for what is wrong with our key, and some call an account without money busy."""

_CONTEXT_CODES = frozenset({"context_length_exceeded", "context_window_exceeded"})
_LONGEST_MESSAGE = 2000
_LONGEST_WAIT_S: Final = 3600.0


def refusal(provider: str, status: int | None, headers: Mapping[str, str], said: Mapping[str, Any]) -> UpstreamError:
    """Return the error that a reply of `status`, or an error in place of an answer (None), stands for.

    Args:
        provider: its name.
        status: of the reply.
        headers: of the reply.
        said: the error object of a chat that says what its body says. In place of an answer, some tell the status that
            it would have had as its code.
    """
    message = str(said.get("message") or "")[:_LONGEST_MESSAGE]
    code = said.get("code") if isinstance(said.get("code"), str | int) else None
    meant = code if status is None else status
    if code in _CONTEXT_CODES:
        return ContextTooLong(message, provider, status, "messages")
    if code in _REQUEST_CODES or (meant in _BLAMES_REQUEST and code not in _OUR_ACCOUNT_CODES | _BUSY_CODES):
        param = said.get("param")
        text = message or f"Provider {provider!r} refused the request with status {status}."
        return UpstreamRefused(text, provider, status, param if isinstance(param, str) else None)
    if (meant in _BUSY and code not in _OUR_ACCOUNT_CODES) or code in _BUSY_CODES:
        return UpstreamOverloaded(f"Provider {provider!r} is busy.", provider, status, _wait_s(headers, said))
    if status is None:
        return UpstreamError(f"Provider {provider!r} answered with an error.", provider)
    return UpstreamError(f"Provider {provider!r} answered with status {status}.", provider, status)


def _wait_s(headers: Mapping[str, str], said: Mapping[str, Any]) -> float | None:
    """Return for how long it asks us to stay away, if it does.

    Some say it in the body alone, and some more exactly than HTTP (RFC 9110, 10.2.3; `retry-after-ms` is OpenAI's).
    """
    after = headers.get("retry-after", "")
    asked = (
        _number(headers.get("retry-after-ms", ""), 1000),
        _number(after, 1),
        _until(after, headers.get("date", "")),
        _number(str(said.get("retry_after_s")), 1),
    )
    known = next((wait for wait in asked if wait is not None), None)
    return None if known is None else min(known, _LONGEST_WAIT_S)


def _number(text: str, per_second: int) -> float | None:
    return float(text) / per_second if text.isascii() and text.replace(".", "", 1).isdigit() else None


def _until(then: str, now: str) -> float | None:
    """Return the seconds between two dates of HTTP, such as the provider's own clock gives."""
    try:
        wait = parsedate_to_datetime(then) - parsedate_to_datetime(now)
    except (TypeError, ValueError):
        return None
    return max(0.0, wait.total_seconds())
