"""One client's connection: uvicorn's HTTP/1.1 protocol, bounded in number, bytes and time, for clients without a key.

What the parser may gather unseen is `Bounds.head_bytes`: a request's head, or the trailers behind its body. A head must
be complete in `head_s`, a client that reads nothing for `stalled_s` while we have more to say is taken to have left,
and answers that are cut off by the server's end still end as an answer does. (A body's size and time are bounded where
it is read, in `gateway.endpoints.edge`.)

A request to speak another protocol (`Upgrade: h2c`, which Java's client sends of itself) is answered in this one, as
RFC 9110, 7.8, allows; the parser stops at such a head, so it is read again without that header.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import httptools
import msgspec
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle

from gateway.wire.errors import Shape, error_object
from gateway.wire.sse import event

App = Callable[[Any, Any, Any], Awaitable[None]]

_LAST_WORD_S: Final = 2.0
_LINGER_S: Final = 2.0
_LINGER_BYTES: Final = 1024 * 1024
_MALFORMED: Final = Shape(400, "invalid_request_error", retry=False)
_LATE: Final = Shape(408, "request_timeout", retry=True)
_TOO_LONG: Final = Shape(431, "invalid_request_error", retry=False)
_BUSY: Final = Shape(503, "overloaded", retry=True, kind="server_error")


@dataclass(frozen=True, slots=True)
class Bounds:
    """What one connection may take: its share of `connections`, bytes, and seconds."""

    connections: int = 2048
    head_bytes: int = 64 * 1024
    head_s: float = 20.0
    stalled_s: float = 60.0


class HeadTooLong(ValueError):
    """A request's head is longer than we read; raised through the parser."""


