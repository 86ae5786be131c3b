"""Engine events as an answer: a stream of server-sent events, or one reply made of the same events."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from msgspec import UNSET, Struct, UnsetType

from local_engine.errors import EngineError
from local_engine.request import Delta, Ended, Event, TokenLogprob, Usage
from local_engine.wire.errors import error_reply, failure_of
from local_engine.wire.replies import UsageReply, encode, usage_reply

if TYPE_CHECKING:
    from collections.abc import AsyncIterable, AsyncIterator, Mapping, Sequence

    from local_engine.types import FinishReason

DONE = b"data: [DONE]\n\n"


class Chunk(Struct):
    """One event of a stream."""

    id: str
    object: str
    created: int
    model: str
    choices: list[Any]
    usage: UsageReply | UnsetType = UNSET


class Reply(Struct):
    """A whole answer."""

    id: str
    object: str
    created: int
    model: str
    choices: list[Any]
    usage: UsageReply


class Shape(Protocol):
    """How one kind of completion writes its choices."""

    @property
    def chunk_object(self) -> str:
        """The `object` of its chunks."""
        ...

    @property
    def reply_object(self) -> str:
        """The `object` of its replies."""
        ...

    def opening(self, index: int) -> Struct | None:
        """Return what introduces a choice, if anything does."""
        ...

    def part(self, index: int, delta: Delta) -> Struct:
        """Return what a delta adds to its choice."""
        ...

    def whole(
        self, index: int, text: str, logprobs: Sequence[TokenLogprob], finish: FinishReason, stop: str | int | None
    ) -> Struct:
        """Return a complete choice."""
        ...


@dataclass(frozen=True, slots=True)
class Head:
    """What all chunks of an answer have in common; `created` is in Unix seconds."""

    answer_id: str
    created: int
    model: str


@dataclass(slots=True)
class _Written:
    text: list[str] = field(default_factory=list[str])
    logprobs: list[TokenLogprob] = field(default_factory=list[TokenLogprob])
    finish: FinishReason | None = None
    stop: str | int | None = None


class Transcript:
    """Writes down the answer to one body, which may be several engine requests.

    Args:
        head: What all chunks share.
        shape: How choices are written.
        offsets: For each engine request, the index of its first choice in the answer.
        choices: Choices of the whole answer.
        include_usage: End a stream with a chunk of usage.
        continuous_usage: Put the usage so far into every chunk, and send one for every token, also for one that shows
            no text yet: whoever is cut off has seen all that was computed.
    """

    def __init__(
        self,
        head: Head,
        shape: Shape,
        offsets: Mapping[str, int],
        choices: int,
        *,
        include_usage: bool = False,
        continuous_usage: bool = False,
    ) -> None:
        self._head = head
        self._shape = shape
        self._offsets = offsets
        self._choices = choices
        self._include_usage = include_usage
        self._continuous_usage = continuous_usage
        self._usages: dict[str, Usage] = {}

    @property
    def usage(self) -> Usage:
        """Tokens so far, over all requests of the answer."""
        parts = self._usages.values()
        return Usage(sum(u.prompt for u in parts), sum(u.completion for u in parts), sum(u.cached for u in parts))

    async def frames(self, events: AsyncIterable[Event]) -> AsyncIterator[bytes]:
        """Write the answer as server-sent events; one that breaks ends with an error and usage, without `[DONE]`."""
        is_open = False
        try:
            async for event in events:
                self._note(event)
                if not is_open:
                    is_open = True
                    for frame in self._openings():
                        yield frame
                if isinstance(event, Delta) and (event.is_visible or self._continuous_usage):
                    yield self._frame([self._shape.part(self._offsets[event.request_id] + event.choice, event)])
        except EngineError as error:
            reply = error_reply(error)
            if self._include_usage and self._usages:
                reply.usage = usage_reply(self.usage)
            yield _sse(reply)
            return
        if self._include_usage:
            yield self._frame([], usage_reply(self.usage))
        yield DONE

    async def reply(self, events: AsyncIterable[Event]) -> bytes:
        """Write the answer as one body.

        Raises:
            EngineError: The answer was cut short.
        """
        written = [_Written() for _ in range(self._choices)]
        async for event in events:
            self._note(event)
            if isinstance(event, Delta):
                choice = written[self._offsets[event.request_id] + event.choice]
                choice.text.append(event.text)
                choice.logprobs += event.logprobs
                choice.finish, choice.stop = event.finish, event.stop
        choices = [
            self._shape.whole(index, "".join(each.text), each.logprobs, each.finish, each.stop)
            for index, each in enumerate(written)
            if each.finish is not None
        ]
        head = self._head
        usage = usage_reply(self.usage)
        return encode(Reply(head.answer_id, self._shape.reply_object, head.created, head.model, choices, usage))

    def _note(self, event: Event) -> None:
        self._usages[event.request_id] = event.usage
        if isinstance(event, Ended) and (failure := failure_of(event)) is not None:
            raise failure

    def _openings(self) -> list[bytes]:
        openings = [self._shape.opening(index) for index in range(self._choices)]
        return [self._frame([opening]) for opening in openings if opening is not None]

    def _frame(self, choices: list[Any], usage: UsageReply | UnsetType = UNSET) -> bytes:
        head = self._head
        if self._continuous_usage and usage is UNSET:
            usage = usage_reply(self.usage)
        return _sse(Chunk(head.answer_id, self._shape.chunk_object, head.created, head.model, choices, usage))


def _sse(value: Struct) -> bytes:
    return b"data: " + encode(value) + b"\n\n"
