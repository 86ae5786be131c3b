"""Tokens both ways. The names differ; the sums do not: cached tokens are within the input, reasoning within the output.

Chat tells what was written to a cache for long from what was not; here the first is within the second. What else is
said beside the tokens, such as what an answer cost, keeps its name.
"""

from collections.abc import Mapping
from typing import Any

_NAMES = {
    "input_tokens": "prompt_tokens",
    "output_tokens": "completion_tokens",
    "input_tokens_details": "prompt_tokens_details",
    "output_tokens_details": "completion_tokens_details",
}
_BACK = {chat: ours for ours, chat in _NAMES.items()}
_ALWAYS = {
    "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
    "output_tokens_details": {"reasoning_tokens": 0},
}
"""What this API says even where it is nothing."""


def to_chat_usage(usage: Mapping[str, Any]) -> dict[str, Any]:
    """Return usage as the chat form has it."""
    chat = {_NAMES.get(name, name): value for name, value in usage.items()}
    return _written(chat, "prompt_tokens_details", -1)


def from_chat_usage(usage: Mapping[str, Any]) -> dict[str, Any]:
    """Return usage as this API has it, with every count that its clients rely on."""
    ours = {_BACK.get(name, name): value for name, value in usage.items() if value is not None}
    counted = [ours[name] for name in ("input_tokens", "output_tokens") if isinstance(ours.get(name), int)]
    used: dict[str, Any] = {"input_tokens": 0, "output_tokens": 0, "total_tokens": sum(counted)} | ours
    for name, counts in _ALWAYS.items():
        said = used.get(name)
        used[name] = counts | (said if isinstance(said, dict) else {})
    return _written(used, "input_tokens_details", 1)


def _written(usage: dict[str, Any], name: str, sign: int) -> dict[str, Any]:
    """Take what was written for long into `cache_write_tokens`, or out of it."""
    match usage.get(name):
        case {"cache_write_tokens": int(written), "cache_write_1h_tokens": int(long)} as details:
            return usage | {name: {**details, "cache_write_tokens": written + sign * long}}
        case _:
            return usage
