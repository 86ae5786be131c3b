"""Read what a caller says a request belongs to, in our own headers and in those of the peers people come from.

Nothing here is trusted: `governance.attribution` decides which of these a key may set.
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from gateway.wire.request.controls import Headers
from governance.attribution import DIMENSIONS, Offered

_OURS = "x-sluice-"
_HELICONE = "helicone-property-"
_JSON_HEADERS = ("x-litellm-spend-logs-metadata", "x-portkey-metadata", "cf-aig-metadata")
_TAGS = "x-litellm-tags"
_USER_HEADERS = ("x-litellm-end-user-id", "x-litellm-customer-id", "helicone-user-id")
_SESSION_HEADERS = ("x-litellm-trace-id", "x-portkey-trace-id", "helicone-session-id")


def read_offered(headers: Headers, metadata: Mapping[str, Any] | None, user: str | None) -> Offered:
    """Return the dimensions offered by headers and by the body's `metadata`; our own headers win over a peer's."""
    body = metadata or {}
    named = body.get("user")
    fallback = next((headers[name] for name in _USER_HEADERS if name in headers), None)
    return Offered(
        headers=_peers(headers) | {d: headers[_OURS + d] for d in DIMENSIONS if _OURS + d in headers},
        metadata=_dimensions(body),
        user=user or (named if isinstance(named, str) else None) or fallback,
    )


def _peers(headers: Headers) -> dict[str, str]:
    offered: dict[str, str] = {}
    for tag in headers.get(_TAGS, "").split(","):
        name, colon, value = tag.strip().partition(":")
        if colon and name in DIMENSIONS:
            offered[name] = value.strip()
    for header in _JSON_HEADERS:
        offered |= _dimensions(_json_object(headers.get(header, "")))
    offered |= {d: headers[_HELICONE + d] for d in DIMENSIONS if _HELICONE + d in headers}
    session = next((headers[name] for name in _SESSION_HEADERS if name in headers), None)
    return offered if session is None else {"session": session} | offered


def _dimensions(values: Mapping[str, Any]) -> dict[str, str]:
    texts = {d: values[d] for d in DIMENSIONS if isinstance(values.get(d), str)}
    session = values.get("session_id")
    return texts if not isinstance(session, str) else {"session": session} | texts


def _json_object(text: str) -> dict[str, Any]:
    """A peer's header that is not an object of JSON carries no dimension; it is theirs, so it is no error of ours."""
    try:
        value = msgspec.json.decode(text) if text else {}
    except (msgspec.DecodeError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
