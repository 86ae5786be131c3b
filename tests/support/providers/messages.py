"""Anthropic's Messages: the prompt is counted in the first event, the output in the last but one."""

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from tests.support.providers.answer import Answer, Kind, Tokens
from tests.support.providers.dialect import Body, Told
from tests.support.providers.framing import sse
from tests.support.providers.script import Script

MEDIA_TYPE: Final = "text/event-stream"
DONE: Final[bytes | None] = None

_STOPS: Final = {"stop": "end_turn", "length": "max_tokens", "tool_calls": "tool_use"}
_ERRORS: Final = {
    400: "invalid_request_error",
    401: "authentication_error",
    404: "not_found_error",
    429: "rate_limit_error",
    529: "overloaded_error",
}


def usage(used: Tokens) -> dict[str, Any]:
    """Return usage as this API counts it: the classes of the input do not overlap, thinking is within the output."""
    prompt = used.prompt
    return {
        "input_tokens": prompt.fresh,
        "cache_read_input_tokens": prompt.read,
        "cache_creation_input_tokens": prompt.written + prompt.written_1h,
        "cache_creation": {
            "ephemeral_5m_input_tokens": prompt.written,
            "ephemeral_1h_input_tokens": prompt.written_1h,
        },
        "output_tokens": used.output,
        "output_tokens_details": {"thinking_tokens": used.reasoning},
    }


def events(script: Script, body: Body) -> Iterator[Told]:
    """Yield the events."""
    for name, data, made in _events(script, body):
        yield Told(name, {"type": name} | data, made)


def _events(script: Script, body: Body) -> Iterator[tuple[str, dict[str, Any], int]]:
    answer, made = script.answer, 0
    first = Tokens(answer.prompt, 1)  # an output count that stands for nothing yet, as the API has it
    told = script.usage_field("usage", usage, first)
    yield "message_start", {"message": _message(body) | told}, made
    yield "ping", {}, made
    for index, (kind, call, pieces) in enumerate(answer.runs()):
        yield "content_block_start", {"index": index, "content_block": _block(answer, kind, call, None)}, made
        for piece in pieces:
            made += 1
            yield "content_block_delta", {"index": index, "delta": _DELTAS[kind](piece)}, made
        if kind == "thought":
            sealed = {"type": "signature_delta", "signature": "c2VhbGVk"}
            yield "content_block_delta", {"index": index, "delta": sealed}, made
        yield "content_block_stop", {"index": index}, made
    end = {"stop_reason": _STOPS[answer.finish], "stop_sequence": None}
    yield "message_delta", {"delta": end} | script.usage_field("usage", usage, answer.tokens(made)), made
    yield "message_stop", {}, made


def whole(answer: Answer, script: Script, body: Body) -> Body:
    """Return the message."""
    content = [_block(answer, kind, call, "".join(pieces)) for kind, call, pieces in answer.runs()]
    ended = {"content": content, "stop_reason": _STOPS[answer.finish]}
    return _message(body) | ended | script.usage_field("usage", usage, answer.tokens(len(answer.pieces)))


def failure(status: int, code: str, message: str) -> Body:
    """Return an error object, whose type follows the status."""
    del code
    error = {"type": _ERRORS.get(status, "api_error"), "message": message}
    return {"type": "error", "error": error, "request_id": "req_1"}


def failing(code: str, message: str) -> tuple[str, Body]:
    """Return the event of an error."""
    return "error", failure(500, code, message)


def frame(name: str, data: Body, line_end: bytes) -> bytes:
    """Return a named event."""
    return sse(data, line_end, name)


_DELTAS: Final = {
    "thought": lambda piece: {"type": "thinking_delta", "thinking": piece},
    "text": lambda piece: {"type": "text_delta", "text": piece},
    "call": lambda piece: {"type": "input_json_delta", "partial_json": piece},
}


def _block(answer: Answer, kind: Kind, call: int, said: str | None) -> dict[str, Any]:
    """Return a block that says `said`, or one that has only begun."""
    match kind:
        case "thought":
            return {"type": "thinking", "thinking": said or "", "signature": "c2VhbGVk" if said else ""}
        case "text":
            return {"type": "text", "text": said or ""}
        case "call":
            called = answer.calls[call]
            given = msgspec.json.decode(said) if said else {}
            return {"type": "tool_use", "id": called.id, "name": called.name, "input": given}


def _message(body: Body) -> dict[str, Any]:
    return {
        "id": "msg_1", "type": "message", "role": "assistant", "model": str(body.get("model")), "content": [],
        "stop_reason": None, "stop_sequence": None,
    }  # fmt: skip
