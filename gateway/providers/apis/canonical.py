"""Put the chunks of those who speak the OpenAI API, each in its own way, into the form that OpenAI gives them.

Bytes pass through as they came wherever nothing is amiss. What is put right here misleads every client: parts in place
of a text, calls of tools that share one index or have none, and words of its own for how an answer ends.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec

from gateway.providers.apis.failures import to_error
from gateway.providers.upstream import Chunk

_FINISH: Final[Mapping[str, str]] = {
    "eos": "stop",
    "eos_token": "stop",
    "stop_sequence": "stop",
    "model_length": "length",
}
"""Together's, TGI's and Mistral's words; the provider's own is kept as `native_finish_reason`."""

_FAILED: Final[Mapping[str, str]] = {"error": "server_error", "insufficient_system_resource": "overloaded"}
"""How Mistral and DeepSeek end an answer that they could not complete, and the code of such an error."""


@dataclass(slots=True)
class _Calls:
    """The calls of one choice so far: their ids by index, and which of them each index of the provider means now."""

    ids: dict[int, str] = field(default_factory=dict[int, str])
    now: dict[int | None, int] = field(default_factory=dict[int | None, int])

    def place(self, call: dict[str, Any]) -> int:
        """Return the index of the call that a delta belongs to.

        Some give no index, and some give every call the same. A new call has a name and an id of its own; an id alone
        does not tell, since some make a new one for every delta.
        """
        said, call_id, function = call.get("index"), call.get("id") or "", call.get("function")
        index = said if type(said) is int else None
        place = self.now.get(index)
        named = isinstance(function, dict) and bool(function.get("name"))
        if place is None or (named and call_id and self.ids[place] not in {"", call_id}):
            free = index is not None and index not in self.ids
            known = next((at for at, known_id in self.ids.items() if call_id and known_id == call_id), None)
            place = index if free and index is not None else max(self.ids, default=-1) + 1
            place = place if known is None else known
        self.ids.setdefault(place, call_id)
        self.now[index] = place
        return place


class Canonical:
    """The chunks of one answer."""

    def __init__(self) -> None:
        self._calls: dict[object, _Calls] = {}

    def hear(self, payload: bytes, value: dict[str, Any]) -> list[Chunk]:
        """Return the chunks that say what a provider's chunk says; an error has a chunk of its own."""
        if value.get("error") or value.get("object") == "error":
            used = [Chunk(b"", {"choices": [], "usage": value["usage"]})] if value.get("usage") else []
            return [*used, Chunk(payload, {"error": to_error(value)})]
        choices = value.get("choices")
        said = [choice for choice in choices if isinstance(choice, dict)] if isinstance(choices, list) else []
        straight = [self._choice(choice) for choice in said]
        if any(now is not was for now, was in zip(straight, said, strict=True)):
            value = value | {"choices": straight}
            payload = msgspec.json.encode(value)
        if not value.get("usage") and isinstance(groq := value.get("x_groq"), dict) and groq.get("usage"):
            value = value | {"usage": groq["usage"]}
        chunk = Chunk(payload, value)
        ends = [str(choice.get("finish_reason")) for choice in said]
        failed = next((end for end in ends if end in _FAILED), None)
        if failed is None:
            return [chunk]
        return [chunk, Chunk(b"", {"error": {"message": failed, "code": _FAILED[failed]}})]

    def _choice(self, choice: dict[str, Any]) -> dict[str, Any]:
        delta, finish = choice.get("delta"), choice.get("finish_reason")
        if isinstance(delta, dict) and (straight := self._delta(delta, choice.get("index"))) is not delta:
            choice = choice | {"delta": straight}
        if isinstance(finish, str) and finish in _FINISH:
            choice = choice | {"finish_reason": _FINISH[finish], "native_finish_reason": finish}
        return choice

    def _delta(self, delta: dict[str, Any], choice: object) -> dict[str, Any]:
        calls = delta.get("tool_calls")
        if calls:
            said = [call for call in (calls if isinstance(calls, list) else [calls]) if isinstance(call, dict)]
            known = self._calls.setdefault(choice, _Calls())
            straight = [_call(call, known.place(call)) for call in said]
            if straight != calls:
                delta = delta | {"tool_calls": straight}
        content = delta.get("content")
        return delta if not isinstance(content, list) else delta | _spoken(content, delta)


def _call(call: dict[str, Any], place: int) -> dict[str, Any]:
    function = call.get("function")
    if isinstance(function, dict) and isinstance(function.get("arguments"), dict):
        call = call | {"function": function | {"arguments": msgspec.json.encode(function["arguments"]).decode()}}
    return call if call.get("index") == place else call | {"index": place}


def _spoken(parts: list[Any], delta: Mapping[str, Any]) -> dict[str, Any]:
    """Return the texts of a content in parts: what is said, and what is thought; other parts stay parts."""
    said, thought, others = list[str](), [str(delta.get("reasoning_content") or "")], list[Any]()
    for part in parts:
        match part:
            case {"type": "text", "text": str(text)}:
                said.append(text)
            case {"type": "thinking", "thinking": list(pieces)}:
                thought += [piece["text"] for piece in pieces if isinstance(piece, dict) and piece.get("text")]
            case _:
                others.append(part)
    fields = {"reasoning_content": "".join(thought), "content_parts": others}
    return {"content": "".join(said)} | {name: value for name, value in fields.items() if value}
