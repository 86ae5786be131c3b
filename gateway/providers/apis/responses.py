"""OpenAI's Responses API, at a provider that speaks it. Spec: the OpenAI API reference, "Responses"."""

from typing import Any

import msgspec

from gateway.dialects.responses.calling import to_responses
from gateway.dialects.responses.hearing import Hearing, hear_whole
from gateway.providers.apis.ears import EventEar, Heard, translated
from gateway.providers.apis.manners import OPENAI
from gateway.providers.apis.openai import OpenAIApi
from gateway.providers.replies import as_object
from gateway.providers.upstream import Call, Chunk, Dialect, Wanted


class ResponsesApi(OpenAIApi):
    """Responses for chats; all else is as in OpenAI's API."""

    dialect: Dialect = "responses"

    def __init__(self, api_key: str | None) -> None:
        super().__init__(api_key, OPENAI)

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
