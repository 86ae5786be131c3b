"""What of a request is compared by meaning: the text of its last turn, when it is one that can be.

All the rest of the request is compared by equality (`scope.py`). A request that draws lots, that wants more than one
answer, or whose last turn is not plain text is never compared by meaning: only its exact repetition is the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

HOTTEST: Final = 0.3
"""The highest temperature that a request may ask for and still want one answer rather than a draw."""

_DRAWS: Final = ("seed", "logprobs", "top_logprobs", "logit_bias", "prediction", "audio", "web_search_options")
"""Fields of requests whose answer is more than a text that would do for another wording as well."""

_FRAMING: Final = frozenset({"system", "developer"})


@dataclass(frozen=True, slots=True)
class Question:
    """The last turn of a request.

    Attributes:
        text: Its words.
        rest: The whole request with these words blanked.
        earlier: How many turns came before it, instructions not counted.
    """

    text: str
    rest: Mapping[str, object]
    earlier: int


def question_of(body: Mapping[str, Any]) -> Question | None:
    """Take the question out of a chat, or return None when only the very same request may share its answer.

    Args:
        body: The request in the form of a chat.
    """
    messages = body.get("messages")
    if not isinstance(messages, Sequence) or isinstance(messages, str) or not messages or _draws(body):
        return None
    last = messages[-1]
    text = _text(last) if isinstance(last, Mapping) and last.get("role") == "user" else None
    if text is None or not text.strip():
        return None
    blanked = [*messages[:-1], {**last, "content": None}]
    earlier = sum(1 for message in messages[:-1] if _role(message) not in _FRAMING)
    return Question(text, {**body, "messages": blanked}, earlier)


def _draws(body: Mapping[str, Any]) -> bool:
    if any(body.get(name) for name in _DRAWS) or "seed" in body:
        return True
    number, temperature = body.get("n"), body.get("temperature")
    if number not in {None, 1}:
        return True
    return temperature is not None and not (isinstance(temperature, int | float) and temperature <= HOTTEST)


def _text(message: Mapping[str, Any]) -> str | None:
    """Return the words of a message that holds nothing else."""
    content = message.get("content")
    if isinstance(content, str):
        return content
    if not isinstance(content, list) or not all(_is_plain(part) for part in content):
        return None
    return "\n".join(part["text"] for part in content)


def _is_plain(part: object) -> bool:
    return (
        isinstance(part, Mapping)
        and set(part) == {"type", "text"}
        and part["type"] == "text"
        and isinstance(part["text"], str)
    )


def _role(message: object) -> object:
    return message.get("role") if isinstance(message, Mapping) else None
