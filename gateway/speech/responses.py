"""OpenAI's Responses, without its store. Spec: the OpenAI API reference, "Responses" and "Streaming events"."""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from gateway.dialects.responses.answering import Answer, reply
from gateway.dialects.responses.asking import to_chat
from gateway.providers.upstream import Chunk
from gateway.speech import Request
from gateway.wire.body import decode
from gateway.wire.request.chat_body import checked
from gateway.wire.request.controls import Headers
from gateway.wire.sse import event, named_events
from gateway.wire.unfold import unfold

Event = tuple[str, dict[str, Any]]

_PREFIX = "resp_"
_LAST = frozenset({"response.completed", "response.incomplete"})


class _Heard(msgspec.Struct):
    """What is read of a provider's own event before it is passed on."""

    type: object = ""
    sequence_number: object = 0


_HEARD = msgspec.json.Decoder(_Heard)


class ResponsesSpeech:
    """An answer in events; `asked` is the client's own request, parts of which it repeats."""

    def __init__(self, response_id: str, asked: Mapping[str, Any]) -> None:
        self._id = response_id
        self._asked = asked
        self._answer = Answer(response_id, asked)
        self._native = False
        self._sent = 0
        self._last: bytes = b""

    def piece(self, chunk: Chunk) -> bytes:
        """Return a provider's event as it came, or the events that say what the chunk says.

        The last event, which holds the whole response, waits for the end, where its cost is known.
        """
        if chunk.dialect == "responses":
            self._native = True
            return self._passed(chunk.payload) if chunk.payload else b""
        if self._native or not chunk.value:  # a native answer that was stopped here: its end says so
            return b""
        return named_events(self._answer.feed(chunk.value))

    def told(self, completion: dict[str, Any]) -> Iterator[bytes]:
        """Yield the events of a whole completion."""
        for chunk in unfold(completion):
            yield named_events(self._answer.feed(chunk))

    def end(self, completion: dict[str, Any], money: dict[str, str]) -> bytes:
        """Return the event that holds the whole response, the cost within its usage."""
        if self._last:
            data = msgspec.json.decode(self._last)
            events: list[Event] = [(data["type"], data)]
        elif self._native:
            response = reply(completion, self._id, self._asked)
            kind = f"response.{response['status']}"
            events = [(kind, {"type": kind, "sequence_number": self._sent, "response": response})]
        else:
            events = [*self._answer.feed({"usage": completion.get("usage")}), *self._answer.end()]
        if not events:  # what made no sense has ended the stream before
            return b""
        response = events[-1][1]["response"]
        response["usage"] = (response.get("usage") or {}) | money
        return named_events(events)

    def whole(self, completion: dict[str, Any]) -> dict[str, Any]:
        """Return the response."""
        return reply(completion, self._id, self._asked)

    def broken(self, error: dict[str, Any]) -> bytes:
        """Return the events that say that the answer has failed."""
        if self._native:
            said = error["error"]
            data = {"type": "error", "sequence_number": self._sent} | {
                n: said.get(n) for n in ("code", "message", "param")
            }
            return named_events([("error", data)])
        return named_events(self._answer.feed(error))

    def _passed(self, payload: bytes) -> bytes:
        heard = _HEARD.decode(payload)
        name = str(heard.type)
        if name in _LAST:
            self._last = payload
            return b""
        if isinstance(heard.sequence_number, int):
            self._sent = heard.sequence_number + 1
        return event(payload, name)


def read_responses(raw: bytes, request_id: str, headers: Headers) -> Request:
    """Read a request.

    Raises:
        BadRequest: with the path of the first field that is wrong or cannot be carried.
    """
    del headers
    asked = decode(raw)
    body = to_chat(asked)
    fields = checked(body)
    speech = ResponsesSpeech(_PREFIX + request_id.removeprefix("req_"), asked)
    return Request("responses", body, fields, bool(asked.get("stream")), speech)
