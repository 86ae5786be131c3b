"""The official SDK reads our events and replies as its own, and asks in words that we read."""

import json
from typing import Any

import httpx2
import pytest
from openai import OpenAI
from openai.types.responses import Response, ResponseStreamEvent
from pydantic import BaseModel, TypeAdapter

from gateway.dialects.responses.answering import Answer, reply
from gateway.dialects.responses.asking import to_chat
from gateway.dialects.responses.calling import to_responses
from gateway.wire.unfold import unfold

EVENTS: TypeAdapter[Any] = TypeAdapter(ResponseStreamEvent)
TOOL: Any = {"type": "function", "name": "weather", "parameters": {"type": "object"}, "strict": False}
USAGE = {
    "prompt_tokens": 20,
    "completion_tokens": 9,
    "total_tokens": 29,
    "prompt_tokens_details": {"cached_tokens": 4},
    "completion_tokens_details": {"reasoning_tokens": 3},
}
TOKEN = {"token": "Hi", "logprob": -0.1, "bytes": [72, 105], "top_logprobs": []}
CALL = {"id": "call_1", "type": "function", "function": {"name": "weather", "arguments": '{"city":"Paris"}'}}
PATCH = {"id": "call_2", "type": "custom", "custom": {"name": "patch", "input": "*** Begin"}}
THOUGHT = {
    "id": "rs_9",
    "type": "reasoning",
    "summary": [{"type": "summary_text", "text": "Look it up."}],
    "encrypted_content": "gAAAA",
}
SOURCE = {"url": "https://e.org", "title": "E", "start_index": 0, "end_index": 2}
MESSAGES: dict[str, dict[str, Any]] = {
    "text": {"content": "Hi"},
    "text that is thought about": {"content": "Hi", "reasoning_content": "Hm."},
    "text with a source": {"content": "Hi", "annotations": [{"type": "url_citation", "url_citation": SOURCE}]},
    "calls after a sealed thought": {"content": None, "reasoning_items": [THOUGHT], "tool_calls": [CALL, PATCH]},
    "refusal": {"content": None, "refusal": "No."},
    "nothing": {"content": None},
}


LABELS = {"id", "status", "annotations", "logprobs"}
PARSED = {"parsed", "parsed_arguments"}


def without(names: set[str], value: Any) -> Any:
    """Return an item without some fields; reasoning is sealed, so that nothing of it may go."""
    if isinstance(value, list):
        return [without(names, part) for part in value]
    if not isinstance(value, dict) or value.get("type") == "reasoning":
        return value
    return {name: without(names, part) for name, part in value.items() if name not in names}


class Gateway:
    """Answers every request with one message, through this dialect alone."""

    def __init__(self, message: dict[str, Any], finish: str = "stop", logprobs: Any = None) -> None:
        choice = {"index": 0, "message": {"role": "assistant"} | message, "logprobs": logprobs, "finish_reason": finish}
        self.completion = {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1_700_000_000,
            "model": "served",
            "choices": [choice],
            "usage": USAGE,
        }
        self.asked: list[dict[str, Any]] = []
        self.sent: list[dict[str, Any]] = []

    @property
    def sdk(self) -> OpenAI:
        client = httpx2.Client(transport=httpx2.MockTransport(self._answer))
        return OpenAI(api_key="k", base_url="http://gateway/v1", http_client=client)

    def _answer(self, request: httpx2.Request) -> httpx2.Response:
        body = json.loads(request.content)
        self.asked.append(to_chat(body))
        if not body.get("stream"):
            return httpx2.Response(200, json=reply(self.completion, "resp_1", body))
        answer = Answer("resp_1", body)
        events = [event for chunk in unfold(self.completion) for event in answer.feed(chunk)]
        events += [*answer.feed({"choices": [], "usage": USAGE}), *answer.end()]
        self.sent = [data for _, data in events]
        stream = "".join(f"event: {name}\ndata: {json.dumps(data)}\n\n" for name, data in events)
        return httpx2.Response(200, text=stream, headers={"content-type": "text/event-stream"})


@pytest.mark.parametrize("message", MESSAGES.values(), ids=MESSAGES.keys())
@pytest.mark.parametrize("finish", ["stop", "length"])
def test_every_event_is_what_the_official_types_say(message: dict[str, Any], finish: str) -> None:
    gateway = Gateway(message, finish, {"content": [TOKEN], "refusal": None} if message["content"] else None)

    told = list(gateway.sdk.responses.create(model="m", input="?", stream=True, tools=[TOOL]))

    assert [event.to_dict() for event in told] == gateway.sent
    for data in gateway.sent:
        EVENTS.validate_python(data)


@pytest.mark.parametrize("message", MESSAGES.values(), ids=MESSAGES.keys())
def test_the_stream_helper_puts_together_what_a_plain_call_returns(message: dict[str, Any]) -> None:
    sdk = Gateway(message).sdk

    with sdk.responses.stream(model="m", input="?") as stream:
        streamed = stream.get_final_response()
    whole = sdk.responses.create(model="m", input="?")

    Response.model_validate(whole.to_dict())
    assert streamed.output_text == whole.output_text == (message["content"] or "")
    assert without(PARSED, streamed.to_dict()) == whole.to_dict()
    assert streamed.usage == whole.usage
    assert whole.usage is not None
    assert whole.usage.input_tokens_details.cached_tokens == 4
    assert whole.usage.output_tokens_details.reasoning_tokens == 3


@pytest.mark.parametrize("message", MESSAGES.values(), ids=MESSAGES.keys())
def test_the_output_of_a_response_can_be_sent_back_as_it_is(message: dict[str, Any]) -> None:
    gateway = Gateway(message)
    with gateway.sdk.responses.stream(model="m", input="?") as stream:
        streamed: Any = stream.get_final_response().output
    first: Any = gateway.sdk.responses.create(model="m", input="?").output
    dumped: Any = [item.model_dump() for item in first]

    for output in (streamed, first, dumped):
        gateway.sdk.responses.create(model="m", input=[{"role": "user", "content": "?"}, *output])

    for asked in gateway.asked[-3:]:
        assert to_responses(asked)["input"][1:] == [without(LABELS, item.to_dict()) for item in first]


def test_a_parsed_answer_has_the_type_that_was_asked_for() -> None:
    class City(BaseModel):
        name: str

    gateway = Gateway({"content": '{"name":"Paris"}'})

    answer = gateway.sdk.responses.parse(model="m", input="?", text_format=City)

    assert answer.output_parsed == City(name="Paris")
    assert gateway.asked[0]["response_format"]["json_schema"]["name"] == "City"


def test_a_stream_that_fails_ends_with_the_reason() -> None:
    answer = Answer("resp_1", {"model": "m", "input": "?"})
    chunk = {"id": "c", "model": "m", "choices": [{"index": 0, "delta": {"content": "Hel"}}]}
    events = [*answer.feed(chunk), *answer.feed({"error": {"message": "Gone.", "code": "server_error"}})]

    last = EVENTS.validate_python(events[-1][1])

    assert (last.type, last.response.error.message) == ("response.failed", "Gone.")
