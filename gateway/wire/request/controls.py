"""The headers with which a caller identifies itself and steers one request."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from gateway.errors import BadRequest

Headers = dict[str, str]
"""Header names in lower case; a repeated header is joined with commas, as HTTP says."""

_CREDENTIALS = ("x-api-key", "api-key", "x-goog-api-key")
PRIORITY: Final = "x-sluice-priority"
DEFERRED: Final = "deferred"
"""The value of that header with which a caller asks that its request wait until nobody is in a hurry."""

_PRIORITIES = frozenset({None, "interactive", DEFERRED})
_ZONES = frozenset({"onprem"})
_VISIBLE = re.compile(r"[!-~]{1,255}")
_WHOLE = re.compile(r"[0-9]{1,9}")
_LONGEST_TIMEOUT_MS = 24 * 3600 * 1000


def read_headers(raw: Iterable[tuple[bytes, bytes]]) -> Headers:
    """Return ASGI headers as text; names are already lower case there."""
    headers: Headers = {}
    for name, value in raw:
        key, text = name.decode("latin-1"), value.decode("latin-1")
        headers[key] = f"{headers[key]}, {text}" if key in headers else text
    return headers


@dataclass(frozen=True, slots=True)
class Credential:
    """The key text a caller presented. Its repr shows nothing, so that no log or traceback can."""

    text: str = field(repr=False)


def credential(headers: Headers) -> Credential:
    """Return the key from `Authorization: Bearer` or one of the headers other SDKs use; empty when there is none."""
    scheme, _, token = headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer" and token.strip():
        return Credential(token.strip())
    return Credential(next((headers[name].strip() for name in _CREDENTIALS if headers.get(name, "").strip()), ""))


@dataclass(frozen=True, slots=True)
class Controls:
    """What the caller asked of the gateway itself, beside the model's answer.

    Attributes:
        zone: the zone the request must not leave, or None; a header may only raise sensitivity.
        timeout_s: the caller's own limit on the whole request, or None.
        cache_control: the raw `Cache-Control` value, for `cache.directives`.
        idempotency_key: what names the request if it is sent again, or None.
        interactive: the caller wants an answer now or none, even where a budget would let the request wait.
    """

    zone: str | None
    timeout_s: float | None
    cache_control: str
    idempotency_key: str | None = None
    interactive: bool = False


def read_controls(headers: Headers) -> Controls:
    """Return the controls.

    Raises:
        BadRequest: a control has a value that means nothing; ignoring it would be a silent leak or a silent bill.
    """
    zone = headers.get("x-sluice-zone")
    if zone is not None and zone not in _ZONES:
        raise BadRequest("The header x-sluice-zone must be 'onprem'.", param="x-sluice-zone")
    priority = headers.get(PRIORITY)
    if priority not in _PRIORITIES:
        raise BadRequest("The header x-sluice-priority must be 'interactive' or 'deferred'.", param=PRIORITY)
    cache_control, key = headers.get("cache-control", ""), _idempotency_key(headers)
    return Controls(zone, _timeout_s(headers), cache_control, key, interactive=priority == "interactive")


def _idempotency_key(headers: Headers) -> str | None:
    text = headers.get("idempotency-key")
    if text is not None and not _VISIBLE.fullmatch(text):
        message = "The header Idempotency-Key must have 1 to 255 visible characters of ASCII."
        raise BadRequest(message, param="Idempotency-Key")
    return text


def _timeout_s(headers: Headers) -> float | None:
    text = headers.get("x-sluice-timeout-ms")
    if text is None:
        return None
    if not (_WHOLE.fullmatch(text) and 0 < int(text) <= _LONGEST_TIMEOUT_MS):
        raise BadRequest(
            f"The header x-sluice-timeout-ms must be a whole number from 1 to {_LONGEST_TIMEOUT_MS}.",
            param="x-sluice-timeout-ms",
        )
    return int(text) / 1000
