"""The most tokens that a prompt can have, whatever its model.

A hold must never be smaller than the bill, so what is held for a prompt is a bound, not a guess: a tokenizer makes at
most one token of one byte.
"""

from collections.abc import Mapping
from typing import Any, Literal
from unicodedata import normalize

import msgspec

TEMPLATE_TOKENS = 256
"""What a chat template may add of its own: a default system prompt, turn marks."""

PICTURE_TOKENS = 60_000
"""More than any current model makes of one picture at its highest detail."""

DOCUMENT_TOKENS = 1_048_576
"""What a document may be that is named by an id: as long as the longest context on offer."""

TOOLS_TOKENS = 1_024
"""More than any provider says to a model of its own about how tools are called."""

DEFINED_TOOL_TOKENS = 4_096
"""More than any provider says of a tool that it defines and its caller runs: a request only names it."""

_OF_CALLERS = frozenset({"function", "custom"})
_MOST_BY_PART = {"text": 0, "refusal": 0, "image_url": PICTURE_TOKENS}
_FORMS: tuple[Literal["NFC", "NFKC"], ...] = ("NFC", "NFKC")


def most_prompt_tokens(body: Mapping[str, Any], body_bytes: int) -> int:
    """Return a bound on the tokens of a request's prompt.

    Args:
        body: the request, decoded.
        body_bytes: its size on the wire.
    """
    told = TOOLS_TOKENS if body.get("tools") or body.get("functions") else 0
    return _most_text_bytes(body, body_bytes) + TEMPLATE_TOKENS + told + most_attached_tokens(body)


def most_attached_tokens(body: Mapping[str, Any]) -> int:
    """Return a bound on the tokens of what a request carries beside its text."""
    tools = body.get("tools")
    defined = sum(map(_is_defined_by_provider, tools if isinstance(tools, list) else []))
    return sum(map(_attached, body.get("messages", ()))) + defined * DEFINED_TOOL_TOKENS


def _most_text_bytes(body: Mapping[str, Any], body_bytes: int) -> int:
    """Return the most bytes a tokenizer may see of a body: some normalise text first, which can make it longer."""
    text = msgspec.json.encode(body).decode()
    if text.isascii():
        return body_bytes
    return max(body_bytes, *(len(normalize(form, text).encode()) for form in _FORMS))


def _is_defined_by_provider(tool: Any) -> bool:
    return isinstance(tool, dict) and tool.get("type", "function") not in _OF_CALLERS


def _attached(message: Mapping[str, Any]) -> int:
    content = message.get("content")
    parts = content if isinstance(content, list) else []
    return sum(map(_most_by_part, parts))


def _most_by_part(part: Mapping[str, Any]) -> int:
    """No provider makes as many tokens of a second of sound as that takes bytes, whatever its form."""
    kind = str(part.get("type"))
    sound = part.get(kind) if kind == "input_audio" else None
    data = sound.get("data") if isinstance(sound, dict) else None
    return len(data) if isinstance(data, str) else _MOST_BY_PART.get(kind, DOCUMENT_TOKENS)
