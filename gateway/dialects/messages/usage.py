"""Tokens of an answer, as Messages and as chat report them, each from the other.

Messages counts its input in three classes that do not overlap: fresh, read from a cache, written to one. Chat counts
all of it as `prompt_tokens` and names the classes beneath. Output includes thinking in both. Fields that neither names,
such as what was paid, stay where they are.
"""

from collections.abc import Mapping
from typing import Any

from gateway.dialects.counts import count
from gateway.dialects.messages.parts import without

_OURS = (
    "input_tokens",
    "cache_read_input_tokens",
    "cache_creation_input_tokens",
    "cache_creation",
    "output_tokens",
    "output_tokens_details",
)
_CHATS = (
    "prompt_tokens",
    "completion_tokens",
    "total_tokens",
    "prompt_tokens_details",
    "completion_tokens_details",
)


def to_chat_usage(usage: dict[str, Any]) -> dict[str, Any]:
    """Return the usage of a chat: `cached_tokens`, `cache_write_tokens` and `cache_write_1h_tokens` do not overlap.

    Of nothing that was told nothing is made, for zeros would be believed.
    """
    if not usage:
        return {}
    created = _group(usage, "cache_creation")
    fresh, read = count(usage, "input_tokens"), count(usage, "cache_read_input_tokens")
    hour, minutes = count(created, "ephemeral_1h_input_tokens"), count(created, "ephemeral_5m_input_tokens")
    written = max(count(usage, "cache_creation_input_tokens"), hour + minutes)
    prompt, completion = fresh + read + written, count(usage, "output_tokens")
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
        "prompt_tokens_details": {
            "cached_tokens": read,
            "cache_write_tokens": written - hour,
            "cache_write_1h_tokens": hour,
        },
        "completion_tokens_details": {
            "reasoning_tokens": count(_group(usage, "output_tokens_details"), "thinking_tokens")
        },
    } | without(usage, *_OURS)


def from_chat_usage(usage: dict[str, Any]) -> dict[str, Any]:
    """Return the usage of a message; what `total_tokens` holds beyond prompt and completion is output as well."""
    prompt, details = count(usage, "prompt_tokens"), _group(usage, "prompt_tokens_details")
    read, minutes, hour = (
        count(details, name) for name in ("cached_tokens", "cache_write_tokens", "cache_write_1h_tokens")
    )
    output = max(count(usage, "completion_tokens"), count(usage, "total_tokens") - prompt)
    thinking = count(_group(usage, "completion_tokens_details"), "reasoning_tokens")
    return {
        "input_tokens": max(0, prompt - read - minutes - hour),
        "cache_read_input_tokens": read,
        "cache_creation_input_tokens": minutes + hour,
        "cache_creation": {"ephemeral_5m_input_tokens": minutes, "ephemeral_1h_input_tokens": hour},
        "output_tokens": output,
        "output_tokens_details": {"thinking_tokens": thinking},
    } | without(usage, *_CHATS)


def _group(usage: Mapping[str, Any], name: str) -> dict[str, Any]:
    group = usage.get(name)
    return group if isinstance(group, dict) else {}
