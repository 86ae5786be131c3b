"""From the answer of a chat to what a Messages client reads: the events of a stream, or a whole message.

Spec: the Anthropic API reference, "Streaming Messages".
"""

from dataclasses import dataclass
from typing import Any, Final

import msgspec

from gateway.dialects.messages.failures import from_chat_error
from gateway.dialects.messages.parts import without
from gateway.dialects.messages.speech import CALL, TEXT, THINKING, arguments_of, from_chat_message
from gateway.dialects.messages.stops import from_finish
from gateway.dialects.messages.usage import from_chat_usage
from gateway.wire.fold import objects

Event = tuple[str, dict[str, Any]]
"""The name of an event and its data."""

Key = tuple[str, int | str]
"""The kind of a block and which of that kind it is."""

_EMPTY_TEXT: Final[dict[str, Any]] = {"type": "text", "text": ""}
_EMPTY_THINKING: Final[dict[str, Any]] = {"type": "thinking", "thinking": "", "signature": ""}


@dataclass(slots=True)
class _Block:
    """A block that has begun: its place in the message, and the arguments of a call so far."""

    index: int
    arguments: str = ""
    open: bool = True


class Answering:
    """One answer, told to a client event by event as its chunks come.

    A completion that is whole already is told by `events_of` its message: chunks made of it have lost their order.

    Args:
        message_id: what the message is called.
        model: what the client knows the model as.
    """

    def __init__(self, message_id: str, model: str) -> None:
        self._id = message_id
        self._model = model
        self._started = False
        self._blocks: dict[Key, _Block] = {}
        self._begun = 0
        self._laid_texts = 0
        self._end: dict[str, Any] = {}
        self._refusal = ""
        self._usage: dict[str, Any] = {}

    def say(self, chunk: dict[str, Any]) -> list[Event]:
        """Return the events that say what `chunk` says; one that holds an `error` is the last."""
        if isinstance(chunk.get("error"), dict):
            return [("error", from_chat_error(chunk["error"], None, None))]
        if isinstance(chunk.get("usage"), dict):
            self._usage = chunk["usage"]
        events = [] if self._started else [self._start(chunk)]
        for choice in objects(chunk.get("choices")):
            events += self._delta(_object(choice.get("delta")))
            self._end |= {name: value for name, value in without(choice, "delta").items() if value is not None}
        return events

    def finish(self) -> list[Event]:
        """Return the events that end the message, once its chunks have ended."""
        events = [] if self._started else [self._start({})]
        events += self._stop(list(self._blocks))
        calls = any(kind == CALL for kind, _ in self._blocks)
        return [*events, *_ending(_end(self._end, self._refusal, calls=calls), from_chat_usage(self._usage))]

    def _start(self, chunk: dict[str, Any]) -> Event:
        self._started = True
        return _starting(_message(self._id, self._model, chunk) | {"usage": from_chat_usage(self._usage)})

    def _delta(self, delta: dict[str, Any]) -> list[Event]:
        events: list[Event] = []
        for entry in objects(delta.get("layout")):
            events += self._lay_out(entry)
        thoughts = objects(delta.get("thinking_blocks"))
        for thought in thoughts:
            events += self._think((THINKING, str(thought.get("index"))), thought)
        reasoning = _text(delta.get("reasoning_content")) or _text(delta.get("reasoning"))
        if reasoning and not thoughts:
            events += self._think((THINKING, ""), {"thinking": reasoning})
        if content := _text(delta.get("content")):
            events += self._say({"type": "text_delta", "text": content})
        self._refusal += _text(delta.get("refusal"))
        for call in objects(delta.get("tool_calls")):
            events += self._call(call)
        return events

    def _lay_out(self, entry: dict[str, Any]) -> list[Event]:
        """A text that begins, or what the present one cites; the order of the rest is that of the chunks."""
        self._laid_texts += entry.get("type") == TEXT
        cited = [self._say({"type": "citations_delta", "citation": one}) for one in objects(entry.get("citations"))]
        return [event for events in cited for event in events]

    def _say(self, delta: dict[str, Any]) -> list[Event]:
        key = (TEXT, max(1, self._laid_texts))
        return [*self._begin(key, _EMPTY_TEXT), self._go_on(key, delta)]

    def _think(self, key: Key, thought: dict[str, Any]) -> list[Event]:
        if thought.get("type") == "redacted_thinking":
            return self._begin(key, without(thought, "index"))
        events = self._begin(key, _EMPTY_THINKING)
        deltas = _deltas({"type": "thinking"} | thought)
        return [*events, *(self._go_on(key, delta) for delta in deltas)]

    def _call(self, call: dict[str, Any]) -> list[Event]:
        index, function = call.get("index"), _object(call.get("function"))
        # Some leave out the index; each of theirs is a call of its own.
        number = index if type(index) is int else sum(kind == CALL for kind, _ in self._blocks)
        named = {"id": call.get("id") or f"{self._id}_{number}", "name": function.get("name") or "", "input": {}}
        block = {"type": "tool_use"} | named | without(call, "index", "id", "type", "function")
        key, arguments = (CALL, number), _text(function.get("arguments"))
        events = self._begin(key, block)
        if arguments:
            self._blocks[key].arguments += arguments
            events.append(self._go_on(key, {"type": "input_json_delta", "partial_json": arguments}))
        return events

    def _begin(self, key: Key, block: dict[str, Any]) -> list[Event]:
        """Start a block unless it has begun; text and thinking that go on after another block are blocks anew."""
        known = self._blocks.get(key)
        if known is not None and (known.open or key[0] == CALL):
            return []
        ended = [other for other in self._blocks if key[0] != CALL or self._complete(other)]
        events = self._stop(ended)
        self._blocks[key] = _Block(self._begun)
        self._begun += 1
        return [*events, _beginning(self._blocks[key].index, block)]

    def _complete(self, key: Key) -> bool:
        """Whether another call ends this block: calls may come by turns, and then their arguments are not yet JSON."""
        if key[0] != CALL:
            return True
        try:
            msgspec.json.decode(self._blocks[key].arguments)
        except (msgspec.DecodeError, RecursionError):
            return False
        return True

    def _go_on(self, key: Key, delta: dict[str, Any]) -> Event:
        return _going_on(self._blocks[key].index, delta)

    def _stop(self, keys: list[Key]) -> list[Event]:
        blocks = [self._blocks[key] for key in keys if self._blocks[key].open]
        for block in blocks:
            block.open = False
        return [_stopping(block.index) for block in blocks]


