"""An answer is text, in chunks or whole, as the official SDK reads it."""

import json
from typing import Any

import httpx2
import pytest
from openai import OpenAI
from openai.types import Completion

from gateway.dialects.completions.answering import Answer, reply
from gateway.dialects.completions.asking import echoed, to_chat
from gateway.wire.unfold import unfold, usage_chunk

TOP = {"token": "He", "logprob": -0.1, "bytes": None}
TOKENS = [
    TOP | {"top_logprobs": [TOP, {"token": "Hi", "logprob": -2.5, "bytes": None}]},
    {"token": "llo", "logprob": -0.2, "bytes": None, "top_logprobs": []},
]
USAGE = {"prompt_tokens": 4, "completion_tokens": 2, "total_tokens": 6}


def completion(*texts: str, finish: str = "stop", logprobs: Any = None) -> dict[str, Any]:
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": "served",
        "choices": [
            {
                "index": index,
                "message": {"role": "assistant", "content": text},
                "logprobs": logprobs,
                "finish_reason": finish,
            }
            for index, text in enumerate(texts)
        ],
        "usage": USAGE,
    }


def sdk(answer: dict[str, Any]) -> OpenAI:
    def respond(request: httpx2.Request) -> httpx2.Response:
        body = json.loads(request.content)
        to_chat(body)
        if not body.get("stream"):
            return httpx2.Response(200, json=reply(answer, echoed(body)))
        told = Answer(echoed(body))
        chunks = [*unfold(answer), usage_chunk(answer, {})]
        events = [data for chunk in chunks for _, data in told.feed(chunk)] + [data for _, data in told.end()]
        stream = "".join(f"data: {json.dumps(data)}\n\n" for data in events) + "data: [DONE]\n\n"
        return httpx2.Response(200, text=stream, headers={"content-type": "text/event-stream"})

    client = httpx2.Client(transport=httpx2.MockTransport(respond))
    return OpenAI(api_key="k", base_url="http://gateway/v1", http_client=client)


def test_a_whole_reply_is_what_the_official_types_say() -> None:
    said = sdk(completion("Hello", "Hi")).completions.create(model="m", prompt="?", n=2)

    Completion.model_validate(said.to_dict())
    assert [choice.text for choice in said.choices] == ["Hello", "Hi"]
    assert said.object == "text_completion"
    assert said.usage is not None
    assert said.usage.total_tokens == 6


@pytest.mark.parametrize("echo", [True, False])
def test_a_stream_says_what_a_whole_reply_says(echo: bool) -> None:
    client = sdk(completion("Hello " * 40, "Hi"))

    whole = client.completions.create(model="m", prompt="Say: ", n=2, echo=echo)
    texts = {0: "", 1: ""}
    endings: dict[int, str] = {}
    usage = None
    for chunk in client.completions.create(model="m", prompt="Say: ", n=2, echo=echo, stream=True):
        usage = chunk.usage or usage
        for choice in chunk.choices:
            texts[choice.index] += choice.text
            if choice.finish_reason:
                endings[choice.index] = choice.finish_reason

    assert [texts[choice.index] for choice in whole.choices] == [choice.text for choice in whole.choices]
    assert [endings[choice.index] for choice in whole.choices] == ["stop", "stop"]
    assert usage == whole.usage
    assert all(choice.text.startswith("Say: ") == echo for choice in whole.choices)


def test_log_probabilities_are_lists_side_by_side() -> None:
    said = reply(completion("Hello", logprobs={"content": TOKENS, "refusal": None}))

    assert said["choices"][0]["logprobs"] == {
        "tokens": ["He", "llo"],
        "token_logprobs": [-0.1, -0.2],
        "top_logprobs": [{"He": -0.1, "Hi": -2.5}, {"llo": -0.2}],
        "text_offset": [0, 2],
    }


def test_offsets_of_a_stream_go_on_where_the_last_chunk_ended() -> None:
    answer = Answer()
    chunks = [
        {"choices": [{"index": 0, "delta": {"content": token["token"]}, "logprobs": {"content": [token]}}]}
        for token in TOKENS
    ]

    told = [data["choices"][0]["logprobs"]["text_offset"] for chunk in chunks for _, data in answer.feed(chunk)]

    assert told == [[0], [2]]


@pytest.mark.parametrize(
    ("finish", "told"),
    [("stop", "stop"), ("length", "length"), ("content_filter", "content_filter"), ("tool_calls", "stop")],
)
def test_an_ending_is_one_that_this_api_knows(finish: str, told: str) -> None:
    assert reply(completion("x", finish=finish))["choices"][0]["finish_reason"] == told


def test_a_refusal_is_what_was_said() -> None:
    (told,) = Answer().feed({"choices": [{"index": 0, "delta": {"refusal": "No."}}]})

    assert told[1]["choices"][0]["text"] == "No."


def test_an_error_is_passed_on_as_it_is() -> None:
    error = {"error": {"message": "Gone.", "type": "server_error", "param": None, "code": "upstream_error"}}

    assert Answer().feed(error) == [(None, error)]


@pytest.mark.parametrize(
    "choice",
    [
        {"delta": "x"},
        {"delta": {"content": "a"}, "finish_reason": {"x": 1}},
        {"index": [], "delta": {"content": 5}, "logprobs": "x"},
        {"delta": {}, "logprobs": {"content": [{}, 5, {"token": 1}, {"token": "a", "logprob": 0, "top_logprobs": 3}]}},
        7,
    ],
)
def test_a_chunk_that_makes_no_sense_says_what_it_can(choice: Any) -> None:
    (_, said), *_ = Answer().feed({"id": "c", "choices": [choice]})

    assert [one["text"] for one in said["choices"]] in ([], [""], ["a"])
