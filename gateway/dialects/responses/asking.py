"""Read a client's request as a chat request."""

from collections.abc import Iterable, Mapping
from typing import Any, Literal

import msgspec

from gateway.dialects.responses.parts import present
from gateway.dialects.responses.shape.items import ITEM_TYPES, Input
from gateway.dialects.responses.tools import to_chat_choice, to_chat_format, to_chat_tools
from gateway.dialects.responses.turns import Turns
from gateway.errors import BadRequest
from gateway.wire.body import shaped

ENCRYPTED = "reasoning.encrypted_content"
LOGPROBS = "message.output_text.logprobs"
REASONING = frozenset({"summary", "generate_summary", "context"})
"""What may be said of reasoning beside its effort and costs nothing but its tokens."""

_KEPT_ELSEWHERE = "Nothing is kept between requests here: send the earlier items again in 'input'."
_HOSTED = "It concerns tools that run at the provider, which are not offered here: leave it out."
_STORED: Mapping[str, tuple[str, tuple[object, ...]]] = {
    "previous_response_id": (_KEPT_ELSEWHERE, ()),
    "conversation": (_KEPT_ELSEWHERE, ()),
    "store": ("Nothing is kept here: leave it out or say false.", (False,)),
    "background": ("An answer is given while you wait: leave it out, and set 'stream' to see it grow.", (False,)),
    "background_options": ("An answer is given while you wait: leave it out.", ()),
    "prompt": ("No prompt templates are kept here: send the text itself as 'instructions'.", ()),
    "context_management": ("The context is yours to manage: shorten 'input' yourself.", ()),
    "max_tool_calls": (_HOSTED, ()),
}
"""Fields that need a store or a provider's own tools: what to do instead, and the values that ask for neither."""

_CHAT_WORDS: Mapping[str, str] = {
    "messages": "input",
    "max_tokens": "max_output_tokens",
    "max_completion_tokens": "max_output_tokens",
    "response_format": "text.format",
    "verbosity": "text.verbosity",
    "reasoning_effort": "reasoning.effort",
    "logprobs": "include",
    "functions": "tools",
    "function_call": "tool_choice",
}
"""What the chat form calls a field, and what it is called here."""

_STORED_ITEMS = frozenset({"item_reference", "compaction", "compaction_trigger"})


class Shape(msgspec.Struct, frozen=True):
    """The fields of a request that are said otherwise in the chat form."""

    model: str
    input: str | list[dict[str, Any]]
    instructions: str | None = None
    max_output_tokens: int | None = None
    reasoning: dict[str, Any] | None = None
    text: dict[str, Any] | None = None
    tools: list[dict[str, Any]] | None = None
    tool_choice: str | dict[str, Any] | None = None
    include: list[str] | None = None
    top_logprobs: int | None = None
    truncation: Literal["auto", "disabled"] | None = None
    stream: bool | None = None
    stream_options: dict[str, Any] | None = None


_SAID_OTHERWISE = frozenset(Shape.__struct_fields__) - {"model", "top_logprobs", "truncation", "stream"}


def to_chat(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return `body` as a chat request; a field that this API shares with it, or that neither knows, keeps its name.

    Raises:
        BadRequest: with the path of the first field that is wrong or cannot be carried.
    """
    shape = shaped(body, Shape)
    for name, value in body.items():
        _refuse(name, value)
    chat = {
        name: value
        for name, value in body.items()
        if value is not None and name not in _SAID_OTHERWISE and name not in _STORED
    }
    chat["messages"] = [*_instructions(shape.instructions), *_messages(shape.input)]
    chat |= _reasoning(shape.reasoning or {}) | _text(shape.text or {}) | _included(shape)
    if shape.max_output_tokens is not None:
        chat["max_completion_tokens"] = shape.max_output_tokens
    if shape.tools is not None:
        chat["tools"] = to_chat_tools(shape.tools)
    if shape.tool_choice is not None:
        chat["tool_choice"] = to_chat_choice(shape.tool_choice)
    if shape.stream or shape.stream_options is not None:
        chat["stream_options"] = (shape.stream_options or {}) | {"include_usage": True}
    return chat


def refuse_stored(name: str, value: object) -> None:
    """Refuse a field that has the provider go on from what it has stored, or work by itself.

    What it would read of it nobody has seen or held for, and it may be another tenant's.

    Raises:
        BadRequest: with the field's name.
    """
    advice, neutral = _STORED.get(name, ("", ()))
    if advice and value is not None and value not in neutral:
        raise BadRequest(f"{name!r} cannot be used. {advice}", name)


def _refuse(name: str, value: object) -> None:
    refuse_stored(name, value)
    if name in _CHAT_WORDS:
        raise BadRequest(f"{name!r} belongs to Chat Completions; here it is called {_CHAT_WORDS[name]!r}.", name)
    if name == "n":
        raise BadRequest("A response is one answer: leave out 'n' and ask again for another.", name)


def _instructions(text: str | None) -> list[dict[str, Any]]:
    return [] if text is None else [{"role": "system", "content": text}]


def _messages(given: str | list[dict[str, Any]]) -> list[dict[str, Any]]:
    if isinstance(given, str):
        return [{"role": "user", "content": given}]
    items = [present({"type": "message"} | item) for item in given]
    for index, item in enumerate(items):
        _refuse_hosted(item.get("type"), f"input[{index}].type")
    turns = Turns()
    for index, item in enumerate(shaped({"input": items}, Input).input):
        turns.add(item, items[index], f"input[{index}]")
    return turns.end()


def _refuse_hosted(kind: object, path: str) -> None:
    if isinstance(kind, str) and kind in _STORED_ITEMS:
        raise BadRequest(f"An item of type {kind!r} cannot be used. {_KEPT_ELSEWHERE}", path)
    if not isinstance(kind, str) or kind not in ITEM_TYPES:
        raise BadRequest(f"An item of type {kind!r} cannot be used: only messages, reasoning and tool calls can.", path)


def _reasoning(reasoning: Mapping[str, Any]) -> dict[str, Any]:
    said = present(reasoning)
    effort = said.pop("effort", None)
    if said.get("mode") == "standard":
        del said["mode"]
    _only(said, REASONING, "reasoning")
    return present({"reasoning_effort": effort, "reasoning": said or None})


def _text(text: Mapping[str, Any]) -> dict[str, Any]:
    said = present(text)
    _only(said, {"format", "verbosity"}, "text")
    form = said.get("format")
    if form is not None and not isinstance(form, dict):
        raise BadRequest("'text.format' must be an object.", "text.format")
    return present({"response_format": form and to_chat_format(form), "verbosity": said.get("verbosity")})


def _included(shape: Shape) -> dict[str, Any]:
    include = shape.include or []
    for index, name in enumerate(include):
        if name not in {ENCRYPTED, LOGPROBS}:
            raise BadRequest(f"{name!r} is never part of an answer here; leave it out.", f"include[{index}]")
    wanted = LOGPROBS in include or bool(shape.top_logprobs)
    return ({"logprobs": True} if wanted else {}) | ({"include": [ENCRYPTED]} if ENCRYPTED in include else {})


def _only(names: Iterable[str], known: Iterable[str], where: str) -> None:
    for name in names:
        if name not in known:
            raise BadRequest(f"{name!r} in {where!r} cannot be used here; leave it out.", f"{where}.{name}")