class Connection(HttpToolsProtocol):
    """Uvicorn's protocol within `bounds`."""

    bounds = Bounds()

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._gathered = 0  # bytes since the parser last came to the end of a head or to a piece of a body
        self._in_head = False
        self._late: asyncio.TimerHandle | None = None
        self._stalled: asyncio.TimerHandle | None = None
        self._lingering: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]  # as uvicorn has it
        """Begin to wait for a request, unless there are too many who do."""
        super().connection_made(transport)
        if len(self.connections) > self.bounds.connections:
            self._turn_away(_BUSY, "Too many connections are open.")
        else:
            self._late = self.loop.call_later(self.bounds.head_s, self._give_up)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the timers."""
        super().connection_lost(exc)
        for timer in (self._late, self._stalled, self._lingering):
            if timer is not None:
                timer.cancel()

    def data_received(self, data: bytes) -> None:
        """Parse what has come."""
        self._unset_keepalive_if_required()
        self._gathered += len(data)
        if self._lingering is not None:
            return self.transport.abort() if self._gathered > _LINGER_BYTES else None
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserUpgrade as upgrade:
            return self._read_on(data[upgrade.args[0] :])
        except httptools.HttpParserError as error:
            if isinstance(error.__context__, HeadTooLong):
                return self._turn_away_long_head()
            return self._turn_away(_MALFORMED, "This is no HTTP request.")
        if self._gathered > self.bounds.head_bytes:
            return self._turn_away_long_head()
        if self._late is None and (self._in_head or not self._answering):
            self._late = self.loop.call_later(self.bounds.head_s, self._give_up)
        return None

    def on_message_begin(self) -> None:
        """Begin a head."""
        self._in_head = True
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """Start to answer."""
        if self._gathered > self.bounds.head_bytes:  # which may be the body that came with it
            size = len(self.url) + sum(len(name) + len(value) + 4 for name, value in self.headers)
            if size > self.bounds.head_bytes:
                raise HeadTooLong
        self._gathered, self._in_head = 0, False
        self._stop_waiting()
        if not self.parser.should_upgrade():
            super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Keep a piece of the body for whoever asks for it."""
        self._gathered = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        """End a request."""
        self._gathered = 0
        if not self.parser.should_upgrade():
            super().on_message_complete()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        super().on_response_complete()
        self._abort_if_unread()

    def timeout_keep_alive_handler(self) -> None:
        """Close a connection that nobody uses."""
        super().timeout_keep_alive_handler()
        self._abort_if_unread()

    def pause_writing(self) -> None:
        """Begin to wait for a client that reads more slowly than we write."""
        super().pause_writing()
        self._stalled = self._stalled or self.loop.call_later(self.bounds.stalled_s, self.transport.abort)

    def resume_writing(self) -> None:
        """Go on."""
        super().resume_writing()
        if self._stalled is not None and not self.transport.is_closing():
            self._stalled.cancel()
            self._stalled = None

    @property
    def _answering(self) -> bool:
        return bool(self.cycle) and not self.cycle.response_complete

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        super()._start_asgi_task(cycle, partial(_answer, cycle, app))  # pyright: ignore[reportArgumentType]  # an App

    def _read_on(self, rest: bytes) -> None:
        method = self.parser.get_method()
        if method == b"CONNECT":
            return self._turn_away(_MALFORMED, "This is no proxy.")
        kept = b"".join(b"%b: %b\r\n" % field for field in self.headers if field[0] != b"upgrade")
        version = self.parser.get_http_version().encode()
        self.parser = httptools.HttpRequestParser(self)
        self.parser.set_dangerous_leniencies(lenient_data_after_close=True)  # as uvicorn does
        return self.data_received(b"%b %b HTTP/%b\r\n%b\r\n%b" % (method, self.url, version, kept, rest))

    def _stop_waiting(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None

    def _give_up(self) -> None:
        self._late = None
        if self._answering:  # it sent half of its next request
            self._late = self.loop.call_later(self.bounds.head_s, self._give_up)
        elif self._in_head:
            self._turn_away(_LATE, "The request's head took too long to arrive.")
        else:
            self.transport.close()

    def _turn_away_long_head(self) -> None:
        most = self.bounds.head_bytes // 1024
        self._turn_away(_TOO_LONG, f"The request's head is larger than {most} KiB.")

    def _turn_away(self, shape: Shape, message: str) -> None:
        """Answer without the application, or just leave when an answer is on its way already."""
        if self._answering:
            return self.transport.abort()
        self._stop_waiting()
        body = msgspec.json.encode(error_object(shape, message))
        head = [STATUS_LINE[shape.status].removesuffix(b"\r\n"), b"connection: close"]
        head += [b"%b: %b" % field for field in _fields(shape, body)]
        self.transport.write(b"\r\n".join([*head, b"", body]))
        if not self._gathered:
            self.transport.close()
            return self._abort_if_unread()
        # To close with bytes unread would reset the connection, and the client would never see the answer.
        self.transport.write_eof()
        self._lingering = self.loop.call_later(_LINGER_S, self.transport.abort)
        return None

    def _abort_if_unread(self) -> None:
        """Bound the time that a closed connection waits for its client to read the rest."""
        if self.transport.is_closing() and self.transport.get_write_buffer_size() and self._stalled is None:
            self._stalled = self.loop.call_later(self.bounds.stalled_s, self.transport.abort)


async def _answer(cycle: RequestResponseCycle, app: App, scope: Any, receive: Any, send: Any) -> None:
    """Let `app` answer; when the server cuts it off, end the answer in its own form."""
    try:
        await app(scope, receive, send)
    except asyncio.CancelledError:
        try:
            async with asyncio.timeout(_LAST_WORD_S):
                await _end(cycle)
        except TimeoutError:
            cycle.transport.abort()


async def _end(cycle: RequestResponseCycle) -> None:
    body = msgspec.json.encode(error_object(_BUSY, "This server is being stopped; please ask again."))
    if not cycle.response_started:
        await cycle.send({"type": "http.response.start", "status": _BUSY.status, "headers": _fields(_BUSY, body)})
        await cycle.send({"type": "http.response.body", "body": body, "more_body": False})
    elif cycle.chunked_encoding and not cycle.response_complete:  # only our streams of events have no length
        await cycle.send({"type": "http.response.body", "body": event(body), "more_body": False})
    elif not cycle.response_complete:
        cycle.disconnected = True
        cycle.transport.abort()


def _fields(shape: Shape, body: bytes) -> list[tuple[bytes, bytes]]:
    return [
        (b"content-type", b"application/json"),
        (b"content-length", b"%d" % len(body)),
        (b"x-should-retry", b"true" if shape.retry else b"false"),
    ]
