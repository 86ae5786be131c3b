"""Write an answer as this API gives it: events in their order, or the whole response, which the last of them holds."""

from collections.abc import Generator, Iterable, Iterator, Mapping
from typing import Any

import msgspec

from gateway.dialects.responses.calls import BY_TYPE, CUSTOM, FUNCTION, CallKind
from gateway.dialects.responses.output import (
    REASONING_TEXT,
    REFUSAL,
    SUMMARY_TEXT,
    TEXT,
    CallItem,
    Event,
    PartedItem,
)
from gateway.dialects.responses.shape.chunks import ChunkShape
from gateway.dialects.responses.usage import from_chat_usage
from gateway.wire.unfold import unfold

_DEFAULTS: Mapping[str, Any] = {
    "instructions": None,
    "max_output_tokens": None,
    "metadata": {},
    "parallel_tool_calls": True,
    "reasoning": {"effort": None, "summary": None},
    "temperature": None,
    "text": {"format": {"type": "text"}},
    "tool_choice": "auto",
    "tools": [],
    "top_p": None,
    "truncation": "disabled",
    "user": None,
}
"""What a response repeats of its request, and what it says where the request was silent."""

_FIXED: Mapping[str, Any] = {"background": False, "previous_response_id": None, "store": False}
"""Nothing is kept."""

_OURS = frozenset({"id", "object", "created", "choices", "usage", "error"})
_INCOMPLETE = {"length": "max_output_tokens", "content_filter": "content_filter"}
_NOT_MORE = frozenset({"index", "id", "type", "summary", "content"})
_NONSENSE = {"code": "server_error", "message": "The provider sent a chunk that makes no sense."}
_BROKEN_OFF = {"code": "server_error", "message": "The answer broke off before it was complete."}


