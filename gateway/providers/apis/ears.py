"""Listen to a stream of server-sent events, whatever its pieces are cut into."""

from collections.abc import Callable
from typing import Any, Final

from gateway.errors import UpstreamError
from gateway.providers.replies import MOST_COMPLETION_BYTES, as_object, json_of
from gateway.providers.upstream import Chunk, Dialect
from gateway.wire.sse import DONE, EventSplitter, EventTooLong

Heard = list[Chunk]

MOST: Final = MOST_COMPLETION_BYTES


class EventEar:
    """Hears the events of one answer. Some providers answer in one piece though a stream was asked for; so may this.

    Args:
        provider: its name, for errors.
        hear: makes chunks of the data of an event.
        whole: makes chunks of an answer that came in one piece.
    """

    def __init__(self, provider: str, hear: Callable[[bytes], Heard], whole: Callable[[dict[str, Any]], Heard]) -> None:
        self.done = False
        self._provider = provider
        self._hear = hear
        self._tell = whole
        self._splitter = EventSplitter(MOST)
        self._begun = False
        self._whole: bytearray | None = None

    def feed(self, read: bytes) -> Heard:
        """Return the chunks that `read` completes."""
        if not self._begun and (start := read.lstrip()[:1]):
            self._begun = True
            self._whole = bytearray() if start == b"{" else None  # no event begins so
        if self._whole is not None:
            self._whole += read
            if len(self._whole) > MOST:
                raise UpstreamError(f"Provider {self._provider!r} sent more than {MOST // 2**20} MiB.", self._provider)
            return []
        try:
            payloads = self._splitter.feed(read)
        except EventTooLong:
            raise UpstreamError(
                f"Provider {self._provider!r} sent an event that is too long.", self._provider
            ) from None
        chunks: Heard = []
        for payload in payloads:
            if payload == DONE:
                self.done = True
                break
            chunks += self._hear(payload)
        return chunks

    def end(self) -> Heard:
        """Return what the end of the stream completes.

        Some end without the blank line that ends an event. What is broken here is missed only by an answer that is not
        complete, and whoever meters it sees that.
        """
        if self._whole is not None:
            return self._tell(as_object(bytes(self._whole), self._provider))
        rest = self._splitter.end()
        return self._hear(rest) if rest is not None and isinstance(json_of(rest), dict) else []


def translated(payload: bytes, values: list[dict[str, Any]], dialect: Dialect) -> Heard:
    """Return the chunks of an event that says `values`, its payload once."""
    first, *rest = values or [{}]
    return [Chunk(payload, first, dialect), *(Chunk(b"", value, dialect) for value in rest)]
