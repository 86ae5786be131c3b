"""Pairs of questions as a file holds them: text, messages or whole requests, with what stands before both."""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cache.errors import BadPair

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path


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
        BadPair: A line is no pair.
    """
    return list(_pairs(path))


def _pairs(path: Path) -> Iterator[LabelledPair]:
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8") as lines:
        for number, line in enumerate(lines, start=1):
            if line.strip():
                yield _pair(number, line)


def _pair(number: int, line: str) -> LabelledPair:
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
        raise BadPair(number) from fault


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
