"""What a receiver of alerts gets: a body, and headers that prove whose it is. No text of any request is in it."""

import hashlib
import hmac
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final
from urllib.parse import urlsplit

import msgspec

from governance.alerts.steps import Alert
from governance.limits.scopes import parted
from governance.names import shown
from governance.windows import SESSION

_SLACK: Final = "hooks.slack.com"


@dataclass(frozen=True, slots=True)
class Receiver:
    """Where alerts go; the address may itself be a secret, as Slack's are, so it is not shown."""

    url: str = field(repr=False)

    @property
    def host(self) -> str:
        """What may be shown of the address."""
        return urlsplit(self.url).hostname or ""


def body(alert: Alert, receiver: Receiver) -> bytes:
    """Return the JSON of an alert, in Slack's own form where it goes there."""
    facts = {"text": _escaped(_sentence(alert))} if receiver.host == _SLACK else _facts(alert)
    return msgspec.json.encode(facts)


def headers(alert: Alert, content: bytes, secret: bytes, at: datetime) -> dict[str, str]:
    """Return the headers of one delivery.

    `x-sluice-signature` is `t=<Unix seconds>,v1=<hex>`, where v1 is HMAC-SHA256 over `<t>.<body>`: a receiver that
    refuses old times cannot be sent an alert twice by somebody who overheard it. `x-sluice-delivery` is the alert's id,
    the same at each attempt.
    """
    stamp = str(int(at.timestamp()))
    signature = hmac.new(secret, stamp.encode() + b"." + content, hashlib.sha256).hexdigest()
    return {
        "content-type": "application/json",
        "x-sluice-delivery": alert.id,
        "x-sluice-signature": f"t={stamp},v1={signature}",
    }


def _facts(alert: Alert) -> dict[str, Any]:
    return {
        "id": alert.id,
        "type": "budget.step",
        "text": _sentence(alert),
        "scope": alert.scope,
        "dimension": alert.dimension or None,
        "value": alert.value or None,
        "team": alert.team or None,
        "window": alert.window,
        "window_start": alert.window_start,
        "resets_at": alert.window_end,
        "percent": alert.percent,
        "limit_usd": alert.limit.usd,
        "spent_usd": alert.settled.usd,
        "fired_at": alert.fired_at,
    }


def _sentence(alert: Alert) -> str:
    whose, dimension, value = parted(alert.scope)
    if dimension:
        whose = f"{dimension} {shown(value)} of {whose}"
    spent = f"{alert.settled.usd} of {alert.limit.usd} USD are spent"
    return f"{whose} has used {alert.percent} % of its {alert.window} budget: {spent}{_then(alert)}."


def _then(alert: Alert) -> str:
    if alert.window == SESSION.value:
        return ""
    return f"; it {'begins to free up' if alert.is_rolling else 'resets'} at {alert.window_end:%Y-%m-%d %H:%M} UTC"


def _escaped(text: str) -> str:
    """Write a text so that Slack shows it: callers choose some names, and none should call a channel or be a link."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
