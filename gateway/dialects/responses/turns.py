"""Make messages of input items, and items of messages.

An answer is several items here and one message in the chat form: what was thought, said and called in one go belongs
together. A message is read as reasoning, then text, then calls; an answer in another order becomes two messages, so
that the way back gives the same items. Only calls that await their results are never parted: no provider of chat
takes another message in between.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from gateway.dialects.responses.calls import BY_TYPE, CUSTOM, FUNCTION, CallKind
from gateway.dialects.responses.parts import from_chat_content, to_chat_content
from gateway.dialects.responses.shape.items import (
    AnyItem,
    CustomToolCall,
    CustomToolCallOutput,
    FunctionCall,
    FunctionCallOutput,
    Message,
    Reasoning,
)
from gateway.errors import BadRequest

_SPOKEN = frozenset({"role", "content"})
_ANSWERED = _SPOKEN | {"refusal", "phase", "reasoning_items", "tool_calls"}
_RETURNED = _SPOKEN | {"tool_call_id", "name"}
_FIELDS = {"system": _SPOKEN, "developer": _SPOKEN, "user": _SPOKEN, "assistant": _ANSWERED, "tool": _RETURNED}
"""What a message may say in each role."""

_LEFT_BEHIND = frozenset({"reasoning_content", "reasoning", "thinking_blocks", "annotations", "cache_control"})
"""What only another maker's model can read, or no model does."""


class Turns:
    """The messages so far; the last may be an assistant's that still grows."""

    def __init__(self) -> None:
        self.messages: list[dict[str, Any]] = []
        self._growing: dict[str, Any] | None = None
        self._between: list[dict[str, Any]] = []  # thought after a call, and so for the next

    def add(self, item: AnyItem, raw: Mapping[str, Any], path: str) -> None:
        """Take in one item; `raw` is the item as it came, at `path`.

        Raises:
            BadRequest: with the path of content that cannot be carried.
        """
        match item:
            case Reasoning():
                self._think(raw)
            case Message(role="assistant"):
                self._say(item, path)
            case FunctionCall():
                self._call(FUNCTION, item.call_id, item.name, item.arguments)
            case CustomToolCall():
                self._call(CUSTOM, item.call_id, item.name, item.input)
            case Message():
                self._put({"role": item.role, "content": to_chat_content(item.content, f"{path}.content")})
            case FunctionCallOutput() | CustomToolCallOutput():
                content = to_chat_content(item.output, f"{path}.output")
                named = {"name": item.name} if isinstance(item, FunctionCallOutput) and item.name else {}
                self._put({"role": "tool", "tool_call_id": item.call_id, "content": content} | named)

    def end(self) -> list[dict[str, Any]]:
        """Return all messages."""
        self._close()
        for message in self.messages:
            for said in (message, *message.get("tool_calls", ())):
                _tell_reasoning(said)
        return self.messages

    def _put(self, message: dict[str, Any]) -> None:
        self._close()
        self.messages.append(message)

    def _close(self) -> None:
        if self._growing is not None and self._between:
            _add_reasoning(self._growing, self._between)
        self._growing, self._between = None, []

    def _answer(self, *, after: str = "") -> dict[str, Any]:
        """Return the message that grows, or a fresh one where that holds already what is named `after`."""
        growing = self._growing
        if growing is None or (growing.get(after) is not None and "tool_calls" not in growing):
            self._close()
            growing = self._growing = {"role": "assistant", "content": None}
            self.messages.append(growing)
        return growing

    def _think(self, raw: Mapping[str, Any]) -> None:
        message = self._answer(after="content")
        if "tool_calls" in message:
            self._between.append(dict(raw))
        else:
            _add_reasoning(message, [dict(raw)])

    def _say(self, item: Message, path: str) -> None:
        message = self._answer(after="content")
        content = to_chat_content(item.content, f"{path}.content")
        had = message["content"]
        message["content"] = content if had is None else [*_parts(had), *_parts(content)]
        if item.phase is not None:
            message["phase"] = item.phase

    def _call(self, kind: CallKind, call_id: str, name: str, said: str) -> None:
        call: dict[str, Any] = {"id": call_id, "type": kind.type, kind.type: {"name": name, kind.said: said}}
        if self._between:
            _add_reasoning(call, self._between)
            self._between = []
        self._answer().setdefault("tool_calls", []).append(call)


