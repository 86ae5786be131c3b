"""OpenAI's Chat Completions.

Usage comes in a chunk of its own, and only for those who ask; a `continuous` provider, as our own machines are, tells
it with every chunk for those who ask for that.
"""

from collections.abc import Iterator
from typing import Any, Final

from tests.support.providers.answer import Answer, Piece, Tokens
from tests.support.providers.dialect import Body, Told
from tests.support.providers.framing import sse
from tests.support.providers.script import Script

MEDIA_TYPE: Final = "text/event-stream"
DONE: Final[bytes | None] = b"[DONE]"


def usage(used: Tokens) -> dict[str, Any]:
    """Return usage as this API counts it: cached within the prompt, reasoning within the completion."""
    prompt: dict[str, Any] = {"cached_tokens": used.prompt.read}
    if used.prompt.written or used.prompt.written_1h:
        prompt |= {"cache_write_tokens": used.prompt.written, "cache_write_1h_tokens": used.prompt.written_1h}
    return {
        "prompt_tokens": used.prompt.total,
        "completion_tokens": used.output,
        "total_tokens": used.total,
        "prompt_tokens_details": prompt,
        "completion_tokens_details": {"reasoning_tokens": used.reasoning},
    }


def events(script: Script, body: Body) -> Iterator[Told]:
    """Yield the chunks."""
    answer, options = script.answer, body.get("stream_options") or {}
    each, made = bool(options.get("continuous_usage_stats")), 0

    def told(delta: dict[str, Any], finish: str | None = None, *, with_usage: bool = each) -> Told:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        more = script.usage_field("usage", usage, answer.tokens(made)) if with_usage else {}
        return Told("", _head(body) | {"choices": [choice]} | more, made)

    yield told({"role": "assistant", "content": ""})
    for kind, index, pieces in answer.runs():
        if kind == "call":
            call = answer.calls[index]
            function = {"name": call.name, "arguments": ""}
            yield told({"tool_calls": [{"index": index, "id": call.id, "type": "function", "function": function}]})
        for piece in pieces:
            made += 1
            yield told(_delta(Piece(kind, piece, index)))
    yield told({}, answer.finish, with_usage=each or script.usage == "with_finish")
    if options.get("include_usage") and script.usage not in {"with_finish", "never"}:
        more = script.usage_field("usage", usage, answer.tokens(made))
        yield Told("", _head(body) | {"choices": []} | more, made)


def whole(answer: Answer, script: Script, body: Body) -> Body:
    """Return the completion."""
    message: dict[str, Any] = {"role": "assistant", "content": answer.text or None}
    if answer.thoughts:
        message["reasoning_content"] = "".join(answer.thoughts)
    if answer.calls:
        message["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": "".join(call.arguments)}}
            for call in answer.calls
        ]
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": answer.finish}
    more = script.usage_field("usage", usage, answer.tokens(len(answer.pieces)))
    return _head(body) | {"object": "chat.completion", "choices": [choice]} | more


def failure(status: int, code: str, message: str) -> Body:
    """Return an error object."""
    kind = "server_error" if status >= 500 else "invalid_request_error"
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}


def failing(code: str, message: str) -> tuple[str, Body]:
    """Return an error object as an event."""
    return "", failure(500, code, message)


def frame(name: str, data: Body, line_end: bytes) -> bytes:
    """Return a nameless event."""
    del name
    return sse(data, line_end)


def _delta(piece: Piece) -> dict[str, Any]:
    match piece.kind:
        case "thought":
            return {"reasoning_content": piece.text}
        case "text":
            return {"content": piece.text}
        case "call":
            return {"tool_calls": [{"index": piece.call, "function": {"arguments": piece.text}}]}


def _head(body: Body) -> dict[str, Any]:
    return {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": str(body.get("model"))}
