"""AWS Bedrock's Converse: named events in binary frames; usage comes in the last of them."""

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from tests.support.providers.answer import Answer, Kind, Tokens
from tests.support.providers.dialect import Body, Told
from tests.support.providers.framing import binary
from tests.support.providers.script import Script

MEDIA_TYPE: Final = "application/vnd.amazon.eventstream"
DONE: Final[bytes | None] = None

_STOPS: Final = {"stop": "end_turn", "length": "max_tokens", "tool_calls": "tool_use"}
_EXCEPTION: Final = "Exception"


def usage(used: Tokens) -> dict[str, Any]:
    """Return usage as this API counts it: the classes of the input do not overlap."""
    prompt = used.prompt
    told: dict[str, Any] = {
        "inputTokens": prompt.fresh,
        "outputTokens": used.output,
        "totalTokens": used.total,
        "cacheReadInputTokens": prompt.read,
        "cacheWriteInputTokens": prompt.written + prompt.written_1h,
    }
    details = [{"ttl": ttl, "inputTokens": n} for ttl, n in (("5m", prompt.written), ("1h", prompt.written_1h)) if n]
    return told | {"cacheDetails": details} if details else told


def events(script: Script, body: Body) -> Iterator[Told]:
    """Yield the events."""
    del body
    answer, made = script.answer, 0
    yield Told("messageStart", {"role": "assistant"}, made)
    for place, (kind, index, pieces) in enumerate(answer.runs()):
        at = {"contentBlockIndex": place}
        if kind == "call":
            call = answer.calls[index]
            start = {"toolUse": {"toolUseId": call.id, "name": call.name}}
            yield Told("contentBlockStart", {"start": start} | at, made)
        for piece in pieces:
            made += 1
            yield Told("contentBlockDelta", {"delta": _DELTAS[kind](piece)} | at, made)
        if kind == "thought":
            sealed = {"reasoningContent": {"signature": "c2VhbGVk"}}
            yield Told("contentBlockDelta", {"delta": sealed} | at, made)
        yield Told("contentBlockStop", at, made)
    yield Told("messageStop", {"stopReason": _STOPS[answer.finish]}, made)
    told = script.usage_field("usage", usage, answer.tokens(made))
    yield Told("metadata", told | {"metrics": {"latencyMs": 1}}, made)


def whole(answer: Answer, script: Script, body: Body) -> Body:
    """Return the reply."""
    del body
    content = [_block(answer, kind, index, "".join(pieces)) for kind, index, pieces in answer.runs()]
    message = {"message": {"role": "assistant", "content": content}}
    told = script.usage_field("usage", usage, answer.tokens(len(answer.pieces)))
    return {"output": message, "stopReason": _STOPS[answer.finish], "metrics": {"latencyMs": 1}} | told


def failure(status: int, code: str, message: str) -> Body:
    """Return an error object; its kind is in a header that this fake leaves out."""
    del status, code
    return {"message": message}


def failing(code: str, message: str) -> tuple[str, Body]:
    """Return an exception as an event."""
    del code
    return f"internalServer{_EXCEPTION}", {"message": message}


def frame(name: str, data: Body, line_end: bytes) -> bytes:
    """Return a binary frame; lines have no end here."""
    del line_end
    return binary("exception" if name.endswith(_EXCEPTION) else "event", name, data)


_DELTAS: Final = {
    "thought": lambda piece: {"reasoningContent": {"text": piece}},
    "text": lambda piece: {"text": piece},
    "call": lambda piece: {"toolUse": {"input": piece}},
}


def _block(answer: Answer, kind: Kind, index: int, said: str) -> dict[str, Any]:
    match kind:
        case "thought":
            return {"reasoningContent": {"reasoningText": {"text": said, "signature": "c2VhbGVk"}}}
        case "text":
            return {"text": said}
        case "call":
            call = answer.calls[index]
            return {"toolUse": {"toolUseId": call.id, "name": call.name, "input": msgspec.json.decode(said or "{}")}}
