"""Pairs of questions as a file holds them: text, messages or whole requests, with what stands before both."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from cache.errors import BadLine
from cache.evaluating.jsonl import numbered

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

_FORM: Final = 'no pair; write {"a": …, "b": …, "same": true or false, "kind": …}'


@dataclass(frozen=True, slots=True)
class Asked:
    """A question and all that has to be equal before its answer may be shared.

    Attributes:
        question: The text of the last turn; None when there is none that is text.
        turns: The turns before it.
        scope: Every other field of the request.
    """

    question: str | None
    turns: Sequence[object]
    scope: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class LabelledPair:
    """Two questions, and whether a stored answer to the first is a right answer to the second.

    Attributes:
        a: What is stored.
        b: What is asked.
        same: Whether it is.
        kind: What sort of pair it is.
    """

    a: Asked
    b: Asked
    same: bool
    kind: str


def read_pairs(path: Path) -> list[LabelledPair]:
    """Read a file of pairs, JSON Lines, plain or gzip.

    Raises:
        BadLine: A line is no pair.
    """
    return [_pair(path, number, line) for number, line in numbered(path)]


def _pair(path: Path, number: int, line: bytes) -> LabelledPair:
    try:
        row = json.loads(line)
        before: Any = row.get("context") or []
        context: list[Any] = [{"role": "user", "content": before}] if isinstance(before, str) else list(before)
        return LabelledPair(
            _asked(row["a"], context),
            _asked(row["b"], context),
            same=row["same"] is True,
            kind=str(row.get("kind", "")),
        )
    except (ValueError, LookupError, TypeError, AttributeError) as fault:
        raise BadLine(str(path), number, _FORM) from fault


def _asked(written: Any, context: list[Any]) -> Asked:
    if isinstance(written, str):
        return Asked(written, context, {})
    request = {"messages": written} if isinstance(written, list) else dict(written)
    messages: list[Any] = [*context, *_messages(request)]
    last = messages.pop()
    asks = isinstance(last, dict) and last.get("role") == "user"
    return Asked(_text(last.get("content")) if asks else None, messages if asks else [*messages, last], request)


def _messages(request: dict[str, Any]) -> list[Any]:
    """Take the messages out of a request; a prompt is one message."""
    if "prompt" in request and "messages" not in request:
        return [{"role": "user", "content": request.pop("prompt")}]
    return list(request.pop("messages"))


def _text(content: Any) -> str | None:
    """Return the text of a message that is nothing but text."""
    if isinstance(content, str):
        return content
    if isinstance(content, list) and all(isinstance(part, dict) and part.get("type") == "text" for part in content):
        return "\n".join(str(part["text"]) for part in content)
    return None
