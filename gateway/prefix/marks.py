"""Put marks for a provider's cache into a chat, in the form that every dialect takes them from."""

from collections.abc import Mapping
from typing import Any, Final

from gateway.prefix.outlines import MARK, End

_WITHIN: Final = frozenset({"text", "image_url", "file", "document", "search_result"})
"""Parts of a content that may be marked."""

_HOUR_S: Final = 3600


def markable(body: Mapping[str, Any], end: End) -> bool:
    """Say whether a mark can be put at the end of a prefix: something is there, and it has none."""
    if end.at < 0:
        return isinstance(body["tools"][-1], dict) and MARK not in body["tools"][-1]
    message = body["messages"][end.at]
    content = message.get("content")
    if MARK in message:
        return False
    if isinstance(content, str) or not content:
        return bool(content)
    last = content[-1] if isinstance(content, list) else None
    if not isinstance(last, dict) or last.get("type") not in _WITHIN or MARK in last:
        return False
    return last["type"] != "text" or bool(last.get("text"))


def marked(body: Mapping[str, Any], ends: Mapping[End, int]) -> dict[str, Any]:
    """Return the chat with marks at the ends of prefixes, each to be kept for so many seconds; nothing else changes."""
    said = dict(body)
    for end, seconds in ends.items():
        mark = {"type": "ephemeral"} | ({"ttl": "1h"} if seconds == _HOUR_S else {})
        if end.at < 0:
            said["tools"] = [*said["tools"][:-1], said["tools"][-1] | {MARK: mark}]
        else:
            messages = list(said["messages"])
            messages[end.at] = _message(messages[end.at], mark)
            said["messages"] = messages
    return said


def _message(message: dict[str, Any], mark: dict[str, str]) -> dict[str, Any]:
    if message["role"] == "tool":
        return message | {MARK: mark}
    content = message["content"]
    parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
    return message | {"content": [*parts[:-1], parts[-1] | {MARK: mark}]}
