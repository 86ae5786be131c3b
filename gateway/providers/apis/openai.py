"""The OpenAI API: OpenAI itself, the bundled engine, vLLM, and most others.

Spec: the OpenAI API reference for chat completions and embeddings; vLLM's extensions `continuous_usage_stats` and
`cache_salt`, which the bundled engine shares.
"""

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from gateway.dialects.chat import plain
from gateway.providers.apis.canonical import Canonical
from gateway.providers.apis.ears import EventEar, Heard
from gateway.providers.apis.failures import error_of
from gateway.providers.apis.manners import Manners
from gateway.providers.replies import as_object
from gateway.providers.upstream import Call, Dialect, Wanted

IDLE: Final = 1
"""A priority behind that of a call that names none, which is 0."""


class OpenAIApi:
    """Chat Completions and Embeddings."""

    dialect: Dialect = "chat"

    def __init__(self, api_key: str | None, manners: Manners) -> None:
        self._headers = {"authorization": f"Bearer {api_key}"} if api_key else {}
        self._manners = manners
        self._options = {"include_usage": True} | ({"continuous_usage_stats": True} if manners.usage_per_chunk else {})

    def headers(self, url: str, payload: bytes) -> dict[str, str]:
        """Return the key's header."""
        del url, payload
        return self._headers

    def chat(self, call: Call) -> Wanted:
        """Return the call as it is, bounded in the one field that this kind is known to obey, always with usage."""
        manners = self._manners
        body = call.body if call.spoken == "chat" else plain(call.body, manners.knows)
        if manners.renamed or manners.unsaid:
            kept = {name: value for name, value in body.items() if name not in manners.unsaid}
            body = {manners.renamed.get(name, name): value for name, value in kept.items()}
        asked = body | {manners.limit_field: call.max_tokens, "stream": True}
        if manners.usage_asked:
            asked["stream_options"] = self._options
        if manners.salted:
            asked["cache_salt"] = f"{call.tenant}|{body.get('cache_salt') or ''}"
        if manners.ranked and call.idle:
            asked["priority"] = IDLE
        return Wanted("chat/completions", asked)

    def ear(self, provider: str, wanted: Wanted) -> EventEar:
        """Hear chunks, which are what we have inside already, or nearly."""
        del wanted
        canonical = Canonical()

        def hear(payload: bytes) -> Heard:
            return canonical.hear(payload, as_object(payload, provider))

        def whole(completion: dict[str, Any]) -> Heard:
            chunk = completion if completion.get("object") == "error" else _as_chunk(completion)
            return canonical.hear(msgspec.json.encode(chunk), chunk)

        return EventEar(provider, hear, whole)

    def embeddings(self, body: dict[str, Any]) -> Wanted:
        """Return the request as it is."""
        return Wanted("embeddings", body)

    def embedded(self, reply: dict[str, Any], asked: dict[str, Any], headers: Mapping[str, str]) -> dict[str, Any]:
        """Return the reply as it is."""
        del asked, headers
        return reply

    def error(self, body: bytes) -> dict[str, Any]:
        """Return the error object, wherever a provider puts it."""
        return error_of(body)


def _as_chunk(completion: dict[str, Any]) -> dict[str, Any]:
    """Return a completion as the one chunk of a stream that says all of it, usage included."""
    choices = completion.get("choices")
    parts = [part for part in choices if isinstance(part, dict)] if isinstance(choices, list) else []
    return completion | {"object": "chat.completion.chunk", "choices": [_as_part(part) for part in parts]}


def _as_part(choice: dict[str, Any]) -> dict[str, Any]:
    said = choice.get("message")
    message: dict[str, Any] = dict(said) if isinstance(said, dict) else {}
    calls = message.get("tool_calls")
    if isinstance(calls, list):
        message["tool_calls"] = [{"index": index} | call for index, call in enumerate(calls) if isinstance(call, dict)]
    return {name: value for name, value in choice.items() if name != "message"} | {"delta": message}