def _add_reasoning(to: dict[str, Any], items: list[dict[str, Any]]) -> None:
    to.setdefault("reasoning_items", []).extend(items)


def _tell_reasoning(said: dict[str, Any]) -> None:
    """Put the text of its reasoning beside the items of a message or call; it is all that most models take."""
    text = "\n\n".join(filter(None, map(_text, said.get("reasoning_items", ()))))
    if text:
        said["reasoning_content"] = text


def _text(item: Mapping[str, Any]) -> str:
    texts = item.get("content") or item.get("summary") or ()
    return "\n\n".join(part["text"] for part in texts if isinstance(part.get("text"), str))


def _parts(content: str | list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def to_items(messages: Sequence[Mapping[str, Any]], start: int = 0) -> Iterator[dict[str, Any]]:
    """Yield the input items that say what `messages` say from `start` on.

    Raises:
        BadRequest: with the path of a message or a part that this API has no word for.
    """
    kinds: dict[object, CallKind] = {}
    for index, message in enumerate(messages[start:], start):
        path = f"messages[{index}]"
        role = message["role"]
        _check(message, path)
        if role == "tool":
            yield _returned(message, kinds.get(message.get("tool_call_id"), FUNCTION), path)
            continue
        yield from _thought(message, path)
        yield from _spoken(message, path)
        for place, call in enumerate(_listed(message, "tool_calls")):
            kind = BY_TYPE.get(call.get("type", FUNCTION.type))
            if kind is None:
                raise BadRequest("Only functions and custom tools can be called.", f"{path}.tool_calls[{place}].type")
            kinds[call["id"]] = kind
            yield from _thought(call, f"{path}.tool_calls[{place}]")
            said = call.get(kind.type)
            if said is None:
                raise BadRequest(f"A call needs its {kind.type!r}.", f"{path}.tool_calls[{place}].{kind.type}")
            yield {"type": kind.item, "call_id": call["id"], "name": said["name"], kind.said: said[kind.said]}


def _check(message: Mapping[str, Any], path: str) -> None:
    known = _FIELDS.get(message["role"])
    if known is None:
        raise BadRequest("This role is no longer in use: say 'tool' and 'tool_calls' instead.", f"{path}.role")
    for name, value in message.items():
        if value is not None and name not in known and name not in _LEFT_BEHIND:
            raise BadRequest(f"This model's provider does not take {name!r} in a message.", f"{path}.{name}")


def _spoken(message: Mapping[str, Any], path: str) -> Iterator[dict[str, Any]]:
    role, content, refusal = message["role"], message.get("content"), message.get("refusal")
    said = None if content is None else from_chat_content(content, role, f"{path}.content")
    if refusal is not None:
        spoken = [] if not said else said if isinstance(said, list) else [{"type": "output_text", "text": said}]
        said = [*spoken, {"type": "refusal", "refusal": refusal}]
    if said is not None and (said or not message.get("tool_calls")):
        phase = {"phase": message["phase"]} if message.get("phase") else {}
        yield {"type": "message", "role": role, "content": said} | phase


def _returned(message: Mapping[str, Any], kind: CallKind, path: str) -> dict[str, Any]:
    for name in ("content", "tool_call_id"):
        if message.get(name) is None:
            raise BadRequest(f"A tool message needs {name!r}.", f"{path}.{name}")
    output = from_chat_content(message["content"], "tool", f"{path}.content")
    named = {"name": message["name"]} if message.get("name") else {}
    return {"type": kind.output, "call_id": message["tool_call_id"], "output": output} | named


def _thought(said: Mapping[str, Any], path: str) -> Iterator[dict[str, Any]]:
    for index, item in enumerate(_listed(said, "reasoning_items")):
        if item.get("type") != "reasoning":  # another item would be read by the provider, and by nobody before it
            raise BadRequest("Only what a model thought can stand here.", f"{path}.reasoning_items[{index}].type")
        yield item


def _listed(fields: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    value = fields.get(name)
    return value if isinstance(value, list) else []
