"""Server-sent events: split a byte stream into payloads, and write payloads as events.

Spec: WHATWG HTML, "Server-sent events". Bytes are never decoded on the way through, so a character that is split over
two reads cannot break.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

DONE = b"[DONE]"
COMMENT = b": keep-alive\n\n"
"""What a client reads and hears nothing of."""

_MARK = b"\xef\xbb\xbf"
"""What some begin a text with, and no reader is to see."""

_LINE_END = re.compile(rb"\r\n|\n|\r")


class EventTooLong(ValueError):
    """A single event grew past the limit; the stream is not one we should follow."""


class EventSplitter:
    """Collects bytes as they come and gives back the `data` payload of every complete event."""

    def __init__(self, limit_bytes: int = 16 * 1024 * 1024) -> None:
        self._limit = limit_bytes
        self._rest = bytearray()  # of a line whose end has not come
        self._ended_in_cr = False
        self._data: list[bytes] = []
        self._size = 0

    def feed(self, chunk: bytes) -> list[bytes]:
        """Return the payloads completed by `chunk`; comments and fields other than `data` are dropped.

        Each byte is looked at once, however the reads fall.

        Raises:
            EventTooLong: an unfinished event holds more than the limit.
        """
        if not chunk:
            return []
        if self._ended_in_cr:  # a \r ends a line by itself, so this \n is the second half of the same end
            chunk = chunk.removeprefix(b"\n")
        self._ended_in_cr = chunk.endswith(b"\r")
        *lines, tail = _LINE_END.split(chunk)
        if lines:
            lines[0] = bytes(self._rest) + lines[0]
            self._rest.clear()
        self._rest += tail
        events = [event for line in lines if (event := self._line(line)) is not None]
        if self._size + len(self._rest) > self._limit:
            raise EventTooLong(f"an event of the stream is longer than {self._limit} bytes")
        return events

    def end(self) -> bytes | None:
        """Return the payload of the event inside which the stream has ended, if it ended inside one."""
        return next(iter(self.feed(b"\n\n")), None)

    def _line(self, line: bytes) -> bytes | None:
        if not line:
            if not self._data:
                return None
            event, self._data, self._size = b"\n".join(self._data), [], 0
            return event
        name, _, value = line.partition(b":")
        if name.removeprefix(_MARK) == b"data":
            self._data.append(value.removeprefix(b" "))
            self._size += len(value) + 1  # so that empty lines count as well
        return None


def event(payload: bytes, name: str = "") -> bytes:
    """Return one event that carries `payload`, which is JSON: a line break in it stands between tokens and may go."""
    head = b"event: " + name.encode() + b"\n" if name else b""
    return head + b"data: " + payload.replace(b"\n", b"") + b"\n\n"


def named_events(told: Iterable[tuple[str, Mapping[str, Any]]]) -> bytes:
    """Return events, each with its name and its data as JSON."""
    return b"".join(event(msgspec.json.encode(data), name) for name, data in told)
