"""What a provider's error means for our caller.

A provider may blame the request (passed on), itself (an upstream error) or our own key (an upstream error too: the
caller can do nothing about it and must learn nothing of it).
"""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
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
_LONGEST_WAIT_S = 3600.0
_NUMBER = re.compile(r"[0-9]{1,9}(\.[0-9]{1,9})?")


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
        wait_s = _retry_after_s(
            {"retry-after": str(said.get("retry_after_s"))} | {**headers}
        )  # some say it in the body
        return UpstreamOverloaded(f"Provider {provider!r} is busy.", provider, status, wait_s)
    if status is None:
        return UpstreamError(f"Provider {provider!r} answered with an error.", provider)
    return UpstreamError(f"Provider {provider!r} answered with status {status}.", provider, status)


def error_of(body: bytes) -> dict[str, Any]:
    """Return the error object in a body of OpenAI's form, wherever a provider puts it; empty when there is none."""
    value = json_of(body)
    error = value.get("error", value) if isinstance(value, dict) else None
    return error if isinstance(error, dict) else {"message": error if isinstance(error, str) else ""}


def _retry_after_s(headers: Mapping[str, str]) -> float | None:
    """Read how long a provider asks to wait: seconds, or a date, which is held against the provider's own clock.

    Spec: RFC 9110, 10.2.3; `retry-after-ms` is OpenAI's.
    """
    text, millis = headers.get("retry-after", ""), headers.get("retry-after-ms", "")
    if _NUMBER.fullmatch(millis):
        found = float(millis) / 1000
    elif _NUMBER.fullmatch(text):
        found = float(text)
    else:
        at, now = _instant(text), _instant(headers.get("date", ""))
        if at is None or now is None:
            return None
        found = (at - now).total_seconds()
    return min(max(found, 0.0), _LONGEST_WAIT_S)


def _instant(text: str) -> datetime | None:
    try:
        return parsedate_to_datetime(text).replace(tzinfo=UTC)  # the only zone that such a date may have
    except ValueError:
        return None
