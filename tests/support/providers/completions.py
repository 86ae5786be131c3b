"""OpenAI's Completions: text alone."""

from collections.abc import Iterator
from typing import Any, Final

from tests.support.providers import chat
from tests.support.providers.answer import Answer
from tests.support.providers.dialect import Body, Told
from tests.support.providers.script import Script

MEDIA_TYPE: Final = chat.MEDIA_TYPE
DONE: Final[bytes | None] = chat.DONE
failure, failing, frame = chat.failure, chat.failing, chat.frame


def events(script: Script, body: Body) -> Iterator[Told]:
    """Yield the chunks."""
    answer, made = script.answer, len(script.answer.thoughts)
    for text in answer.texts:
        made += 1
        yield Told("", _head(body) | {"choices": [_choice(text, None)]}, made)
    finish = "stop" if answer.finish == "tool_calls" else answer.finish
    yield Told("", _head(body) | {"choices": [_choice("", finish)]}, made)
    if (body.get("stream_options") or {}).get("include_usage"):
        more = script.usage_field("usage", chat.usage, answer.tokens(made))
        yield Told("", _head(body) | {"choices": []} | more, made)


def whole(answer: Answer, script: Script, body: Body) -> Body:
    """Return the completion."""
    more = script.usage_field("usage", chat.usage, answer.tokens(len(answer.pieces)))
    return _head(body) | {"choices": [_choice(answer.text, answer.finish)]} | more


def _choice(text: str, finish: str | None) -> dict[str, Any]:
    return {"index": 0, "text": text, "logprobs": None, "finish_reason": finish}


def _head(body: Body) -> dict[str, Any]:
    return {"id": "cmpl-1", "object": "text_completion", "created": 1, "model": str(body.get("model"))}
