"""The texts of a chat: where each stands, whose it is, and whether it may be cut."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

import msgspec

from governance.context.marking import pasted

Role = Literal["system", "tools", "history", "retrieved", "user"]
ROLES: Final[tuple[Role, ...]] = ("system", "tools", "history", "retrieved", "user")

_LEADS: Final = frozenset({"system", "developer"})
_RESULTS: Final = frozenset({"tool", "function"})


@dataclass(frozen=True, slots=True)
class Passage:
    """One text of one role.

    Attributes:
        message: The message that it stands in.
        part: The part of its content; None where the content is one text.
        start: Where in that text it begins.
        text: The text.
        role: `system`; `user` for the words of the turn to be answered; `retrieved` for what tools returned and what
            is pasted between marks; `history` for the rest.
        turn: How many turns come after its own.
        fixed: It stands in no content, as the arguments of a call do, and is never cut.
    """

    message: int
    part: int | None
    start: int
    text: str
    role: Role
    turn: int
    fixed: bool = False


def messages_of(body: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the messages of a chat; none where it is something else."""
    messages = body.get("messages")
    if not isinstance(messages, list) or not all(isinstance(message, Mapping) for message in messages):
        return []
    return messages


def turns_of(messages: list[Mapping[str, Any]]) -> list[int]:
    """Return for each message how many turns come after its own; what users say without an answer is one turn."""
    turns, after, asked = [0] * len(messages), 0, False
    for at in range(len(messages) - 1, -1, -1):
        role = messages[at].get("role")
        is_user = role == "user"
        if asked and not is_user and role not in _LEADS:
            after, asked = after + 1, False
        asked = asked or is_user
        turns[at] = after
    return turns


def passages_of(body: Mapping[str, Any]) -> list[Passage]:
    """Return every text of a chat but its tools, in order."""
    messages = messages_of(body)
    turns = turns_of(messages)
    return [passage for at, message in enumerate(messages) for passage in _of_message(at, message, turns[at])]


def tools_of(body: Mapping[str, Any]) -> dict[str, str]:
    """Return the schema of each tool on offer as it is sent, by the tool's name."""
    found: dict[str, str] = {}
    for listed in (body.get("tools"), body.get("functions")):
        for tool in listed if isinstance(listed, list) else []:
            function = tool.get("function", tool) if isinstance(tool, Mapping) else {}
            name = function.get("name") if isinstance(function, Mapping) else None
            found[str(name or len(found))] = msgspec.json.encode(tool).decode()
    return found


def called_in(body: Mapping[str, Any]) -> set[str]:
    """Name the tools that the conversation has called, or is told to call."""
    calls = [call for message in messages_of(body) for call in _calls(message)]
    chosen = body.get("tool_choice")
    if isinstance(chosen, Mapping):
        calls.append(chosen)
    functions = [call.get("function", call) for call in calls]
    return {str(function.get("name")) for function in functions if isinstance(function, Mapping)}


def arguments_of(message: Mapping[str, Any]) -> list[str]:
    """Return what a message calls tools with."""
    functions = [call.get("function") for call in _calls(message)]
    return [str(function.get("arguments", "")) for function in functions if isinstance(function, Mapping)]


def _calls(message: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    calls = message.get("tool_calls")
    listed = [call for call in calls if isinstance(call, Mapping)] if isinstance(calls, list) else []
    legacy = message.get("function_call")
    return [*listed, {"function": legacy}] if isinstance(legacy, Mapping) else listed


def _of_message(at: int, message: Mapping[str, Any], turn: int) -> Iterator[Passage]:
    role = message.get("role")
    for part, text in _texts(message.get("content")):
        if role in _LEADS:
            yield Passage(at, part, 0, text, "system", turn)
        elif role in _RESULTS:
            yield Passage(at, part, 0, text, "retrieved", turn)
        elif role == "user":
            yield from _said(at, part, text, turn)
        else:
            yield Passage(at, part, 0, text, "history", turn)
    for arguments in arguments_of(message):
        yield Passage(at, None, 0, arguments, "history", turn, fixed=True)


def _texts(content: object) -> Iterator[tuple[int | None, str]]:
    if isinstance(content, str):
        yield None, content
    for place, part in enumerate(content if isinstance(content, list) else []):
        text = part.get("text") if isinstance(part, Mapping) else None
        if isinstance(text, str):
            yield place, text


def _said(at: int, part: int | None, text: str, turn: int) -> Iterator[Passage]:
    own: Role = "history" if turn else "user"
    end = 0
    for start, stop in pasted(text):
        if start > end:
            yield Passage(at, part, end, text[end:start], own, turn)
        yield Passage(at, part, start, text[start:stop], "retrieved", turn)
        end = stop
    if end < len(text):
        yield Passage(at, part, end, text[end:], own, turn)
