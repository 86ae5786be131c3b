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

    def straight(self, call: dict[str, Any]) -> dict[str, Any]:
        """Return what a delta says of a call, under the call's own index and its first id, its arguments as a text."""
        place, function = self._place(call), call.get("function")
        call = call | {"index": place} | ({"id": self.ids[place]} if self.ids[place] and call.get("id") else {})
        if isinstance(function, dict) and isinstance(function.get("arguments"), dict):
            call["function"] = function | {"arguments": msgspec.json.encode(function["arguments"]).decode()}
        return call

    def _place(self, call: dict[str, Any]) -> int:
        """Return the index of the call that a delta belongs to.

        Some give no index, and some give every call the same. A new call has a name, and an id of its own unless it has
        no index either; an id alone does not tell, since some make a new one for every delta.
        """
        said, told, function = call.get("index"), call.get("id"), call.get("function")
        index, call_id = said if type(said) is int else None, told if isinstance(told, str) else ""
        place = self.now.get(index)
        named = isinstance(function, dict) and bool(function.get("name"))
        if place is None or (named and (index is None if not call_id else self.ids[place] not in {"", call_id})):
            free = max(self.ids, default=-1) + 1 if index is None or index in self.ids else index
            place = next((at for at, known in self.ids.items() if call_id and known == call_id), free)
        self.ids[place] = self.ids.get(place) or call_id
        self.now[index] = place
        return place


class Canonical:
    """The chunks of one answer."""

    def __init__(self) -> None:
        self._calls: dict[str, _Calls] = {}

    def hear(self, payload: bytes, value: dict[str, Any]) -> list[Chunk]:
        """Return the chunks that say what a provider's chunk says; an error has a chunk of its own."""
        if value.get("error") or value.get("object") == "error":
            used = [Chunk(b"", {"choices": [], "usage": value["usage"]})] if value.get("usage") else []
            return [*used, Chunk(payload, {"error": to_error(value)})]
        choices = value.get("choices")
        said = [choice for choice in choices if isinstance(choice, dict)] if isinstance(choices, list) else []
        straight = [self._choice(choice) for choice in said]
        failed: list[str] = []
        if straight != said:
            value = value | {"choices": straight}
            payload = msgspec.json.encode(value)
            failed = [_FAILED[end] for choice in said if (end := str(choice.get("finish_reason"))) in _FAILED]
        told = value.get("usage")
        if isinstance(told, dict) and (used := _whole(told)) is not told:
            value = value | {"usage": used}
        elif not told and isinstance(groq := value.get("x_groq"), dict) and groq.get("usage"):
            value = value | {"usage": groq["usage"]}
        return [Chunk(payload, value), *(Chunk(b"", {"error": {"message": "", "code": code}}) for code in failed[:1])]

    def _choice(self, choice: dict[str, Any]) -> dict[str, Any]:
        delta, finish = choice.get("delta"), choice.get("finish_reason")
        if isinstance(delta, dict) and (straight := self._delta(delta, choice)) is not delta:
            choice = choice | {"delta": straight}
        if isinstance(finish, str) and (finish in _FINISH or finish in _FAILED):
            choice = choice | {"finish_reason": _FINISH.get(finish), "native_finish_reason": finish}
        return choice

    def _delta(self, delta: dict[str, Any], choice: dict[str, Any]) -> dict[str, Any]:
        calls = delta.get("tool_calls")
        if calls:
            said = [call for call in (calls if isinstance(calls, list) else [calls]) if isinstance(call, dict)]
            known = self._calls.setdefault(str(choice.get("index")), _Calls())
            straight = [known.straight(call) for call in said]
            if straight != calls:
                delta = delta | {"tool_calls": straight}
        content = delta.get("content")
        return delta if not isinstance(content, list) else delta | _spoken(content, delta)


def _spoken(parts: list[Any], delta: Mapping[str, Any]) -> dict[str, Any]:
    """Return the texts of a content in parts: what is said, and what is thought; other parts stay parts."""
    said, thought, others = list[str](), [str(delta.get("reasoning_content") or "")], list[Any]()
    for part in parts:
        match part:
            case {"type": "text", "text": str(text)}:
                said.append(text)
            case {"type": "thinking", "thinking": list(pieces)}:
                thought += [str(piece.get("text") or "") for piece in pieces if isinstance(piece, dict)]
            case _:
                others.append(part)
    fields = {"reasoning_content": "".join(thought), "content_parts": others}
    return {"content": "".join(said)} | {name: value for name, value in fields.items() if value}


def _whole(usage: dict[str, Any]) -> dict[str, Any]:
    """Return the usage with the cached tokens within the prompt: xAI has counted them beside it, and in the total."""
    match usage:
        case {
            "prompt_tokens": int(prompt),
            "total_tokens": int(total),
            "completion_tokens": int(made),
            "prompt_tokens_details": {"cached_tokens": int(cached)},
        } if cached > prompt and total >= prompt + cached + made:
            return usage | {"prompt_tokens": prompt + cached}
        case _:
            return usage
