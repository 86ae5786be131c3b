"""From the messages of a chat to the contents of a Gemini request, and the instructions apart from them."""

from collections.abc import Sequence
from typing import Any

import msgspec

from gateway.dialects.gemini.chat_body import (
    AssistantTurn,
    Call,
    DeveloperTurn,
    ExtraContent,
    FilePart,
    ImagePart,
    Message,
    RefusalPart,
    SystemTurn,
    Text,
    ToolTurn,
    UserTurn,
)
from gateway.dialects.gemini.parts import to_part
from gateway.errors import BadRequest

_NOT_THEIRS = "skip_thought_signature_validator"
"""What Google documents as the signature of a call that the model has not made. See "Thought signatures", FAQ."""


def to_instruction(messages: Sequence[Message]) -> dict[str, Any]:
    """Return the field that holds what system and developer say, or none where they say nothing."""
    said = [message.content for message in messages if isinstance(message, SystemTurn | DeveloperTurn)]
    texts = [text for content in said for text in _texts(content)]
    return {"systemInstruction": {"parts": [{"text": text} for text in texts]}} if texts else {}


def to_contents(messages: Sequence[Message], *, vouched: bool) -> list[dict[str, Any]]:
    """Return the conversation; the results of calls made together are one turn, as the API demands.

    Args:
        messages: those of the chat.
        vouched: whether the model insists on a signature with the first call of each turn.

    Raises:
        BadRequest: a part or a result cannot be said; `param` is its path.
    """
    contents: list[dict[str, Any]] = []
    names: dict[str, str] = {}
    before: Message | None = None
    for index, message in enumerate(messages):
        path = f"messages[{index}]"
        match message:
            case AssistantTurn():
                names |= {call.id: call.function.name for call in message.tool_calls or ()}
                parts = _spoken(message, vouched=vouched)
                contents += [{"role": "model", "parts": parts}] if parts else []
            case ToolTurn() if isinstance(before, ToolTurn):
                contents[-1]["parts"].append(_result(message, names, path))
            case ToolTurn():
                contents.append({"role": "user", "parts": [_result(message, names, path)]})
            case UserTurn():
                contents.append({"role": "user", "parts": _said(message.content, f"{path}.content")})
            case _:
                continue
        before = message
    return contents


def _texts(content: str | Sequence[Text | RefusalPart]) -> list[str]:
    if isinstance(content, str):
        return [content] if content else []
    return [part.text if isinstance(part, Text) else part.refusal for part in content]


def _said(content: str | Sequence[Any], path: str) -> list[dict[str, Any]]:
    if isinstance(content, str):
        return [{"text": content}]
    return [to_part(part, f"{path}[{index}]") for index, part in enumerate(content)]


def _spoken(message: AssistantTurn, *, vouched: bool) -> list[dict[str, Any]]:
    parts: list[dict[str, Any]] = [{"text": text} for text in _texts(message.content or message.refusal or "")]
    signature = _signature(message.extra_content)
    if signature:
        parts = parts or [{"text": ""}]
        parts[-1]["thoughtSignature"] = signature
    calls = [_call(call) for call in message.tool_calls or ()]
    if vouched and calls and not any("thoughtSignature" in call for call in calls):
        calls[0]["thoughtSignature"] = _NOT_THEIRS
    return [*parts, *calls]


def _call(call: Call) -> dict[str, Any]:
    said = {"functionCall": {"id": call.id, "name": call.function.name, "args": _args(call.function.arguments)}}
    signature = _signature(call.extra_content)
    return said | ({"thoughtSignature": signature} if signature else {})


def _signature(extra: ExtraContent | None) -> str | None:
    return extra.google.thought_signature if extra is not None and extra.google is not None else None


def _args(arguments: str) -> dict[str, Any]:
    """Return the arguments of a call; what is no object of JSON, as when an answer was cut, is kept as text in one."""
    value = _json(arguments or "{}")
    return value if isinstance(value, dict) else {"arguments": arguments}


def _result(message: ToolTurn, names: dict[str, str], path: str) -> dict[str, Any]:
    name = names.get(message.tool_call_id, message.name)
    if name is None:
        raise BadRequest("No call before this result has its id.", param=f"{path}.tool_call_id")
    result: dict[str, Any] = {"id": message.tool_call_id, "name": name, "response": _response(message)}
    shown = _shown(message.content, f"{path}.content")
    return {"functionResponse": result | ({"parts": shown} if shown else {})}


def _response(message: ToolTurn) -> dict[str, Any]:
    content = message.content
    text = content if isinstance(content, str) else "".join(part.text for part in content if isinstance(part, Text))
    if message.is_error:
        return {"error": text}
    value = _json(text)
    return value if isinstance(value, dict) else {"output": text}


def _shown(content: str | Sequence[Text | ImagePart | FilePart], path: str) -> list[dict[str, Any]]:
    shown: list[dict[str, Any]] = []
    for index, part in enumerate([] if isinstance(content, str) else content):
        if isinstance(part, Text):
            continue
        said = to_part(part, f"{path}[{index}]")
        if "inlineData" not in said:
            raise BadRequest("In a result this must be a data URL, not an address.", param=f"{path}[{index}]")
        shown.append(said)
    return shown


def _json(text: str) -> object:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return None
