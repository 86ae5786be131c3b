"""Tools and which of them to use, in Messages and in chat, each from the other."""

from typing import Any

from gateway.dialects.messages.fees import refuse_server_tool
from gateway.dialects.messages.parts import without
from gateway.errors import BadRequest

_CHOICE = {"auto": "auto", "any": "required", "none": "none"}
_CHOSEN = {chat: ours for ours, chat in _CHOICE.items()}


def to_chat_tool(tool: dict[str, Any], path: str) -> dict[str, Any]:
    """Return the tool of a Messages request as a chat body has it; one that only Messages defines stays as it is.

    Raises:
        BadRequest: the provider would run it, or it does not say what it takes.
    """
    kind = tool.get("type")
    if kind not in {None, "custom"}:
        refuse_server_tool(str(kind), path)
        return tool
    for needed in ("name", "input_schema"):
        if tool.get(needed) is None:
            raise BadRequest(f"'{path}.{needed}' is missing.", param=f"{path}.{needed}")
    function = {"name": tool["name"], "parameters": tool["input_schema"]}
    function |= {name: tool[name] for name in ("description", "strict") if tool.get(name) is not None}
    rest = without(tool, "type", "name", "input_schema", "description", "strict")
    return rest | {"type": "function", "function": function}


def from_chat_tool(tool: dict[str, Any], path: str) -> dict[str, Any]:
    """Return the tool of a chat body as a Messages request has it.

    Raises:
        BadRequest: it is neither a function nor a tool that the client runs.
    """
    if tool.get("type", "function") != "function":
        refuse_server_tool(tool["type"], path)
        return tool
    function = tool.get("function")
    if function is None:
        raise BadRequest(f"'{path}.function' is missing.", param=f"{path}.function")
    schema = function.get("parameters") or {"type": "object", "properties": {}}
    said = {name: value for name, value in without(function, "type").items() if value is not None}
    rest = without(said, "parameters") | without(tool, "type", "function")
    return rest | {"name": function["name"], "input_schema": schema}


def to_chat_choice(choice: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a chat body that say what `tool_choice` of a Messages request says."""
    named = choice["type"] == "tool"
    chosen = {"type": "function", "function": {"name": choice["name"]}} if named else _CHOICE[choice["type"]]
    single = choice.get("disable_parallel_tool_use")
    return {"tool_choice": chosen} | ({} if single is None else {"parallel_tool_calls": not single})


def from_chat_choice(choice: str | dict[str, Any] | None, *, parallel: bool | None) -> dict[str, Any] | None:
    """Return `tool_choice` of a Messages request, or None where the chat body asks for nothing but the default.

    Raises:
        BadRequest: the choice has no word in Messages.
    """
    if isinstance(choice, dict):
        chosen = {"type": "tool", "name": choice["function"]["name"]}
    elif choice in _CHOSEN:
        chosen = {"type": _CHOSEN[choice]}
    elif choice is None:
        chosen = None if parallel in {None, True} else {"type": "auto"}
    else:
        raise BadRequest(f"{choice!r} is not a choice of tools.", param="tool_choice")
    if chosen is None or parallel is None or chosen["type"] == "none":
        return chosen
    return chosen | {"disable_parallel_tool_use": not parallel}
