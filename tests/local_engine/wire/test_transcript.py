import json
from collections.abc import AsyncIterator, Iterable
from typing import Any

import pytest

from local_engine.errors import EngineStopped, GenerationFailed
from local_engine.request import Delta, Ended, Event, TokenLogprob, Usage
from local_engine.types import FinishReason
from local_engine.wire.chat import ChatShape
from local_engine.wire.completion import CompletionShape
from local_engine.wire.transcript import DONE, Head, Shape, Transcript

HEAD = Head("id-1", 7, "tiny")
USAGE = Usage(prompt=5, completion=2, cached=4)
TOKENS = (TokenLogprob(1, "é".encode()[:1], -0.5, ((2, b"x", -1.0),)), TokenLogprob(3, b"b", -0.25, ()))
ANSWER: list[Event] = [
    Delta("r", 0, "a", TOKENS[:1], None, None, Usage(5, 1, 4)),
    Delta("r", 0, "b", TOKENS[1:], FinishReason.STOP, "###", USAGE),
    Ended("r", FinishReason.STOP, USAGE),
]


async def each(events: Iterable[Event]) -> AsyncIterator[Event]:
    for event in events:
        yield event


def transcript(shape: Shape, choices: int = 1, **options: bool) -> Transcript:
    return Transcript(HEAD, shape, {"r": 0, "s": 1}, choices, **options)


async def frames(events: Iterable[Event], written: Transcript) -> list[Any]:
    lines = [frame async for frame in written.frames(each(events))]
    assert all(line.startswith(b"data: ") and line.endswith(b"\n\n") for line in lines)
    return [line if line == DONE else json.loads(line.removeprefix(b"data: ")) for line in lines]


async def test_a_chat_stream_opens_with_the_role_and_ends_with_done() -> None:
    first, second, last, done = await frames(ANSWER, transcript(ChatShape()))
    assert first == {
        "id": "id-1",
        "object": "chat.completion.chunk",
        "created": 7,
        "model": "tiny",
        "choices": [
            {
                "index": 0,
                "delta": {"role": "assistant", "content": ""},
                "logprobs": None,
                "finish_reason": None,
                "stop_reason": None,
            }
        ],
    }
    assert second["choices"][0]["delta"] == {"content": "a"}
    assert last["choices"][0]["finish_reason"] == "stop"
    assert last["choices"][0]["stop_reason"] == "###"
    assert done == DONE


async def test_usage_comes_last_and_alone_when_it_is_wanted() -> None:
    *_, usage, done = await frames(ANSWER, transcript(ChatShape(), include_usage=True))
    assert done == DONE
    assert usage["choices"] == []
    assert usage["usage"] == {
        "prompt_tokens": 5,
        "completion_tokens": 2,
        "total_tokens": 7,
        "prompt_tokens_details": {"cached_tokens": 4},
    }


async def test_continuous_usage_is_in_every_chunk() -> None:
    chunks = await frames(ANSWER, transcript(ChatShape(), include_usage=True, continuous_usage=True))
    assert [chunk["usage"]["completion_tokens"] for chunk in chunks[:-1]] == [1, 1, 2, 2]


HELD_BACK: list[Event] = [Delta("r", 0, "", (), None, None, Usage(5, 1, 4)), *ANSWER[1:]]


async def test_a_token_that_shows_nothing_yet_is_seen_in_continuous_usage_alone() -> None:
    chunks = await frames(HELD_BACK, transcript(CompletionShape(), continuous_usage=True))
    assert [chunk["usage"]["completion_tokens"] for chunk in chunks[:-1]] == [1, 2]
    assert chunks[0]["choices"][0]["text"] == ""
    quiet = await frames(HELD_BACK, transcript(CompletionShape(), include_usage=True))
    assert len(quiet) == 3


async def test_a_stream_that_breaks_tells_the_usage_where_it_was_asked_for() -> None:
    broken = [ANSWER[0], Ended("r", FinishReason.ERROR, USAGE, "a step failed")]
    *_, last = await frames(broken, transcript(ChatShape(), include_usage=True))
    assert last["usage"]["completion_tokens"] == 2
    *_, last = await frames(broken, transcript(ChatShape()))
    assert set(last) == {"error"}


@pytest.mark.parametrize(
    ("finish", "code"), [(FinishReason.ERROR, "generation_failed"), (FinishReason.ABORT, "engine_stopped")]
)
async def test_a_broken_stream_ends_with_an_error_and_without_done(finish: FinishReason, code: str) -> None:
    broken = [ANSWER[0], Ended("r", finish, USAGE, "a step failed")]
    *_, last = await frames(broken, transcript(ChatShape(), include_usage=True))
    assert last["error"]["code"] == code


async def test_a_chat_reply_is_made_of_the_same_events() -> None:
    reply = json.loads(await transcript(ChatShape()).reply(each(ANSWER)))
    assert reply["object"] == "chat.completion"
    [choice] = reply["choices"]
    assert choice["message"] == {"content": "ab", "role": "assistant"}
    assert choice["logprobs"]["content"][0] == {
        "token": "\ufffd",
        "logprob": -0.5,
        "bytes": [0xC3],
        "top_logprobs": [{"token": "x", "logprob": -1.0, "bytes": [120]}],
    }
    assert reply["usage"]["total_tokens"] == 7


async def test_choices_of_several_prompts_are_numbered_on_and_their_usage_is_summed() -> None:
    other = [Delta("s", 0, "z", (), FinishReason.LENGTH, None, USAGE), Ended("s", FinishReason.LENGTH, USAGE)]
    reply = json.loads(await transcript(CompletionShape(), choices=2).reply(each([*other, *ANSWER])))
    assert [(choice["index"], choice["text"]) for choice in reply["choices"]] == [(0, "ab"), (1, "z")]
    assert reply["usage"]["prompt_tokens"] == 10
    assert reply["choices"][0]["logprobs"]["text_offset"] == [0, 1]


async def test_a_completion_stream_needs_no_opening() -> None:
    first, *_ = await frames(ANSWER, transcript(CompletionShape()))
    assert first["object"] == "text_completion"
    assert first["choices"][0]["text"] == "a"


@pytest.mark.parametrize(
    ("finish", "error"), [(FinishReason.ERROR, GenerationFailed), (FinishReason.ABORT, EngineStopped)]
)
async def test_a_reply_that_was_cut_short_is_an_error(finish: FinishReason, error: type[Exception]) -> None:
    with pytest.raises(error):
        await transcript(ChatShape()).reply(each([ANSWER[0], Ended("r", finish, USAGE, "x")]))
