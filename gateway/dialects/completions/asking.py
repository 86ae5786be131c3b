"""Read a client's request as a chat request."""

from collections.abc import Mapping
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from gateway.errors import BadRequest
from gateway.wire.body import shaped

DEFAULT_MAX_TOKENS = 16
"""What this API allows an answer where the request names no limit; clients that rely on it must not pay for more."""

_TRANSLATED = frozenset({"prompt", "echo", "suffix", "best_of", "logprobs", "max_tokens"})
_CHAT_WORDS: Mapping[str, str] = {
    "messages": "Say 'prompt', or use Chat Completions.",
    "max_completion_tokens": "Here it is called 'max_tokens'.",
    "top_logprobs": "Here 'logprobs' is their number.",
    "tools": "Use Chat Completions to offer tools.",
    "tool_choice": "Use Chat Completions to offer tools.",
    "functions": "Use Chat Completions to offer tools.",
    "function_call": "Use Chat Completions to offer tools.",
}
"""Fields of chat whose answers this API has no word for, or that it calls otherwise."""


class Shape(msgspec.Struct, frozen=True):
    """The fields of a request that are said otherwise in the chat form."""

    model: str
    prompt: str | list[Any]
    echo: bool | None = None
    suffix: str | None = None
    n: int | None = None
    best_of: int | None = None
    logprobs: Annotated[int, Meta(ge=0)] | None = None
    max_tokens: int | None = None


def to_chat(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return `body` as a chat request; a field that this API shares with it, or that neither knows, keeps its name.

    Raises:
        BadRequest: with the name of the first field that is wrong or cannot be carried.
    """
    shape = shaped(body, Shape)
    for name, advice in _CHAT_WORDS.items():
        if body.get(name) is not None:
            raise BadRequest(f"{name!r} belongs to Chat Completions. {advice}", name)
    if shape.suffix:
        raise BadRequest(
            "'suffix' needs a model that fills in the middle: put the text after it into the prompt.", "suffix"
        )
    if shape.best_of not in {None, shape.n or 1}:
        raise BadRequest("'best_of' would pay for answers that nobody sees: ask for them with 'n'.", "best_of")
    if shape.echo and shape.logprobs is not None:
        raise BadRequest("The prompt has no 'logprobs' here: leave out 'echo' or 'logprobs'.", "echo")
    chat = {name: value for name, value in body.items() if value is not None and name not in _TRANSLATED}
    limit = DEFAULT_MAX_TOKENS if shape.max_tokens is None else shape.max_tokens
    return (
        chat | {"messages": [{"role": "user", "content": _text(shape.prompt)}], "max_tokens": limit} | _logprobs(shape)
    )


def echoed(body: Mapping[str, Any]) -> str:
    """Return the text that every answer to `body` begins with."""
    return _text(body["prompt"]) if body.get("echo") else ""


def _text(prompt: str | list[Any]) -> str:
    match prompt:
        case str() | [str()]:
            return prompt if isinstance(prompt, str) else prompt[0]
        case [str(), *_]:
            raise BadRequest("'prompt' can hold one text: send the others in requests of their own.", "prompt")
        case _:
            raise BadRequest("'prompt' must be text: tokens differ from model to model.", "prompt")


def _logprobs(shape: Shape) -> dict[str, Any]:
    if shape.logprobs is None:
        return {}
    return {"logprobs": True} | ({"top_logprobs": shape.logprobs} if shape.logprobs else {})
