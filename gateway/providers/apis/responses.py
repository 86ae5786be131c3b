"""OpenAI's Responses API, at a provider that speaks it. Spec: the OpenAI API reference, "Responses"."""

from collections.abc import Mapping
from typing import Any

import msgspec

from gateway.dialects.responses.calling import to_responses
from gateway.dialects.responses.hearing import Hearing, hear_whole
from gateway.providers.apis.ears import EventEar, Heard, translated
from gateway.providers.apis.failures import error_of
from gateway.providers.replies import as_object
from gateway.providers.upstream import Call, Chunk, Dialect, Wanted


class ResponsesApi:
    """Responses for chats; Embeddings are those of OpenAI's API."""

    dialect: Dialect = "responses"

    def __init__(self, api_key: str | None) -> None:
        self._headers = {"authorization": f"Bearer {api_key}"} if api_key else {}

    def headers(self, url: str, payload: bytes) -> dict[str, str]:
        """Return the key's header."""
        del url, payload
        return self._headers

    def chat(self, call: Call) -> Wanted:
        """Say a chat as a response that nobody keeps."""
        chat = {name: value for name, value in call.body.items() if name != "stream_options"}
        return Wanted("responses", to_responses(chat | {"max_completion_tokens": call.max_tokens}) | {"stream": True})

    def ear(self, provider: str, wanted: Wanted) -> EventEar:
        """Hear events, each of which names itself in its data."""
        del wanted
        hearing = Hearing()

        def hear(payload: bytes) -> Heard:
            data = as_object(payload, provider)
            return translated(payload, hearing.hear(str(data.get("type")), data), "responses")

        def whole(response: dict[str, Any]) -> Heard:
            return [Chunk(msgspec.json.encode(value), value) for value in hear_whole(response)]

        return EventEar(provider, hear, whole)

    def embeddings(self, body: dict[str, Any]) -> Wanted:
        """Return the request as it is."""
        return Wanted("embeddings", body)

    def embedded(self, reply: dict[str, Any], asked: dict[str, Any], headers: Mapping[str, str]) -> dict[str, Any]:
        """Return the reply as it is."""
        del asked, headers
        return reply

    def error(self, body: bytes) -> dict[str, Any]:
        """Return the error object."""
        return error_of(body)