def to_message(completion: dict[str, Any], message_id: str, model: str) -> dict[str, Any]:
    """Return the whole message that says what a completion says."""
    choice = completion["choices"][0]
    content = from_chat_message(choice["message"])
    calls = any(block["type"] == "tool_use" for block in content)
    ended = _end(choice, _text(choice["message"].get("refusal")), calls=calls)
    usage = from_chat_usage(_object(completion.get("usage")))
    return _message(message_id, model, completion) | {"content": content} | ended | {"usage": usage}


def events_of(message: dict[str, Any]) -> list[Event]:
    """Return the stream that says what a whole message says."""
    end = {name: message[name] for name in ("stop_reason", "stop_sequence", "stop_details") if name in message}
    events = [_starting(without(message, "stop_details") | {"content": [], "stop_reason": None, "stop_sequence": None})]
    for index, block in enumerate(message["content"]):
        empty = {"text": _EMPTY_TEXT, "thinking": _EMPTY_THINKING, "tool_use": block | {"input": {}}}
        events.append(_beginning(index, empty.get(block["type"], block)))
        events += [_going_on(index, delta) for delta in _deltas(block)]
        events.append(_stopping(index))
    return [*events, *_ending(end, message["usage"])]


def _object(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _deltas(block: dict[str, Any]) -> list[dict[str, Any]]:
    match block["type"]:
        case "text":
            cited = [{"type": "citations_delta", "citation": one} for one in block.get("citations") or []]
            return [{"type": "text_delta", "text": block["text"]}, *cited]
        case "tool_use":
            return [{"type": "input_json_delta", "partial_json": arguments_of(block["input"])}]
        case "thinking":
            return [{"type": f"{n}_delta", n: block[n]} for n in ("thinking", "signature") if block.get(n)]
        case _:
            return []


def _message(message_id: str, model: str, head: dict[str, Any]) -> dict[str, Any]:
    message = {"id": message_id, "type": "message", "role": "assistant", "model": model, "content": []}
    message |= {"stop_reason": None, "stop_sequence": None}
    return message if head.get("diagnostics") is None else message | {"diagnostics": head["diagnostics"]}


def _end(choice: dict[str, Any], refusal: str, *, calls: bool) -> dict[str, Any]:
    if refusal:
        details = {"type": "refusal", "category": None, "explanation": refusal}
        choice = {"stop_details": details} | choice | {"native_finish_reason": "refusal"}
    return from_finish(choice, calls=calls)


def _starting(message: dict[str, Any]) -> Event:
    return "message_start", {"type": "message_start", "message": message}


def _beginning(index: int, block: dict[str, Any]) -> Event:
    return "content_block_start", {"type": "content_block_start", "index": index, "content_block": block}


def _going_on(index: int, delta: dict[str, Any]) -> Event:
    return "content_block_delta", {"type": "content_block_delta", "index": index, "delta": delta}


def _stopping(index: int) -> Event:
    return "content_block_stop", {"type": "content_block_stop", "index": index}


def _ending(delta: dict[str, Any], usage: dict[str, Any]) -> list[Event]:
    end: Event = ("message_delta", {"type": "message_delta", "delta": delta, "usage": usage})
    return [end, ("message_stop", {"type": "message_stop"})]
