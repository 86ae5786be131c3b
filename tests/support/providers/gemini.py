"""Google's Gemini API: every event is a whole reply of its own, with the usage so far; calls come in one piece."""

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from tests.support.providers.answer import Answer, Tokens
from tests.support.providers.dialect import Body, Told
from tests.support.providers.framing import sse
from tests.support.providers.script import Script

MEDIA_TYPE: Final = "text/event-stream"
DONE: Final[bytes | None] = None

_STOPS: Final = {"stop": "STOP", "length": "MAX_TOKENS", "tool_calls": "STOP"}
_STATUSES: Final = {400: "INVALID_ARGUMENT", 404: "NOT_FOUND", 429: "RESOURCE_EXHAUSTED", 503: "UNAVAILABLE"}


def usage(used: Tokens) -> dict[str, Any]:
    """Return usage as this API counts it: cached within the prompt, thoughts outside the candidates."""
    told: dict[str, Any] = {
        "promptTokenCount": used.prompt.total,
        "candidatesTokenCount": used.said,
        "totalTokenCount": used.total,
        "promptTokensDetails": [{"modality": "TEXT", "tokenCount": used.prompt.total}],
    }
    if used.prompt.read:
        told["cachedContentTokenCount"] = used.prompt.read
    if used.reasoning:
        told["thoughtsTokenCount"] = used.reasoning
    return told


def events(script: Script, body: Body) -> Iterator[Told]:
    """Yield the replies."""
    answer, made = script.answer, 0

    def told(parts: list[dict[str, Any]], finish: str | None = None) -> Told:
        candidate: dict[str, Any] = {"content": {"parts": parts, "role": "model"}, "index": 0}
        if finish is not None:
            candidate["finishReason"] = finish
        more = script.usage_field("usageMetadata", usage, answer.tokens(made))
        return Told("", _head(body) | {"candidates": [candidate]} | more, made)

    for kind, index, pieces in answer.runs():
        if kind == "call":
            made += len(pieces)
            yield told([_call(answer, index)])
        else:
            for piece in pieces:
                made += 1
                yield told([_said(piece, thought=kind == "thought")])
    yield told([{"text": ""}], _STOPS[answer.finish])


def whole(answer: Answer, script: Script, body: Body) -> Body:
    """Return the reply."""
    parts = [
        _call(answer, index) if kind == "call" else _said("".join(pieces), thought=kind == "thought")
        for kind, index, pieces in answer.runs()
    ]
    candidate = {"content": {"parts": parts, "role": "model"}, "index": 0, "finishReason": _STOPS[answer.finish]}
    more = script.usage_field("usageMetadata", usage, answer.tokens(len(answer.pieces)))
    return _head(body) | {"candidates": [candidate]} | more


def failure(status: int, code: str, message: str) -> Body:
    """Return an error object, whose status names the HTTP one."""
    del code
    return {"error": {"code": status, "message": message, "status": _STATUSES.get(status, "INTERNAL")}}


def failing(code: str, message: str) -> tuple[str, Body]:
    """Return an error object as an event."""
    return "", failure(500, code, message)


def frame(name: str, data: Body, line_end: bytes) -> bytes:
    """Return a nameless event."""
    del name
    return sse(data, line_end)


def _said(text: str, *, thought: bool) -> dict[str, Any]:
    return {"text": text, "thought": True} if thought else {"text": text}


def _call(answer: Answer, index: int) -> dict[str, Any]:
    call = answer.calls[index]
    arguments = msgspec.json.decode("".join(call.arguments) or "{}")
    return {"functionCall": {"id": call.id, "name": call.name, "args": arguments}, "thoughtSignature": "c2VhbGVk"}


def _head(body: Body) -> dict[str, Any]:
    return {"modelVersion": str(body.get("model")), "responseId": "resp-1"}
