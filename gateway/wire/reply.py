"""Write one answer to a client, as a stream of events or as one JSON body."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Any, Protocol, Self

import msgspec

from gateway.providers.upstream import Chunk
from gateway.speech import Speech
from gateway.wire.departure import Departure
from gateway.wire.errors import ErrorBody, error_body, error_headers, shape_of
from gateway.wire.headers import Facts, Headers, render
from gateway.wire.keep_alive import KeepAlive
from gateway.wire.sse import COMMENT

Send = Callable[[dict[str, Any]], Awaitable[None]]


class Reply(Protocol):
    """How an answer reaches its client; the same calls in the same order for both kinds."""

    @property
    def departure(self) -> Departure:
        """Whether the client is still there."""
        ...

    @property
    def spoken(self) -> bool:
        """Whether anything of an answer has gone out: from then on there can be no other."""
        ...

    async def begin(self, facts: Facts) -> None:
        """Say what is known before the first piece; again, when that attempt came to nothing."""
        ...

    async def piece(self, chunk: Chunk) -> None:
        """Pass on one chunk."""
        ...

    async def told(self, completion: dict[str, Any]) -> None:
        """Pass on all of an answer that is whole already, but for its end."""
        ...

    async def finish(self, completion: dict[str, Any], facts: Facts) -> None:
        """End the answer; `facts` now hold its cost. A client that has left is told nothing."""
        ...


class StreamedReply:
    """Events as they come; headers go out with the first, so they cannot hold the cost.

    Use as a context manager around the answer: while the client hears nothing for `keep_alive_s` seconds it is sent a
    comment. The first of these sends the headers as well, so that only what fails before it can be an HTTP status.
    """

    def __init__(self, send: Send, departure: Departure, speech: Speech, keep_alive_s: float) -> None:
        self.departure = departure
        self._send = send
        self._speech = speech
        self._headers: Headers = []
        self._turn = asyncio.Lock()
        self._keep_alive = KeepAlive(keep_alive_s, self._murmur)
        self._ended = False
        self.started = self.spoken = False

    def __enter__(self) -> Self:
        """Begin nothing yet: the silence counts from `begin`."""
        return self

    def __exit__(self, *_: object) -> None:
        """Murmur no more."""
        self._keep_alive.end()

    async def begin(self, facts: Facts) -> None:
        """Keep the headers for the first piece: until then a failure can still be an HTTP status."""
        self._keep_alive.start()
        self._headers = [
            (b"content-type", b"text/event-stream; charset=utf-8"),
            (b"cache-control", b"no-store"),
            (b"x-accel-buffering", b"no"),
            *render(facts),
        ]

    async def piece(self, chunk: Chunk) -> None:
        """Send what there is to say of a chunk; waits while the client is slower than the model."""
        self.spoken = True
        if said := self._speech.piece(chunk):
            await self._write(said)

    async def told(self, completion: dict[str, Any]) -> None:
        """Send a whole answer in pieces, as a stream arrives."""
        for said in self._speech.told(completion):
            await self._write(said)

    async def finish(self, completion: dict[str, Any], facts: Facts) -> None:
        """Send the end, with what the answer cost where the client's dialect shows usage, and close."""
        if not self.departure.happened:
            await self._write(self._speech.end(completion, facts.money), more=False)

    async def break_off(self, error: Exception) -> None:
        """End a stream that broke after its first byte: an error event and no end mark."""
        await self._write(self._speech.broken(error_body(error)), more=False)

    async def _write(self, body: bytes, *, more: bool = True) -> None:
        async with self._turn:
            if not self.started:
                self.started = True
                await self._send({"type": "http.response.start", "status": 200, "headers": self._headers})
            await self._send({"type": "http.response.body", "body": body, "more_body": more})
            self._ended = not more
            self._keep_alive.said()

    async def _murmur(self) -> None:
        if not (self._ended or self._turn.locked() or self.departure.happened):
            await self._write(COMMENT)


class PlainReply:
    """One JSON body at the end, with everything in its headers."""

    def __init__(self, send: Send, departure: Departure, speech: Speech) -> None:
        self.departure = departure
        self._send = send
        self._speech = speech
        self.spoken = False

    async def begin(self, facts: Facts) -> None:
        """Wait for the end."""

    async def piece(self, chunk: Chunk) -> None:
        """Wait for the end: the completion is folded from the same chunks."""

    async def told(self, completion: dict[str, Any]) -> None:
        """Wait for the end."""

    async def finish(self, completion: dict[str, Any], facts: Facts) -> None:
        """Send the body."""
        if not self.departure.happened:
            await send_json(self._send, 200, self._speech.whole(completion), render(facts))


async def send_json(send: Send, status: int, body: object, headers: Headers) -> None:
    """Send one JSON response."""
    payload = msgspec.json.encode(body)
    fixed: Headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(payload)).encode()),
        (b"cache-control", b"no-store"),
    ]
    await send({"type": "http.response.start", "status": status, "headers": [*fixed, *headers]})
    await send({"type": "http.response.body", "body": payload})


async def send_error(send: Send, error: Exception, request_id: str, now: datetime, written: ErrorBody) -> None:
    """Send `error` as the contract's error object, in the words of the client's dialect."""
    named = request_id.encode()
    headers: Headers = [(b"x-request-id", named), (b"request-id", named), *error_headers(error, now)]
    await send_json(send, shape_of(error).status, written(error, request_id), headers)
