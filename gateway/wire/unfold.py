"""Unfold a stored completion into the chunks a streaming client expects: the inverse of `fold`."""

from collections.abc import Iterator
from typing import Any

PIECE = 64
"""Characters a replayed chunk carries; a replay should arrive as a stream does, in more than one piece."""


def unfold(completion: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield chunks that fold back into `completion`; usage is the caller's to add, as only it knows who asked."""
    head = {name: value for name, value in completion.items() if name not in {"choices", "usage"}}
    head["object"] = "chat.completion.chunk"
    for choice in completion["choices"]:
        index, message = choice["index"], dict(choice["message"])
        content = message.pop("content", None)
        calls = message.pop("tool_calls", None)
        first = message | ({"content": ""} if isinstance(content, str) else {"content": content})
        yield head | {"choices": [_part(index, first, logprobs=choice.get("logprobs"))]}
        for start in range(0, len(content) if isinstance(content, str) else 0, PIECE):
            yield head | {"choices": [_part(index, {"content": content[start : start + PIECE]})]}
        for position, call in enumerate(calls or []):
            yield head | {"choices": [_part(index, {"tool_calls": [{"index": position} | call]})]}
        rest = {n: v for n, v in choice.items() if n not in {"index", "message", "logprobs"}}
        yield head | {"choices": [{"index": index, "delta": {}} | rest]}


def usage_chunk(completion: dict[str, Any], money: dict[str, str]) -> dict[str, Any]:
    """Return the chunk that ends a stream whose client asked for usage, with `money` beside the tokens."""
    head = {name: value for name, value in completion.items() if name != "choices"}
    return head | {"object": "chat.completion.chunk", "choices": [], "usage": completion["usage"] | money}


def _part(index: int, delta: dict[str, Any], logprobs: object = None) -> dict[str, Any]:
    return {"index": index, "delta": delta, "logprobs": logprobs, "finish_reason": None}
