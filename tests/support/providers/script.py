"""How a provider goes about its answer: what it tells of the usage, and every way in which it can misbehave."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from tests.support.providers.answer import NOTHING, Answer, Tokens

Telling = Literal["told", "with_finish", "null", "zero", "never"]


@dataclass(kw_only=True)
class Script:
    """What the provider does with one request.

    Attributes:
        answer: what it says, and what that truly uses.
        usage: `told` as its dialect does; `with_finish` in the chunk that ends the answer (chat alone); as `null`, as
            `zero`, or `never`.
        status: refuse with this status instead of answering.
        error: the code and the words of a refusal, written as the dialect does.
        headers: of the reply, such as `retry-after`.
        body: bytes in place of the body, whatever the status: malformed JSON, a page of HTML, events of odd shape.
        kind: the content type of `body`.
        silent: waited for before the first byte of the body, when set.
        pondering: waited for before the first piece, after whatever comes before it, when set.
        gate: one permit is taken before every piece after the first, and before the end, when set.
        pause_s: seconds before every piece after the first, and before the end.
        murmur_s: a comment goes out every so many seconds of any wait, where the dialect has comments.
        comments: a comment goes out before every event.
        line_end: what ends a line of an event.
        unfinished: the last event lacks the blank line that ends it, and there is no end mark.
        every: the most bytes of one write; 1 splits every character and every event.
        cut_after: drop the connection after so many pieces.
        cut_at: drop the connection after so many bytes of the body.
        hang_up: drop the connection without a word.
        fail_after: send an error in the stream after so many pieces, and end.
        stop_after: end the stream after so many pieces as if nothing were missing.
    """

    answer: Answer = field(default_factory=Answer)
    usage: Telling = "told"
    status: int = 200
    error: tuple[str, str] = ("server_error", "The model fell over.")
    headers: dict[str, str] = field(default_factory=dict[str, str])
    body: bytes | None = None
    kind: str = "text/event-stream"
    silent: asyncio.Event | None = None
    pondering: asyncio.Event | None = None
    gate: asyncio.Semaphore | None = None
    pause_s: float = 0.0
    murmur_s: float | None = None
    comments: bool = False
    line_end: bytes = b"\n"
    unfinished: bool = False
    every: int | None = None
    cut_after: int | None = None
    cut_at: int | None = None
    hang_up: bool = False
    fail_after: int | None = None
    stop_after: int | None = None

    def let_go(self) -> None:
        """Wait for nothing any more."""
        if self.gate is not None:
            for _ in self.answer.pieces:
                self.gate.release()
        for waited_for in (self.silent, self.pondering):
            if waited_for is not None:
                waited_for.set()

    def usage_field(self, name: str, written: Callable[[Tokens], dict[str, Any]], used: Tokens) -> dict[str, Any]:
        """Return the field of that name as this script tells usage: absent, null, zero or true."""
        match self.usage:
            case "never":
                return {}
            case "null":
                return {name: None}
            case "zero":
                return {name: written(NOTHING)}
            case _:
                return {name: written(used)}
