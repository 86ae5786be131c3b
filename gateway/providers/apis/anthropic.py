"""Anthropic's Messages API. Spec: the Anthropic API reference, "Create a Message" and "Streaming Messages"."""

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec

from gateway.dialects.messages import BETAS
from gateway.dialects.messages.calling import to_messages
from gateway.dialects.messages.failures import to_chat_error
from gateway.dialects.messages.hearing import Hearing, events_of_whole
from gateway.errors import BadRequest
from gateway.providers.apis.ears import EventEar, Heard, translated
from gateway.providers.replies import as_object, json_of
from gateway.providers.upstream import NO_HEADERS, Call, Dialect, Wanted

VERSION: Final = "2023-06-01"
_VISIBLE: Final = re.compile(r"[ -~]+")
_NOT_SAID: Final = frozenset({"stream", "stream_options", BETAS})


class AnthropicApi:
    """Messages. `clock` gives seconds since the epoch: the API does not say when an answer began."""

    dialect: Dialect = "messages"

    def __init__(self, api_key: str | None, clock: Callable[[], float]) -> None:
        self._headers = {"anthropic-version": VERSION} | ({"x-api-key": api_key} if api_key else {})
        self._clock = clock

    def headers(self, url: str, payload: bytes) -> dict[str, str]:
        """Return the key and the version of the API."""
        del url, payload
        return self._headers

    def chat(self, call: Call) -> Wanted:
        """Say a chat as a message; of a client of this API everything is as it came."""
        chat = {name: value for name, value in call.body.items() if name not in _NOT_SAID}
        body = to_messages(chat | {"max_tokens": call.max_tokens}) | {"stream": True}
        return Wanted("v1/messages", body, _betas(call.body.get(BETAS)))

    def ear(self, provider: str, wanted: Wanted) -> EventEar:
        """Hear events, each of which names itself in its data."""
        del wanted
        hearing = Hearing(provider, int(self._clock()))

        def hear(payload: bytes) -> Heard:
            data = as_object(payload, provider)
            return translated(payload, hearing.hear(str(data.get("type")), data), "messages")

        def whole(message: dict[str, Any]) -> Heard:
            events = [data | {"type": name} for name, data in events_of_whole(message)]
            return [chunk for event in events for chunk in hear(msgspec.json.encode(event))]

        return EventEar(provider, hear, whole)

    def embeddings(self, body: dict[str, Any]) -> Wanted:
        """Refuse: there are none.

        Raises:
            BadRequest: always.
        """
        del body
        raise BadRequest("This provider has no embeddings.", param="model")

    def embedded(self, reply: dict[str, Any], asked: dict[str, Any], headers: Mapping[str, str]) -> dict[str, Any]:
        """Return nothing that could be taken for embeddings."""
        del reply, asked, headers
        return {}

    def error(self, body: bytes) -> dict[str, Any]:
        """Return the error of a chat that says the same."""
        said = json_of(body)
        return to_chat_error(said)["error"] if isinstance(said, dict) else {}


def _betas(said: object) -> Mapping[str, str]:
    """Return the header that says what of tomorrow's API is meant.

    Raises:
        BadRequest: it is no text that a header can hold.
    """
    if not said:
        return NO_HEADERS
    if not isinstance(said, str) or not _VISIBLE.fullmatch(said):
        raise BadRequest("The betas must be visible characters of ASCII, parted by commas.", param="anthropic-beta")
    return {"anthropic-beta": said}
