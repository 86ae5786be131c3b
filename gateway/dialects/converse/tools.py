"""What may be called, from chat to Converse. Spec: the Amazon Bedrock API reference, `ToolConfiguration`.

What only Messages knows of a tool beside its name, its description and its schema is left out.
"""

from typing import Any

from gateway.dialects.converse.blocks import cache_point
from gateway.dialects.messages.tools import from_chat_tool
from gateway.errors import BadRequest

_CHOICE: dict[str, dict[str, Any]] = {"auto": {"auto": {}}, "required": {"any": {}}}


def to_tools(chat: dict[str, Any], *, called: bool) -> dict[str, Any]:
    """Return the `toolConfig` that says what the tools of a chat body and its choice among them say.

    Args:
        chat: the body.
        called: whether its messages hold calls, which Converse allows only where their tools are told as well.

    Raises:
        BadRequest: a tool or the choice has no word in Converse.
    """
    tools, choice = chat.get("tools") or [], chat.get("tool_choice")
    said = [one for index, tool in enumerate(tools) for one in _to_tool(tool, f"tools[{index}]")]
    if not said or (choice == "none" and not called):
        return {}
    if chat.get("parallel_tool_calls") is False:
        text = "A provider of the Converse API cannot be told to call one tool at a time."
        raise BadRequest(text, param="parallel_tool_calls")
    return {"toolConfig": {"tools": said} | ({} if choice is None else {"toolChoice": _to_choice(choice)})}


def _to_tool(tool: dict[str, Any], path: str) -> list[dict[str, Any]]:
    said = from_chat_tool(tool, path)
    if "input_schema" not in said:
        raise BadRequest(f"A tool of the type {tool['type']!r} cannot be said here.", param=f"{path}.type")
    spec = {"name": said["name"], "inputSchema": {"json": said["input_schema"]}}
    spec |= {name: said[name] for name in ("description", "strict") if said.get(name)}
    return [{"toolSpec": spec}, *cache_point(said, f"{path}.cache_control")]


def _to_choice(choice: str | dict[str, Any]) -> dict[str, Any]:
    if isinstance(choice, dict):
        return {"tool": {"name": choice["function"]["name"]}}
    if choice not in _CHOICE:
        text = f"{choice!r} cannot be said to a provider of the Converse API as a choice of tools."
        raise BadRequest(text, param="tool_choice")
    return _CHOICE[choice]
