"""Server-sent events: split a byte stream into payloads, and write payloads as events.

Spec: WHATWG HTML, "Server-sent events". Bytes are never decoded on the way through, so a character that is split over
two reads cannot break.
"""

import re

DONE = b"[DONE]"
_LINE_END = re.compile(rb"\r\n|\n|\r")


class EventTooLong(ValueError):
    """A single event grew past the limit; the stream is not one we should follow."""


class EventSplitter:
    """Collects bytes as they come and gives back the `data` payload of every complete event."""

    def __init__(self, limit_bytes: int = 16 * 1024 * 1024) -> None:
        self._limit = limit_bytes
        self._rest = b""
        self._data: list[bytes] = []
        self._size = 0

    def feed(self, chunk: bytes) -> list[bytes]:
        """Return the payloads completed by `chunk`; comments and fields other than `data` are dropped.

        Raises:
            EventTooLong: an unfinished event holds more than the limit.
        """
        # A trailing \r may be the first half of \r\n: it waits for the next read.
        buffer = self._rest + chunk
        held = b"\r" if buffer.endswith(b"\r") else b""
        *lines, tail = _LINE_END.split(buffer.removesuffix(held))
        self._rest = tail + held
        events = [event for line in lines if (event := self._line(line)) is not None]
        if self._size + len(self._rest) > self._limit:
            raise EventTooLong(f"an event of the stream is longer than {self._limit} bytes")
        return events

    @property
    def unfinished(self) -> bool:
        """Whether the stream stopped inside an event."""
        return bool(self._data or self._rest.strip())

    def _line(self, line: bytes) -> bytes | None:
        if not line:
            if not self._data:
                return None
            event, self._data, self._size = b"\n".join(self._data), [], 0
            return event
        name, _, value = line.partition(b":")
        if name == b"data":
            self._data.append(value.removeprefix(b" "))
            self._size += len(value)
        return None


def event(payload: bytes) -> bytes:
    """Return one event that carries `payload`; payloads are JSON and hold no line breaks."""
    return b"data: " + payload + b"\n\n"