def reply(completion: dict[str, Any], response_id: str, asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return a completion as the response to the request `asked`."""
    answer = Answer(response_id, asked)
    for chunk in unfold(completion):
        answer.feed(chunk)
    answer.feed({"usage": completion.get("usage")})
    answer.end()
    return answer.whole


class Answer:
    """The events of one answer, made of the chunks of a chat completion as they come.

    Attributes:
        whole: the response, once it has ended or failed.
    """

    def __init__(self, response_id: str, asked: Mapping[str, Any]) -> None:
        repeated = {name: asked[name] for name in _DEFAULTS if asked.get(name) is not None}
        named = {"id": response_id, "object": "response", "created_at": 0, "model": asked["model"]}
        self._head: dict[str, Any] = {**named, **_DEFAULTS, **repeated, **_FIXED}
        self._head["text"] = _DEFAULTS["text"] | self._head["text"]
        self._ids = response_id.removeprefix("resp_")
        self._usage: dict[str, Any] | None = None
        self._ending: str | None = None
        self._sent = 0
        self._failed = False
        self._items: list[PartedItem | CallItem] = []
        self._current: PartedItem | CallItem | None = None
        self._calls: dict[int, CallItem] = {}
        self._thoughts: dict[int, PartedItem] = {}
        self.whole: dict[str, Any] = {}

    def feed(self, chunk: Mapping[str, Any]) -> list[Event]:
        """Return the events that one chunk gives rise to; a chunk that is an error ends the answer."""
        try:
            msgspec.convert(chunk, ChunkShape)
        except msgspec.ValidationError:
            return [] if self._failed else self._fail(_NONSENSE)
        begun = self._sent > 0
        self._note(chunk)
        events = [] if begun else self._begin(chunk)
        for choice in chunk.get("choices") or ():
            if (choice.get("index") or 0) == 0 and not self._failed:
                events += self._numbered(self._heard(choice))
        error = chunk.get("error")
        return events + self._fail(error) if error and not self._failed else events

    def end(self) -> list[Event]:
        """Return the events that end the answer; usage is known by now."""
        if self._failed:
            return []
        if self._ending is None:
            return self._fail(_BROKEN_OFF)
        reason = _INCOMPLETE.get(self._ending)
        status = "completed" if reason is None else "incomplete"
        details = None if reason is None else {"reason": reason}
        return self._numbered(self._last(status, incomplete_details=details))

    def _note(self, chunk: Mapping[str, Any]) -> None:
        """Keep what a chunk says of the whole answer; what this API has no word for keeps its name."""
        self._head |= {name: value for name, value in chunk.items() if name not in _OURS and value is not None}
        if chunk.get("created"):
            self._head["created_at"] = chunk["created"]
        if chunk.get("usage"):
            self._usage = from_chat_usage(chunk["usage"])

    def _begin(self, chunk: Mapping[str, Any]) -> list[Event]:
        if chunk.get("error") and not chunk.get("choices"):
            return []
        response = self._response("in_progress")
        names = ("response.created", "response.in_progress")
        return self._numbered((name, {"response": response}) for name in names)

    def _fail(self, error: Mapping[str, Any]) -> list[Event]:
        """End with an error: of the response, where there is one, or else of the stream."""
        self._failed = True
        code, message = error.get("code") or "server_error", error.get("message") or _BROKEN_OFF["message"]
        if not self._sent:
            self.whole = self._response("failed") | {"error": {"code": code, "message": message}}
            return self._numbered([("error", {"code": code, "message": message, "param": error.get("param")})])
        return self._numbered(self._last("failed", error=dict(error) | {"code": code, "message": message}))

    def _last(self, status: str, **why: Any) -> Iterator[Event]:
        yield from self._end_all("completed" if status == "completed" else "incomplete")
        self.whole = self._response(status, self._items) | why
        yield f"response.{status}", {"response": self.whole}

    def _heard(self, choice: Mapping[str, Any]) -> Iterator[Event]:
        delta = choice.get("delta") or {}
        yield from self._think(delta)
        yield from self._say(delta, choice.get("logprobs") or {})
        for call in delta.get("tool_calls") or ():
            yield from self._call(call)
        self._ending = choice.get("finish_reason") or self._ending

    def _think(self, delta: Mapping[str, Any]) -> Iterator[Event]:
        entries = delta.get("reasoning_items")
        for entry in entries or ():
            yield from self._think_item(entry)
        text = delta.get("reasoning_content") or delta.get("reasoning")
        if isinstance(text, str) and text and not entries:  # beside items it is their text once more
            item = self._current
            if not isinstance(item, PartedItem) or item.item["type"] != "reasoning":
                item = yield from self._add_reasoning(None)
            yield from item.grow(REASONING_TEXT, text)

    def _think_item(self, entry: Mapping[str, Any]) -> Iterator[Event]:
        """Follow an item of reasoning as a provider of this API gives it: in pieces of one index, or all at once."""
        index = entry.get("index")
        item = None if index is None else self._thoughts.get(index)
        if item is None or item.ended:
            item = yield from self._add_reasoning(entry.get("id"))
            if index is not None:
                self._thoughts[index] = item
        for kind in (SUMMARY_TEXT, REASONING_TEXT):
            for place, part in enumerate(entry.get(kind.held) or ()):
                yield from item.grow(kind, part.get("text") or "", part.get("index", place))
        item.item |= {name: value for name, value in entry.items() if name not in _NOT_MORE and value is not None}

    def _say(self, delta: Mapping[str, Any], logprobs: Mapping[str, Any]) -> Iterator[Event]:
        content, refusal, tokens = delta.get("content"), delta.get("refusal"), logprobs.get("content")
        sources = delta.get("annotations") or ()
        if delta.get("phase"):
            yield from self._add_message(delta["phase"])
        if not (content or refusal or tokens or sources):
            return
        item = self._current
        if not isinstance(item, PartedItem) or item.item["type"] != "message":
            item = yield from self._add_message(None)
        if content or tokens:
            yield from item.grow(TEXT, content or "", logprobs=tokens)
        if refusal:
            yield from item.grow(REFUSAL, refusal)
        for source in sources:
            yield from item.annotate(_flat(source))

    def _call(self, call: Mapping[str, Any]) -> Iterator[Event]:
        for entry in call.get("reasoning_items") or ():
            yield from self._think_item(entry)
        index = len(self._calls) if call.get("index") is None else call["index"]
        known = self._calls.get(index)
        kind = known.kind if known else BY_TYPE.get(call.get("type") or "", FUNCTION)
        said = call.get(kind.type) or {}
        if known is None:
            known = yield from self._add_call(kind, call.get("id") or "", said.get("name") or "")
            self._calls[index] = known
        yield from self._turn_to(known)
        yield from known.grow(said.get(kind.said) or "")

    def _add_reasoning(self, item_id: str | None) -> Generator[Event, None, PartedItem]:
        item = PartedItem({"id": item_id or self._id("rs"), "type": "reasoning", "summary": []}, len(self._items))
        yield from self._add(item)
        return item

    def _add_message(self, phase: str | None) -> Generator[Event, None, PartedItem]:
        head = {"id": self._id("msg"), "type": "message", "status": "in_progress", "role": "assistant", "content": []}
        item = PartedItem(head if phase is None else head | {"phase": phase}, len(self._items))
        yield from self._add(item)
        return item

    def _add_call(self, kind: CallKind, call_id: str, name: str) -> Generator[Event, None, CallItem]:
        head = {"id": self._id(kind.prefix), "type": kind.item, "call_id": call_id, "name": name}
        item = CallItem(kind, head if kind is CUSTOM else head | {"status": "in_progress"}, len(self._items))
        yield from self._add(item)
        return item

    def _add(self, item: PartedItem | CallItem) -> Iterator[Event]:
        yield from self._turn_to(item)
        self._items.append(item)
        yield item.begin()

    def _turn_to(self, item: PartedItem | CallItem) -> Iterator[Event]:
        """Go on with `item`: what came before and cannot go on is done."""
        if self._current is not item:
            self._current = item
            for other in self._items:
                if other is not item and not other.ended and other.complete:
                    yield from other.end("completed")

    def _end_all(self, status: str) -> Iterator[Event]:
        for item in self._items:
            if not item.ended:
                yield from item.end(status)

    def _response(self, status: str, items: Iterable[PartedItem | CallItem] = ()) -> dict[str, Any]:
        state = {"status": status, "error": None, "incomplete_details": None, "output": [item.item for item in items]}
        return self._head | state | {"usage": self._usage if status != "in_progress" else None}

    def _id(self, prefix: str) -> str:
        return f"{prefix}_{self._ids}_{len(self._items)}"

    def _numbered(self, events: Iterable[Event]) -> list[Event]:
        numbered: list[Event] = []
        for name, data in events:
            numbered.append((name, {"type": name, "sequence_number": self._sent} | data))
            self._sent += 1
        return numbered


def _flat(annotation: Mapping[str, Any]) -> dict[str, Any]:
    """Lift what chat holds in a field named for the type of the annotation."""
    kind = annotation.get("type")
    inside = annotation.get(kind) if isinstance(kind, str) else None
    return {"type": kind} | inside if isinstance(inside, dict) else dict(annotation)
