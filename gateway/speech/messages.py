"""Anthropic's Messages. Spec: the Anthropic API reference, "Create a Message" and "Streaming Messages"."""

from collections.abc import Iterator
from typing import Any

import msgspec

from gateway.dialects.messages import BETAS
from gateway.dialects.messages.answering import Answering, Event, events_of, to_message
from gateway.dialects.messages.asking import to_chat
from gateway.dialects.messages.failures import from_chat_error
from gateway.providers.upstream import Chunk
from gateway.speech import Request
from gateway.wire.body import decode
from gateway.wire.request.chat_body import checked
from gateway.wire.request.controls import Headers
from gateway.wire.sse import event, named_events

_PREFIX = "msg_"


class _Heard(msgspec.Struct):
    """What is read of a provider's own event before it is passed on."""

    type: object = ""
    index: object = 0


_HEARD = msgspec.json.Decoder(_Heard)


class MessagesSpeech:
    """An answer in events.

    Args:
        message_id: what the message is called where its provider has no name of the kind for it.
        model: what the client asked for.
    """

    def __init__(self, message_id: str, model: str) -> None:
        self._id = message_id
        self._model = model
        self._answering: Answering | None = None
        self._native = False
        self._open: set[int] = set()
        self._last: bytes = b""

    def piece(self, chunk: Chunk) -> bytes:
        """Return a provider's event as it came, or the events that say what the chunk says.

        The event that holds the usage waits for the end, where its cost is known.
        """
        if chunk.dialect == "messages":
            self._native = True
            return self._passed(chunk.payload) if chunk.payload else b""
        if self._native or not chunk.value:  # a native answer that was stopped here: its end says so
            return b""
        if self._answering is None:
            self._answering = Answering(self._id, str(chunk.value.get("model") or self._model))
        return named_events(self._answering.say(chunk.value))

    def told(self, completion: dict[str, Any]) -> Iterator[bytes]:
        """Yield the events of a whole completion."""
        for one in self._ending(completion)[0]:
            yield named_events([one])

    def end(self, completion: dict[str, Any], money: dict[str, str]) -> bytes:
        """Return the events that close the message, the cost within its usage."""
        if self._last:
            last: list[Event] = [("message_delta", msgspec.json.decode(self._last)), _STOP]
        else:
            closing: list[Event] = [
                ("content_block_stop", {"type": "content_block_stop", "index": index}) for index in sorted(self._open)
            ]
            closing += [] if self._answering is None else self._answering.finish()[:-2]
            last = [*closing, *self._ending(completion)[1]]
        usage = last[-2][1].get("usage")
        last[-2][1]["usage"] = (usage if isinstance(usage, dict) else {}) | money
        return named_events(last)

    def whole(self, completion: dict[str, Any]) -> dict[str, Any]:
        """Return the message."""
        native = str(completion.get("id") or "")
        message_id = native if native.startswith(_PREFIX) else self._id
        return to_message(completion, message_id, str(completion.get("model") or self._model))

    def broken(self, error: dict[str, Any]) -> bytes:
        """Return the error as an event of its own."""
        return named_events([("error", from_chat_error(error["error"], None, None))])

    def _passed(self, payload: bytes) -> bytes:
        heard = _HEARD.decode(payload)
        match heard.type, heard.index:
            case "message_delta", _:
                self._last = payload
                return b""
            case "message_stop", _:
                return b""
            case "content_block_start", int(index):
                self._open.add(index)
            case "content_block_stop", int(index):
                self._open.discard(index)
            case _:
                pass
        return event(payload, str(heard.type))

    def _ending(self, completion: dict[str, Any]) -> tuple[list[Event], list[Event]]:
        """Return the events of a completion: all up to the end, and the two that end it."""
        events = events_of(self.whole(completion))
        return events[:-2], events[-2:]


_STOP: Event = ("message_stop", {"type": "message_stop"})


def read_messages(raw: bytes, request_id: str, headers: Headers) -> Request:
    """Read a request.

    Raises:
        BadRequest: with the path of the first field that is wrong or cannot be carried.
    """
    body = to_chat(decode(raw))
    if betas := headers.get("anthropic-beta"):
        body[BETAS] = betas
    fields = checked(body)
    speech = MessagesSpeech(_PREFIX + request_id.removeprefix("req_"), fields.model)
    return Request("messages", body, fields, bool(fields.stream), speech)
