"""Fold the chunks of a streamed chat completion into the completion they stand for.

A provider is always asked to stream, so that a plain reply and a streamed one share one path, and the usage so far is
known when a client leaves. The merge is by shape, not by a list of known fields: text is joined, lists of indexed parts
are merged by index, anything else is replaced. Fields this version has never heard of survive.
"""

from collections.abc import Iterator
from typing import Any

REPEATED = frozenset(
    {"id", "role", "type", "object", "name", "format", "index", "created", "model", "phase", "thought_signature"}
)
"""Text fields that a chunk repeats rather than continues."""


_NOTHING = (None, "")
"""What a chunk says of a field that another one tells, such as the id in what Azure says of a prompt."""


_OURS = frozenset({"index", "delta", "logprobs", "message"})
"""Parts of a choice that are merged above, or that mean nothing in a stream."""


_SAID = ("content", "refusal", "reasoning_content", "reasoning", "function_call")
_CALLED = ("function", "custom")
"""Where a message, and a call in it, holds what the model has made; parts in place of a text are texts as well."""

_INDEXED = ("tool_calls", "reasoning_items")
"""Lists of a message whose parts have an index only while they stream."""


class Fold:
    """One completion, growing chunk by chunk."""

    def __init__(self) -> None:
        self._head: dict[str, Any] = {}
        self._choices: dict[int, dict[str, Any]] = {}

    def add(self, chunk: dict[str, Any]) -> None:
        """Merge one chunk; choices may come in any order."""
        for name, value in chunk.items():
            if name != "choices" and value not in _NOTHING:
                self._head[name] = value
        for part in objects(chunk.get("choices")):
            index = part.get("index")
            choice = self._choices.setdefault(index if type(index) is int else 0, {"message": {}})
            delta, logprobs = part.get("delta"), part.get("logprobs")
            _merge(choice["message"], delta if isinstance(delta, dict) else {})
            if isinstance(logprobs, dict):
                _extend(choice.setdefault("logprobs", {}), logprobs)
            for name, value in part.items():
                if name not in _OURS and (value is not None or name not in choice):
                    choice[name] = value

    def cut(self, reason: str, more: dict[str, Any]) -> dict[str, Any]:
        """End every choice that has not ended for `reason`; returns the chunk that does so, with `more` beside it."""
        open_ones = [index for index, choice in self._choices.items() if not choice.get("finish_reason")] or [0]
        ends = [{"index": n, "delta": {}, "logprobs": None, "finish_reason": reason} for n in sorted(open_ones)]
        head = {name: value for name, value in self._head.items() if name != "usage"}
        chunk = head | {"choices": ends} | more
        self.add(chunk)
        return chunk

    def told(self, name: str) -> object:
        """Return what was said last of a field beside the choices, None when nothing was."""
        return self._head.get(name)

    @property
    def finished(self) -> bool:
        """Whether every choice that began has said how it ended."""
        return bool(self._choices) and all(choice.get("finish_reason") for choice in self._choices.values())

    @property
    def withheld(self) -> bool:
        """Whether a filter ended every choice; what is said in place of an answer is no work of the model."""
        return bool(self._choices) and all(c.get("finish_reason") == "content_filter" for c in self._choices.values())

    @property
    def texts(self) -> list[str]:
        """Return what each choice has said so far, tool arguments included: the estimate's only basis."""
        return [_text(choice["message"]) for choice in self._choices.values()]

    def completion(self) -> dict[str, Any]:
        """Return the completion as a client that did not stream would have got it."""
        choices = [self._choices[index] for index in sorted(self._choices)]
        for index, choice in zip(sorted(self._choices), choices, strict=True):
            choice["index"] = index
            choice.setdefault("logprobs", None)
            choice.setdefault("finish_reason", None)
            choice["message"].setdefault("role", "assistant")
            choice["message"].setdefault("content", None)
            for name in _INDEXED:
                _forget_indexes(choice["message"].get(name))
        return self._head | {"object": "chat.completion", "choices": choices}


def _merge(into: dict[str, Any], delta: dict[str, Any]) -> None:
    for name, value in delta.items():
        have = into.get(name)
        if isinstance(have, str) and isinstance(value, str) and name not in REPEATED:
            into[name] = have + value
        elif isinstance(value, dict):  # a copy, since what grows here is not the chunk's
            into[name] = have if isinstance(have, dict) else {}
            _merge(into[name], value)
        elif isinstance(value, list):
            into[name] = _merge_list(have if isinstance(have, list) else [], value)
        elif value not in _NOTHING or have is None:
            into[name] = value


def _merge_list(have: list[Any], parts: list[Any]) -> list[Any]:
    for part in parts:
        index = part.get("index") if isinstance(part, dict) else None
        known = next((item for item in have if isinstance(item, dict) and item.get("index") == index), None)
        if index is None or known is None:
            fresh: dict[str, Any] = {}
            if isinstance(part, dict):
                _merge(fresh, part)
            have.append(fresh or part)
        else:
            _merge(known, part)
    return have


def _extend(into: dict[str, Any], more: dict[str, Any]) -> None:
    for name, value in more.items():
        have = into.get(name)
        if isinstance(have, list) and isinstance(value, list):
            have.extend(value)
        elif isinstance(value, list):
            into[name] = list(value)
        elif value is not None or name not in into:
            into[name] = value


def _forget_indexes(parts: object) -> None:
    for part in objects(parts):
        part.pop("index", None)
        for value in part.values():
            _forget_indexes(value)


def _text(message: dict[str, Any]) -> str:
    said = [message.get(name) for name in _SAID]
    calls = [call.get(kind) for call in objects(message.get("tool_calls")) for kind in _CALLED]
    return "".join(_texts([*said, *calls]))


def _texts(values: list[Any]) -> Iterator[str]:
    """Yield every text in the values, in their order and however deep, but for the types of parts."""
    rest = values[::-1]
    while rest:
        match rest.pop():
            case str(text):
                yield text
            case list(items):
                rest += items[::-1]
            case dict(fields):
                rest += [item for name, item in fields.items() if name != "type"][::-1]
            case _:
                pass


def objects(value: object) -> list[dict[str, Any]]:
    """Return the objects of a list, and none of what is no list."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
