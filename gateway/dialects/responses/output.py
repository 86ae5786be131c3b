"""One item of an answer while it grows, and the events that say so.

Spec: the OpenAI API reference, "Streaming events". An item is added, its parts are added, grow and are done one by
one, then the item is done.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import msgspec

from gateway.dialects.responses.calls import FUNCTION, CallKind

Event = tuple[str, dict[str, Any]]
"""The name of an event and its data, of which the number is still missing."""

ADDED = "response.output_item.added"
DONE = "response.output_item.done"


@dataclass(frozen=True, slots=True, kw_only=True)
class PartKind:
    """What one kind of part is named.

    Attributes:
        type: of the part.
        said: the field with its text.
        held: the field of the item that lists such parts.
        index: the field of an event with the part's place in that list.
        part: what the names of the events about the part begin with.
        text: what the names of the events about its text begin with.
    """

    type: str
    said: str
    held: str
    index: str
    part: str
    text: str


TEXT = PartKind(
    type="output_text",
    said="text",
    held="content",
    index="content_index",
    part="response.content_part",
    text="response.output_text",
)
REFUSAL = PartKind(
    type="refusal",
    said="refusal",
    held="content",
    index="content_index",
    part="response.content_part",
    text="response.refusal",
)
REASONING_TEXT = PartKind(
    type="reasoning_text",
    said="text",
    held="content",
    index="content_index",
    part="response.content_part",
    text="response.reasoning_text",
)
SUMMARY_TEXT = PartKind(
    type="summary_text",
    said="text",
    held="summary",
    index="summary_index",
    part="response.reasoning_summary_part",
    text="response.reasoning_summary_text",
)


class _GrowingPart:
    """A part of a message or of reasoning."""

    def __init__(self, kind: PartKind, key: int | None, place: dict[str, Any]) -> None:
        self.kind = kind
        self.key = key
        self.place = place
        self.more: dict[str, list[Any]] = {"annotations": [], "logprobs": []} if kind is TEXT else {}
        self._texts: list[str] = []

    def begin(self) -> Event:
        return f"{self.kind.part}.added", self.place | {"part": self.value()}

    def grow(self, text: str, logprobs: list[Any]) -> Event:
        self._texts.append(text)
        if self.kind is not TEXT:
            return f"{self.kind.text}.delta", self.place | {"delta": text}
        self.more["logprobs"] += logprobs
        return f"{self.kind.text}.delta", self.place | {"delta": text, "logprobs": logprobs}

    def annotate(self, annotation: dict[str, Any]) -> Event:
        known = self.more["annotations"]
        known.append(annotation)
        data = {"annotation_index": len(known) - 1, "annotation": annotation}
        return "response.output_text.annotation.added", self.place | data

    def end(self) -> Iterator[Event]:
        part = self.value()
        logprobs = {"logprobs": part["logprobs"]} if self.kind is TEXT else {}
        yield f"{self.kind.text}.done", self.place | {self.kind.said: part[self.kind.said]} | logprobs
        yield f"{self.kind.part}.done", self.place | {"part": part}

    def value(self) -> dict[str, Any]:
        copies = {name: list(values) for name, values in self.more.items()}
        return {"type": self.kind.type, self.kind.said: "".join(self._texts)} | copies


class PartedItem:
    """A message, or reasoning: a list of parts, of which the last may grow."""

    def __init__(self, head: dict[str, Any], index: int) -> None:
        self.item = head
        self.index = index
        self.ended = False
        self._part: _GrowingPart | None = None

    @property
    def complete(self) -> bool:
        """Whether another item may begin: these are never said in turns with others."""
        return True

    def begin(self) -> Event:
        """Say that the item is there."""
        return ADDED, {"output_index": self.index, "item": _copy(self.item)}

    def grow(
        self, kind: PartKind, text: str, key: int | None = None, logprobs: list[Any] | None = None
    ) -> Iterator[Event]:
        """Add text to the part of this kind and `key`; another begins a part of its own."""
        part = self._part
        if part is None or part.kind is not kind or part.key != key:
            yield from self._end_part()
            held = self.item.setdefault(kind.held, [])
            place = {"item_id": self.item["id"], "output_index": self.index, kind.index: len(held)}
            part = self._part = _GrowingPart(kind, key, place)
            yield part.begin()
        if text or logprobs:
            yield part.grow(text, logprobs or [])

    def annotate(self, annotation: dict[str, Any]) -> Iterator[Event]:
        """Add a source to the text."""
        yield from self.grow(TEXT, "")
        if self._part is not None:
            yield self._part.annotate(annotation)

    def end(self, status: str) -> Iterator[Event]:
        """Say that the item is done, and how."""
        yield from self._end_part()
        self.ended = True
        if "status" in self.item:
            self.item["status"] = status
        yield DONE, {"output_index": self.index, "item": _copy(self.item)}

    def _end_part(self) -> Iterator[Event]:
        if self._part is not None:
            yield from self._part.end()
            self.item[self._part.kind.held].append(self._part.value())
            self._part = None


class CallItem:
    """A tool call: one text, which is JSON where the tool is a function."""

    def __init__(self, kind: CallKind, head: dict[str, Any], index: int) -> None:
        self.item = head | {kind.said: ""}
        self.index = index
        self.ended = False
        self.kind = kind
        self._texts: list[str] = []

    @property
    def complete(self) -> bool:
        """Whether nothing can follow: an object that is closed goes no further. Free text never says that it ends."""
        if self.kind is not FUNCTION:
            return False
        try:
            msgspec.json.decode("".join(self._texts), type=dict[str, msgspec.Raw])
        except (msgspec.DecodeError, RecursionError):
            return False
        return True

    def begin(self) -> Event:
        """Say that the item is there."""
        return ADDED, {"output_index": self.index, "item": _copy(self.item)}

    def grow(self, text: str) -> Iterator[Event]:
        """Add to what is said to the tool."""
        if text and not self.ended:
            self._texts.append(text)
            yield f"{self.kind.event}.delta", self._place() | {"delta": text}

    def end(self, status: str) -> Iterator[Event]:
        """Say that the item is done, and how."""
        self.ended = True
        self.item |= {self.kind.said: "".join(self._texts)}
        yield f"{self.kind.event}.done", self._place() | {self.kind.said: self.item[self.kind.said]}
        if "status" in self.item:
            self.item["status"] = status
        yield DONE, {"output_index": self.index, "item": _copy(self.item)}

    def _place(self) -> dict[str, Any]:
        return {"item_id": self.item["id"], "output_index": self.index}


def _copy(item: dict[str, Any]) -> dict[str, Any]:
    """Copy an item as far down as it grows."""
    return {name: list(value) if isinstance(value, list) else value for name, value in item.items()}
