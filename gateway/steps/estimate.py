"""Tokens before and without the provider's own count.

A hold must never be smaller than the bill, so what is held for a prompt is a bound, not a guess: every byte-level
tokenizer makes at most one token of one byte. A settlement without the provider's usage is a guess, and marked as one.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

TEMPLATE_TOKENS = 256
"""What a chat template may add of its own: a default system prompt, turn marks."""

ATTACHMENT_TOKENS = 40_000
"""What a picture, sound or file may cost that is named by a link or is small but dear."""

_BYTES_PER_TOKEN = 4
_TEXT_PARTS = frozenset({"text", "refusal", "input_text"})


def most_prompt_tokens(body_bytes: int, messages: Sequence[Mapping[str, Any]]) -> int:
    """Return a bound on the prompt's tokens, from the size of the request body and the attachments it names."""
    return body_bytes + TEMPLATE_TOKENS + ATTACHMENT_TOKENS * sum(_attachments(message) for message in messages)


def likely_prompt_tokens(body_bytes: int) -> int:
    """Return a plausible count for the prompt in a request body of that size."""
    return -(-body_bytes // _BYTES_PER_TOKEN)


def likely_tokens(texts: Iterable[str]) -> int:
    """Return a plausible count for texts in a language the tokenizer knows: four bytes to a token."""
    return sum(-(-len(text.encode()) // _BYTES_PER_TOKEN) for text in texts)


def _attachments(message: Mapping[str, Any]) -> int:
    content = message.get("content")
    parts = content if isinstance(content, list) else []
    return sum(isinstance(part, dict) and part.get("type") not in _TEXT_PARTS for part in parts)
