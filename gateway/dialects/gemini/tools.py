"""From the tools of a chat and the choice among them to those of a Gemini request."""

from collections.abc import Sequence
from typing import Any

from gateway.dialects.gemini.chat_body import AllowedChoice, ChatBody, NamedChoice, Tool
from gateway.errors import BadRequest

_MODES = {"none": "NONE", "auto": "AUTO", "required": "ANY"}


def to_tools(fields: ChatBody) -> dict[str, Any]:
    """Return the fields that declare functions and say which may, must or must not be called.

    Raises:
        BadRequest: calls one at a time are asked for, which this API cannot promise.
    """
    if not fields.tools:
        return {}
    if fields.parallel_tool_calls is False:
        text = "A provider of the Gemini API may always make several calls at once: leave it out or say true."
        raise BadRequest(text, param="parallel_tool_calls")
    declared = {"tools": [{"functionDeclarations": [_declaration(tool) for tool in fields.tools]}]}
    config = _config(fields.tools, fields.tool_choice)
    return declared | ({"toolConfig": {"functionCallingConfig": config}} if config else {})


def _declaration(tool: Tool) -> dict[str, Any]:
    said = {
        "name": tool.function.name,
        "description": tool.function.description,
        "parametersJsonSchema": tool.function.parameters,
    }
    return {name: value for name, value in said.items() if value is not None}


def _config(tools: Sequence[Tool], choice: str | NamedChoice | AllowedChoice | None) -> dict[str, Any]:
    """Say how functions are called. `VALIDATED` is `AUTO` with arguments that keep to their schemas."""
    match choice:
        case NamedChoice():
            return {"mode": "ANY", "allowedFunctionNames": [choice.function.name]}
        case AllowedChoice():
            allowed = choice.allowed_tools
            names = [tool.function.name for tool in allowed.tools]
            return {"mode": "ANY" if allowed.mode == "required" else "VALIDATED", "allowedFunctionNames": names}
        case None | "auto" if any(tool.function.strict for tool in tools):
            return {"mode": "VALIDATED"}
        case None:
            return {}
        case word:
            return {"mode": _MODES[word]}
