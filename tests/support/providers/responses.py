"""OpenAI's Responses: each item of the output begins, grows and ends; usage comes with the end of the response."""

from collections.abc import Iterator
from typing import Any, Final

from tests.support.providers.answer import Answer, Kind, Tokens
from tests.support.providers.dialect import Body, Told
from tests.support.providers.framing import sse
from tests.support.providers.script import Script

MEDIA_TYPE: Final = "text/event-stream"
DONE: Final[bytes | None] = None


def usage(used: Tokens) -> dict[str, Any]:
    """Return usage as this API counts it; what was written for long is within what was written."""
    prompt = used.prompt
    details = {"cached_tokens": prompt.read, "cache_write_tokens": prompt.written + prompt.written_1h}
    return {
        "input_tokens": prompt.total,
        "input_tokens_details": details | ({"cache_write_1h_tokens": prompt.written_1h} if prompt.written_1h else {}),
        "output_tokens": used.output,
        "output_tokens_details": {"reasoning_tokens": used.reasoning},
        "total_tokens": used.total,
    }


def events(script: Script, body: Body) -> Iterator[Told]:
    """Yield the events, numbered in order."""
    for number, (name, data, made) in enumerate(_events(script, body)):
        yield Told(name, {"type": name, "sequence_number": number} | data, made)


def _events(script: Script, body: Body) -> Iterator[tuple[str, dict[str, Any], int]]:
    answer, made = script.answer, 0
    begun = _response(body, "in_progress")
    yield "response.created", {"response": begun}, made
    yield "response.in_progress", {"response": begun}, made
    for place, (kind, index, pieces) in enumerate(answer.runs()):
        at = {"output_index": place, "item_id": f"item_{place}"}
        part, stem, field = _PARTS[kind]
        empty = _item(answer, kind, index, place, "")
        yield "response.output_item.added", at | {"item": empty}, made
        where = at if part is None else at | {f"{part}_index": 0}
        if part == "content":
            yield "response.content_part.added", where | {"part": _text_part("")}, made
        for piece in pieces:
            made += 1
            yield f"{stem}.delta", where | {"delta": piece}, made
        said = "".join(pieces)
        yield f"{stem}.done", where | {field: said}, made
        if part == "content":
            yield "response.content_part.done", where | {"part": _text_part(said)}, made
        yield "response.output_item.done", at | {"item": _item(answer, kind, index, place, said)}, made
    ended = whole(answer, script, body)
    yield f"response.{ended['status']}", {"response": ended}, made


def whole(answer: Answer, script: Script, body: Body) -> Body:
    """Return the response."""
    output = [
        _item(answer, kind, index, place, "".join(pieces)) for place, (kind, index, pieces) in enumerate(answer.runs())
    ]
    cut = answer.finish == "length"
    ended = _response(body, "incomplete" if cut else "completed") | {"output": output}
    ended["incomplete_details"] = {"reason": "max_output_tokens"} if cut else None
    return ended | script.usage_field("usage", usage, answer.tokens(len(answer.pieces)))


def failure(status: int, code: str, message: str) -> Body:
    """Return an error object."""
    kind = "server_error" if status >= 500 else "invalid_request_error"
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}


def failing(code: str, message: str) -> tuple[str, Body]:
    """Return the event of an error."""
    return "error", {"type": "error", "code": code, "message": message, "param": None}


def frame(name: str, data: Body, line_end: bytes) -> bytes:
    """Return a named event."""
    return sse(data, line_end, name)


_PARTS: Final[dict[Kind, tuple[str | None, str, str]]] = {
    "thought": ("summary", "response.reasoning_summary_text", "text"),
    "text": ("content", "response.output_text", "text"),
    "call": (None, "response.function_call_arguments", "arguments"),
}
"""Of each kind of item: which index its events have, how they are named, and what their last one repeats."""


def _item(answer: Answer, kind: Kind, index: int, place: int, said: str) -> dict[str, Any]:
    head = {"id": f"item_{place}"}
    match kind:
        case "thought":
            return head | {"type": "reasoning", "summary": [{"type": "summary_text", "text": said}] if said else []}
        case "text":
            content = [_text_part(said)] if said else []
            return head | {"type": "message", "role": "assistant", "status": "completed", "content": content}
        case "call":
            call = answer.calls[index]
            return head | {"type": "function_call", "call_id": call.id, "name": call.name, "arguments": said}


def _text_part(said: str) -> dict[str, Any]:
    return {"type": "output_text", "text": said, "annotations": []}


def _response(body: Body, status: str) -> dict[str, Any]:
    return {
        "id": "resp_1", "object": "response", "created_at": 1, "status": status, "model": str(body.get("model")),
        "output": [], "error": None, "incomplete_details": None, "parallel_tool_calls": True, "tools": [],
        "tool_choice": "auto", "usage": None,
    }  # fmt: skip
