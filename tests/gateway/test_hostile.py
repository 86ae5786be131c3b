"""What a hostile client or a careless provider may try through a whole gateway, and what the ledger says then."""

from pathlib import Path

import msgspec
import pytest

from tests.support.polyglot import Polyglot, polyglot
from tests.support.providers.answer import Answer
from tests.support.providers.messages import events
from tests.support.providers.script import Script

HI = [{"role": "user", "content": "Hi"}]
FREE = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}


def sse(*chunks: object) -> bytes:
    return b"".join(b"data: " + msgspec.json.encode(chunk) + b"\n\n" for chunk in chunks)


async def ask(every: Polyglot, path: str, headers: dict[str, str] | None = None, **body: object) -> tuple[int, str]:
    asked = {"messages": HI, "max_tokens": 64} | body
    shown = {"x-api-key": every.key} | (headers or {})
    reply = await every.gateway.client.post(path, json=asked, headers=shown)
    return reply.status_code, reply.text


@pytest.mark.parametrize(
    "said",
    [
        {"function_call": {"name": "f", "arguments": '{"x": 1}'}},
        {"tool_calls": [{"index": 0, "id": "c", "type": "custom", "custom": {"name": "f", "input": "x"}}]},
    ],
)
async def test_no_answer_is_free_because_its_provider_says_so(tmp_path: Path, said: dict[str, object]) -> None:
    choice = {"index": 0, "delta": {"role": "assistant"} | said, "finish_reason": "stop"}
    async with polyglot(tmp_path) as every:
        every.fake.script = Script(body=sse({"choices": [choice]}, {"choices": [], "usage": FREE}))
        assert (await ask(every, "/v1/chat/completions", model="chat"))[0] == 200

        row = (await every.gateway.rows(1))[0]
        assert row.estimated
        assert row.input_tokens
        assert row.output_tokens


@pytest.mark.parametrize("path", ["/v1/messages", "/v1/chat/completions"])
async def test_a_prompt_that_its_provider_has_not_counted_is_estimated(tmp_path: Path, path: str) -> None:
    async with polyglot(tmp_path) as every:
        told = [each.data for each in events(Script(), {"model": "m"})]
        for data in told:
            data.get("message", data).pop("usage", None)
        told[-2]["usage"] = {"output_tokens": 40}
        every.fake.script = Script(body=sse(*told))
        assert (await ask(every, path, model="messages"))[0] == 200

        row = (await every.gateway.rows(1))[0]
        assert row.estimated
        assert (bool(row.input_tokens), row.output_tokens) == (True, 40)


async def test_odd_events_of_a_provider_break_no_answer(tmp_path: Path) -> None:
    async with polyglot(tmp_path) as every:
        told = [each.data for each in events(Script(), {"model": "m"})]
        told[1:1] = [{"type": "ping", "index": None}, {"type": 5}, {"type": ["x"], "index": "y"}]
        every.fake.script = Script(body=sse(*told))
        status, text = await ask(every, "/v1/messages", model="messages", stream=True)

        assert status == 200
        assert "message_stop" in text
        assert (await every.gateway.rows(1))[0].output_tokens == len(Answer().pieces)


@pytest.mark.parametrize("betas", ["a\r\nx-evil: 1", "日本", ["a"], {"a": 1}, "\x00"])
async def test_betas_that_no_header_can_hold_are_refused_before_anything_is_paid(tmp_path: Path, betas: object) -> None:
    async with polyglot(tmp_path) as every:
        assert (await ask(every, "/v1/chat/completions", model="messages", anthropic_beta=betas))[0] == 400
        assert every.fake.served == []


async def test_the_key_of_a_provider_that_repeats_it_reaches_no_client(tmp_path: Path) -> None:
    async with polyglot(tmp_path) as every:
        words = "The key sk-seller was sent as Bearer sk-seller and is wrong."
        every.fake.script = Script(status=400, error=("invalid_request_error", words))
        for model in ("chat", "responses", "messages", "gemini", "converse"):
            status, text = await ask(every, "/v1/chat/completions", model=model)

            assert (status, "is wrong" in text, "sk-seller" in text) == (400, True, False), model
