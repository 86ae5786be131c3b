"""Read a provider's events of this API as the chunks of a chat completion.

What an item says is passed on once, from whichever event says it first: a delta, or the end of a part or of the item,
which repeat it. The response at the end repeats everything once more, under ids that not every provider keeps the
same, so it is read only where no item has come before it: then the provider has answered in one piece.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from gateway.dialects.responses.calls import BY_ITEM, CallKind
from gateway.dialects.responses.output import REASONING_TEXT, REFUSAL, SUMMARY_TEXT, TEXT, PartKind
from gateway.dialects.responses.shape.events import EventShape
from gateway.dialects.responses.usage import to_chat_usage

Chunk = dict[str, Any]

_KINDS = (TEXT, REFUSAL, REASONING_TEXT, SUMMARY_TEXT)
_PARTS: Mapping[str, PartKind] = {kind.type: kind for kind in _KINDS}
_TEXTS: Mapping[str, PartKind] = {kind.text: kind for kind in _KINDS}
_CALLS: Mapping[str, CallKind] = {kind.event: kind for kind in BY_ITEM.values()}
_ENDINGS = {"max_output_tokens": "length", "content_filter": "content_filter"}
_SAID_AS_IT_GROWS = frozenset({"id", "type", "summary", "content"})


def hear_whole(response: Mapping[str, Any]) -> list[Chunk]:
    """Return the chunks of a response that came in one piece."""
    return Hearing().hear(f"response.{response.get('status') or 'completed'}", {"response": response})


class Hearing:
    """One answer, heard event by event."""

    def __init__(self) -> None:
        self._head: dict[str, Any] = {"object": "chat.completion.chunk"}
        self._begun = False
        self._failed = False
        self._places: dict[int, int] = {}  # of items in the output: the index among calls or among thoughts
        self._said: dict[tuple[int, str, int], int] = {}  # characters or entries passed on already
        self._sealed: set[int] = set()
        self._called = 0
        self._thought = 0
        self._last_thought: tuple[int, str, int] | None = None

    def hear(self, name: str, data: Mapping[str, Any]) -> list[Chunk]:
        """Return the chunks that say what one event says: none where it says nothing new, an error for nonsense."""
        try:
            msgspec.convert(data, EventShape)
        except msgspec.ValidationError:
            return list(self._error({"message": "The provider sent an event that makes no sense."}))
        return list(self._hear(data.get("type") or name, data))

    def _hear(self, name: str, data: Mapping[str, Any]) -> Iterator[Chunk]:
        place = data.get("output_index", 0)
        stem, _, last = name.rpartition(".")
        match name:
            case "response.created" | "response.queued" | "response.in_progress":
                yield from self._begin(data.get("response") or {})
            case "response.output_item.added" | "response.output_item.done":
                yield from self._item(place, data.get("item") or {}, done=last == "done")
            case "response.output_text.annotation.added":
                index, first = data.get("content_index", 0), data.get("annotation_index", 0)
                yield from self._sources(place, index, [data.get("annotation") or {}], first)
            case "response.completed" | "response.incomplete" | "response.failed":
                yield from self._end(last, data.get("response") or {})
            case "error":
                yield from self._error(data.get("error") or data)
            case _ if stem in _TEXTS:
                yield from self._text_event(place, _TEXTS[stem], data)
            case _ if stem in _CALLS:
                yield from self._call_event(place, _CALLS[stem], data)
            case _:  # the beginnings and ends of parts, which say nothing more, and pings
                return

    def _begin(self, response: Mapping[str, Any]) -> Iterator[Chunk]:
        told = {"id": response.get("id"), "model": response.get("model"), "service_tier": response.get("service_tier")}
        self._head |= {name: value for name, value in told.items() if value is not None}
        if response.get("created_at") is not None:
            self._head["created"] = int(response["created_at"])
        if not self._begun:
            self._begun = True
            yield self._chunk({"role": "assistant"})

    def _text_event(self, place: int, kind: PartKind, data: Mapping[str, Any]) -> Iterator[Chunk]:
        index = data.get(kind.index, 0)
        if kind in {REASONING_TEXT, SUMMARY_TEXT} and place not in self._places:
            return  # the end of the item tells all of it
        if "delta" in data:
            yield from self._text(place, kind, index, data["delta"] or "", data.get("logprobs") or [])
        else:
            yield from self._rest(place, kind, index, data)

    def _call_event(self, place: int, kind: CallKind, data: Mapping[str, Any]) -> Iterator[Chunk]:
        if place not in self._places:
            return  # an unknown call has no name yet; the end of the item tells all of it
        if "delta" in data:
            yield from self._call_text(place, kind, data["delta"] or "")
        else:
            yield from self._call_rest(place, kind, data)

    def _item(self, place: int, item: Mapping[str, Any], *, done: bool) -> Iterator[Chunk]:
        known, kind = place in self._places, item.get("type")
        call = BY_ITEM.get(kind or "")
        if call is not None:
            if not known:
                self._places[place], self._called = self._called, self._called + 1
                said = {"name": item.get("name"), call.said: ""}
                yield self._call(place, {"id": item.get("call_id"), "type": call.type, call.type: said})
            yield from self._call_rest(place, call, item)
        elif kind == "reasoning":
            if not known:
                self._places[place], self._thought = self._thought, self._thought + 1
                yield self._thinks(place, {"id": item.get("id"), "type": kind, "summary": []})
            yield from self._parts(place, item)
            if done:
                yield from self._seal(place, item)
        elif kind == "message":
            if not known and item.get("phase"):
                yield self._chunk({"phase": item["phase"]})
            self._places[place] = 0
            yield from self._parts(place, item)

    def _parts(self, place: int, item: Mapping[str, Any]) -> Iterator[Chunk]:
        for held in ("summary", "content"):
            for index, part in enumerate(item.get(held) or ()):
                kind = _PARTS.get(part.get("type"))
                if kind is not None:
                    yield from self._rest(place, kind, index, part)

    def _rest(self, place: int, kind: PartKind, index: int, whole: Mapping[str, Any]) -> Iterator[Chunk]:
        """Pass on what `whole` says of a part beyond what has been passed on."""
        text = (whole.get(kind.said) or "")[self._said.get((place, kind.held, index), 0) :]
        tokens = (whole.get("logprobs") or [])[self._said.get((place, "logprobs", index), 0) :]
        yield from self._text(place, kind, index, text, tokens)
        sources = whole.get("annotations") or []
        yield from self._sources(place, index, sources, 0)

    def _text(self, place: int, kind: PartKind, index: int, text: str, tokens: list[Any]) -> Iterator[Chunk]:
        if not (text or tokens):
            return
        key = (place, kind.held, index)
        self._count(key, text)
        self._count((place, "logprobs", index), tokens)
        if kind is TEXT:
            yield self._chunk({"content": text}, {"content": tokens, "refusal": None} if tokens else None)
        elif kind is REFUSAL:
            yield self._chunk({"refusal": text})
        else:
            apart = "\n\n" if self._last_thought not in {None, key} else ""
            self._last_thought = key
            parts = [{"index": index, "type": kind.type, "text": text}]
            yield self._thinks(place, {kind.held: parts}, apart + text)

    def _sources(self, place: int, index: int, sources: list[Any], first: int) -> Iterator[Chunk]:
        """Pass on sources of a text, of which the first is its source number `first`."""
        key = (place, "annotations", index)
        fresh = sources[max(0, self._said.get(key, 0) - first) :]
        if fresh:
            self._count(key, fresh)
            yield self._chunk({"annotations": [_nested(source) for source in fresh]})

    def _call_rest(self, place: int, kind: CallKind, whole: Mapping[str, Any]) -> Iterator[Chunk]:
        yield from self._call_text(
            place, kind, (whole.get(kind.said) or "")[self._said.get((place, kind.said, 0), 0) :]
        )

    def _call_text(self, place: int, kind: CallKind, text: str) -> Iterator[Chunk]:
        if text:
            self._count((place, kind.said, 0), text)
            yield self._call(place, {kind.type: {kind.said: text}})

    def _call(self, place: int, said: dict[str, Any]) -> Chunk:
        return self._chunk({"tool_calls": [{"index": self._places[place]} | said]})

    def _thinks(self, place: int, said: dict[str, Any], text: str | None = None) -> Chunk:
        items = {"reasoning_items": [{"index": self._places[place]} | said]}
        return self._chunk(items if text is None else {"reasoning_content": text} | items)

    def _seal(self, place: int, item: Mapping[str, Any]) -> Iterator[Chunk]:
        """Pass on what holds of a thought as a whole, such as its sealed form."""
        more = {name: value for name, value in item.items() if name not in _SAID_AS_IT_GROWS and value is not None}
        if more and place not in self._sealed:
            self._sealed.add(place)
            yield self._thinks(place, more)

    def _end(self, how: str, response: Mapping[str, Any]) -> Iterator[Chunk]:
        yield from self._begin(response)
        whole = not (self._places or self._said)
        for place, item in enumerate(response.get("output") or () if whole else ()):
            yield from self._item(place, item, done=True)
        if how != "failed":
            reason = str((response.get("incomplete_details") or {}).get("reason"))
            cut = _ENDINGS.get(reason, "length") if how == "incomplete" else None
            yield self._chunk({}, ending=cut or ("tool_calls" if self._called else "stop"))
        if response.get("usage"):
            yield self._head | {"choices": [], "usage": to_chat_usage(response["usage"])}
        if how == "failed":
            yield from self._error(response.get("error") or {})

    def _error(self, error: Mapping[str, Any]) -> Iterator[Chunk]:
        """Pass on an error once; a stream may tell of it by itself and again as the state of the response."""
        if not self._failed:
            self._failed = True
            kind = error.get("type")
            yield {
                "error": {
                    "message": error.get("message") or "The provider gave no reason.",
                    "type": kind if isinstance(kind, str) and kind != "error" else "server_error",
                    "param": error.get("param"),
                    "code": error.get("code"),
                }
            }

    def _count(self, key: tuple[int, str, int], more: str | list[Any]) -> None:
        self._said[key] = self._said.get(key, 0) + len(more)

    def _chunk(self, delta: dict[str, Any], logprobs: dict[str, Any] | None = None, ending: str | None = None) -> Chunk:
        choice = {"index": 0, "delta": delta, "logprobs": logprobs, "finish_reason": ending}
        return self._head | {"choices": [choice]}


def _nested(source: Mapping[str, Any]) -> dict[str, Any]:
    """Put an annotation into a field named for its type, as chat has it."""
    kind = str(source.get("type"))
    return {"type": kind, kind: {name: value for name, value in source.items() if name != "type"}}
