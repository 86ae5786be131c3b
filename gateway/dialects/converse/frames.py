"""Cut the bytes of a stream into events: the frames of `application/vnd.amazon.eventstream`.

Spec: Amazon Web Services, "Event stream encoding"; botocore reads the frames and checks their sums.
"""

import struct
from typing import Any, NamedTuple

import msgspec
from botocore.eventstream import EventStreamBuffer, ParserError

from gateway.dialects.converse.failures import FAILED
from gateway.errors import UpstreamError


class Frame(NamedTuple):
    """One event: its name, its payload as it came, and what that says."""

    name: str
    payload: bytes
    data: dict[str, Any]


class Frames:
    """Collects bytes as they come and gives back every complete event.

    Args:
        provider: its name in the policy, for errors.
    """

    def __init__(self, provider: str) -> None:
        self._provider = provider
        self._buffer = EventStreamBuffer()

    def feed(self, read: bytes) -> list[Frame]:
        """Return the events completed by `read`.

        Raises:
            UpstreamError: the bytes are no frames, or damaged.
        """
        self._buffer.add_data(read)
        try:
            return [_frame(message.headers, message.payload) for message in self._buffer]
        except (ParserError, KeyError, TypeError, ValueError, struct.error) as error:
            text = f"Provider {self._provider!r} sent an event that is damaged."
            raise UpstreamError(text, self._provider) from error


def _frame(headers: dict[str, Any], payload: bytes) -> Frame:
    match headers[":message-type"]:
        case "event":
            return Frame(headers[":event-type"], payload, _object(payload))
        case "exception":
            return Frame(headers[":exception-type"], payload, _object(payload))
        case _:
            said = f"{headers[':error-code']}: {headers[':error-message']}"
            return Frame(f"unmodeled{FAILED}", payload, {"message": said})


def _object(payload: bytes) -> dict[str, Any]:
    try:
        value = msgspec.json.decode(payload)
    except RecursionError:
        value = None
    if not isinstance(value, dict):
        raise TypeError("an event is not a JSON object")
    return value
