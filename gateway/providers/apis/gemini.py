"""Google's Gemini API. Spec: the Gemini API reference, v1beta, "Generating content" and "Embeddings"."""

from collections.abc import Callable, Mapping
from typing import Any

from gateway.dialects.gemini.calling import to_gemini
from gateway.dialects.gemini.embedding import to_chat_embeddings, to_gemini_embeddings
from gateway.dialects.gemini.failures import to_chat_error
from gateway.dialects.gemini.hearing import Hearing
from gateway.dialects.gemini.names import to_resource
from gateway.providers.apis.ears import EventEar, Heard, translated
from gateway.providers.replies import as_object, json_of
from gateway.providers.upstream import Call, Dialect, Wanted


class GeminiApi:
    """Gemini. `clock` gives seconds since the epoch: the API does not say when an answer began."""

    dialect: Dialect = "gemini"

    def __init__(self, api_key: str | None, clock: Callable[[], float]) -> None:
        self._headers = {"x-goog-api-key": api_key} if api_key else {}
        self._clock = clock

    def headers(self, url: str, payload: bytes) -> dict[str, str]:
        """Return the key's header."""
        del url, payload
        return self._headers

    def chat(self, call: Call) -> Wanted:
        """Say a chat as contents, to be answered in events; without `alt` it would be a list of JSON."""
        asked = to_gemini(call.body | {"max_completion_tokens": call.max_tokens})
        return Wanted(f"{to_resource(call.body['model'])}:streamGenerateContent?alt=sse", asked)

    def ear(self, provider: str, wanted: Wanted) -> EventEar:
        """Hear events, each of which is a whole response."""
        del wanted
        hearing = Hearing(provider, int(self._clock()))

        def hear(payload: bytes) -> Heard:
            return translated(payload, hearing.hear(as_object(payload, provider)), "gemini")

        return EventEar(provider, hear, lambda whole: translated(b"", hearing.hear(whole), "gemini"))

    def embeddings(self, body: dict[str, Any]) -> Wanted:
        """Say an embeddings request, a request of its own for each text."""
        return Wanted(f"{to_resource(body['model'])}:batchEmbedContents", to_gemini_embeddings(body))

    def embedded(self, reply: dict[str, Any], asked: dict[str, Any], headers: Mapping[str, str]) -> dict[str, Any]:
        """Return the vectors as the request wants them."""
        del headers
        return to_chat_embeddings(reply, asked)

    def error(self, body: bytes) -> dict[str, Any]:
        """Return the error of a chat that says the same."""
        return to_chat_error(json_of(body))["error"]
