"""Tools, the choice among them and the format of the answer, both ways.

This dialect says on one level what the chat form says in an object inside: `{"type": "function", "name": …}` is
`{"type": "function", "function": {"name": …}}`. Fields of a tool that nobody has heard of move with the others.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from gateway.dialects.responses.calls import BY_TYPE, CUSTOM, FUNCTION
from gateway.errors import BadRequest

_ALLOWED = "allowed_tools"
_SCHEMA = "json_schema"
_GRAMMAR = "grammar"


def to_chat_tools(tools: Sequence[Mapping[str, Any]], path: str = "tools") -> list[dict[str, Any]]:
    """Return tools as the chat form declares them.

    Raises:
        BadRequest: one is hosted by a provider, so that it costs what no price here holds.
    """
    return [_nested(tool, f"{path}[{index}]") for index, tool in enumerate(tools)]


def _nested(tool: Mapping[str, Any], path: str) -> dict[str, Any]:
    kind = tool.get("type")
    if not isinstance(kind, str) or kind not in BY_TYPE:
        message = (
            f"The tool {kind!r} would run at the provider, at a price not known here. Offer a function of your own."
        )
        raise BadRequest(message, f"{path}.type")
    inside = {name: value for name, value in tool.items() if name != "type"}
    form = inside.get("format")
    if kind == CUSTOM.type and isinstance(form, dict) and form.get("type") == _GRAMMAR:
        inside["format"] = _inside(form, _GRAMMAR)
    return {"type": kind, kind: inside}


def from_chat_tools(tools: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return tools as this dialect declares them, without marks for another maker's cache.

    A function that says nothing of `strict` is not strict in chat.
    """
    bare = [{name: value for name, value in tool.items() if name != "cache_control"} for tool in tools]
    flat = [_flat(tool, str(tool.get("type"))) for tool in bare]
    return [{"strict": False} | tool if tool["type"] == FUNCTION.type else _flat_format(tool) for tool in flat]


def _flat_format(tool: dict[str, Any]) -> dict[str, Any]:
    form = tool.get("format")
    return tool | {"format": _flat(form, _GRAMMAR)} if isinstance(form, dict) else tool


def to_chat_choice(choice: str | Mapping[str, Any]) -> str | dict[str, Any]:
    """Return `tool_choice` as the chat form has it.

    Raises:
        BadRequest: it names a hosted tool.
    """
    if isinstance(choice, str):
        return choice
    if choice.get("type") != _ALLOWED:
        return _nested(choice, "tool_choice")
    inside = {name: value for name, value in choice.items() if name != "type"}
    tools = inside.get("tools")
    if not isinstance(tools, list) or not all(isinstance(tool, dict) for tool in tools):
        raise BadRequest("'tool_choice.tools' must be a list of tools.", "tool_choice.tools")
    return {"type": _ALLOWED, _ALLOWED: inside | {"tools": to_chat_tools(tools, "tool_choice.tools")}}


def from_chat_choice(choice: str | Mapping[str, Any]) -> str | dict[str, Any]:
    """Return `tool_choice` as this dialect has it."""
    if isinstance(choice, str):
        return choice
    flat = _flat(choice, str(choice.get("type")))
    if flat["type"] != _ALLOWED:
        return flat
    return flat | {"tools": [_flat(tool, str(tool.get("type"))) for tool in flat.get("tools") or ()]}


def to_chat_format(form: Mapping[str, Any]) -> dict[str, Any]:
    """Return `text.format` as `response_format`."""
    return _inside(form, _SCHEMA) if form.get("type") == _SCHEMA else dict(form)


def from_chat_format(form: Mapping[str, Any]) -> dict[str, Any]:
    """Return `response_format` as `text.format`."""
    return _flat(form, _SCHEMA)


def _inside(form: Mapping[str, Any], kind: str) -> dict[str, Any]:
    return {"type": kind, kind: {name: value for name, value in form.items() if name != "type"}}


def _flat(thing: Mapping[str, Any], kind: str) -> dict[str, Any]:
    """Lift what stands in the field `kind` beside the others, which hold: the type has been looked at there."""
    inside = thing.get(kind)
    beside = {name: value for name, value in thing.items() if name != kind}
    return inside | beside if isinstance(inside, dict) else dict(thing)
