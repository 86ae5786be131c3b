"""Send an answer as its script has it, and keep count of what was made until it ended or the client was gone."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, Literal

import anyio
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from tests.support.providers.answer import Answer, Tokens
from tests.support.providers.dialect import Body, Dialect, Told
from tests.support.providers.framing import COMMENT
from tests.support.providers.script import Script

_EVENTS = "text/event-stream"

Ending = Literal["", "whole", "refused", "cut", "failed", "left"]


@dataclass(kw_only=True)
class Served:
    """One request, and what became of it.

    Attributes:
        path: what was asked for.
        headers: as they came, names in lower case.
        body: what was asked.
        answer: what it was answered with.
        made: the pieces made of it: the truth about what it costs.
        sent: the bytes of the body that have gone out.
        ended: how it ended; empty while it goes on. `left` when the client was gone before the end.
    """

    path: str
    headers: dict[str, str]
    body: Body
    answer: Answer
    made: int = 0
    sent: int = 0
    ended: Ending = ""

    @property
    def tokens(self) -> Tokens:
        """What has truly been used."""
        return self.answer.tokens(self.made)


class Cut(Exception):
    """Raised inside a stream so that the server drops the connection."""


@dataclass
class Delivery:
    """One streamed answer on its way. `told` is called whenever something has changed."""

    dialect: Dialect
    script: Script
    served: Served
    told: Callable[[], None] = field(repr=False)
    _ending: bool = field(default=False, init=False)

    async def writes(self) -> AsyncGenerator[bytes]:
        """Yield what is to be written, write by write.

        Raises:
            Cut: the connection is to be dropped here.
        """
        most = self.script.cut_at
        async with aclosing(self._frames()) as frames:
            async for frame in frames:
                for part in _parts(frame, self.script.every):
                    kept = part if most is None else part[: most - self.served.sent]
                    self.served.sent += len(kept)
                    yield kept
                    if len(kept) < len(part):
                        raise Cut

    async def _frames(self) -> AsyncGenerator[bytes]:
        script, dialect = self.script, self.dialect
        async for murmur in self._wait(script.silent.wait if script.silent else None):
            yield murmur
        if script.body is not None:
            yield script.body
            return
        tellings = list(dialect.events(script, self.served.body))
        for told in tellings:
            async for murmur in self._before(told):
                yield murmur
            if told.made > self.served.made and self._stops():
                if self.served.ended == "failed":
                    yield dialect.frame(*dialect.failing(*script.error), script.line_end)
                return
            self.served.made = told.made
            yield self._framed(told, last=told is tellings[-1])
            self.told()
        if dialect.DONE is not None and not script.unfinished:
            yield b"data: " + dialect.DONE + script.line_end * 2

    def _framed(self, told: Told, *, last: bool) -> bytes:
        end = self.script.line_end
        frame = self.dialect.frame(told.name, told.data, end)
        if self.dialect.MEDIA_TYPE != _EVENTS:
            return frame
        comment = COMMENT + end * 2 if self.script.comments else b""
        return comment + (frame.removesuffix(end) if last and self.script.unfinished else frame)

    def _stops(self) -> bool:
        """Say whether the stream ends before the next piece, as if nothing were missing or with an error.

        Raises:
            Cut: the connection is to be dropped here.
        """
        if self.served.made == self.script.cut_after:
            raise Cut
        if self.served.made == self.script.fail_after:
            self.served.ended = "failed"
        return self.served.made in {self.script.fail_after, self.script.stop_after}

    async def _before(self, told: Told) -> AsyncIterator[bytes]:
        """Wait as the script has it before a piece that is not the first, and before the end."""
        made, end = self.served.made, told.made == self.served.made == len(self.served.answer.pieces)
        if not made and told.made and self.script.pondering:
            async for murmur in self._wait(self.script.pondering.wait):
                yield murmur
        if not made or (end and self._ending):
            return
        self._ending = end
        for _ in range(1 if end else told.made - made):
            async for murmur in self._wait(self.script.gate.acquire if self.script.gate else None):
                yield murmur
            async for murmur in self._wait(self._pause if self.script.pause_s else None):
                yield murmur

    async def _pause(self) -> None:
        await asyncio.sleep(self.script.pause_s)

    async def _wait(self, until: Callable[[], Awaitable[Any]] | None) -> AsyncIterator[bytes]:
        if until is None:
            return
        waiting = asyncio.ensure_future(until())
        try:
            every_s = self.script.murmur_s if self.dialect.MEDIA_TYPE == _EVENTS else None
            while not (await asyncio.wait([waiting], timeout=every_s))[0]:
                yield COMMENT + self.script.line_end * 2
        finally:
            waiting.cancel()


class StreamedAnswer(Response):
    """A delivery as a response: it stops when the client is gone."""

    def __init__(self, delivery: Delivery) -> None:
        script, dialect = delivery.script, delivery.dialect
        media_type = dialect.MEDIA_TYPE if script.body is None else script.kind
        super().__init__(None, script.status, script.headers, media_type)
        del self.headers["content-length"]
        self._delivery = delivery

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Write until the end, the cut, or the client's leaving."""
        served, script = self._delivery.served, self._delivery.script
        if script.hang_up:
            served.ended = "cut"
            self._delivery.told()
            receive.__self__.transport.abort()  # pyright: ignore[reportFunctionMemberAccess]  # uvicorn's request
            return
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        try:
            async with anyio.create_task_group() as group:

                async def watch() -> None:
                    while (await receive())["type"] != "http.disconnect":
                        pass
                    group.cancel_scope.cancel()

                group.start_soon(watch)
                await self._write(send)
                group.cancel_scope.cancel()
        except* Cut:
            served.ended = "cut"
            raise
        finally:
            served.ended = served.ended or "left"
            self._delivery.told()

    async def _write(self, send: Send) -> None:
        served, turns = self._delivery.served, 1 if self._delivery.script.every is None else 2
        async with aclosing(self._delivery.writes()) as writes:
            async for part in writes:
                await send({"type": "http.response.body", "body": part, "more_body": True})
                for _ in range(turns):  # let it be noticed that the client is gone, or be read as a read of its own
                    await asyncio.sleep(0)
        served.ended = served.ended or "whole"
        await send({"type": "http.response.body", "body": b"", "more_body": False})


def _parts(frame: bytes, every: int | None) -> list[bytes]:
    if every is None:
        return [frame]
    return [frame[start : start + every] for start in range(0, len(frame), every)]
