"""Bedrock as a provider: a whole gateway before it, real sockets between, and a lock that knows a good signature."""

import asyncio
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import pytest
from botocore.credentials import Credentials

from tests.support.providers.answer import Answer, Prompt, ToolCall
from tests.support.providers.fake import FakeProvider
from tests.support.providers.script import Script
from tests.support.running_gateway import POLICY, RunningGateway, running_gateway
from tests.support.scripted_upstream import serve
from tests.support.signed_requests import Locked

ACCESS = {"access_key_id": "AKIDEXAMPLE", "secret_access_key": "${AWS_SECRET}", "session_token": "${AWS_TOKEN}"}
SECRET = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
TOKEN = "lent+for/an=hour"
REGION = "eu-central-1"
CLAUDE = "eu.anthropic.claude-opus-4-1-20250805-v1:0"
PROFILE = "arn:aws:bedrock:eu-central-1:123456789012:application-inference-profile/a1b2"
TITAN = "amazon.titan-embed-text-v2:0"
PRICE = {"input": 10, "cached_input": 1, "cache_write": 20, "output": 30}


@dataclass(frozen=True)
class WithBedrock:
    """A gateway, the provider, and the lock between them."""

    gateway: RunningGateway
    fake: FakeProvider
    lock: Locked


@asynccontextmanager
async def before_bedrock(
    tmp_path: Path, credentials: dict[str, str], secret: str = SECRET
) -> AsyncGenerator[WithBedrock]:
    fake = FakeProvider()
    lock = Locked(fake.app(), Credentials("AKIDEXAMPLE", SECRET, TOKEN), REGION)
    async with serve(lock if "api_key" not in credentials else fake.app()) as port:
        base = {"kind": "bedrock", "zone": "cloud", "region": REGION, "base_url": f"http://127.0.0.1:{port}"}
        models: list[dict[str, Any]] = [
            {"name": name, "provider": "aws", "model": model, "tier": "cloud", "price": PRICE}
            for name, model in (("claude", CLAUDE), ("profile", PROFILE), ("gpt", "eu.openai.gpt-5.6-luna"))
        ]
        models += [
            {"name": name, "provider": "aws", "model": model, "tier": "cloud", "kind": "embedding",
             "price": {"input": 10}}
            for name, model in (("titan", TITAN), ("cohere", "cohere.embed-v4:0"))
        ]  # fmt: skip
        document = POLICY | {
            "providers": POLICY["providers"] | {"aws": base | credentials},
            "models": [*POLICY["models"], *models],
            "cache": {},
        }
        async with running_gateway(
            tmp_path, document, AWS_SECRET=secret, AWS_TOKEN=TOKEN, BEDROCK_KEY="bedrock-api-key-1"
        ) as gateway:
            yield WithBedrock(gateway, fake, lock)


@pytest.fixture
async def both(tmp_path: Path) -> AsyncGenerator[WithBedrock]:
    async with before_bedrock(tmp_path, ACCESS) as both:
        yield both


async def test_a_signed_chat_is_answered_and_every_token_of_it_paid_at_its_own_rate(both: WithBedrock) -> None:
    both.fake.script.answer = Answer(prompt=Prompt(fresh=7, read=100))

    reply = await both.gateway.chat(await both.gateway.key("blue"), model="claude")

    assert reply.status_code == 200
    assert reply.json()["choices"][0]["message"]["content"] == "Hello, world!"
    assert reply.json()["model"] == CLAUDE
    assert both.lock.paths == [f"/model/{CLAUDE}/converse-stream"]
    assert both.fake.last.body == {
        "messages": [{"role": "user", "content": [{"text": "Hi"}]}],
        "inferenceConfig": {"maxTokens": 64},
    }
    usage = reply.json()["usage"]
    assert (usage["prompt_tokens"], usage["completion_tokens"]) == (107, 4)
    assert usage["prompt_tokens_details"]["cached_tokens"] == 100
    # 7 fresh at 10 USD, 100 read at 1 USD, 4 out at 30 USD, each per million.
    assert reply.headers["x-sluice-cost-usd"] == "0.00029"


async def test_a_model_may_be_named_by_its_whole_arn(both: WithBedrock) -> None:
    reply = await both.gateway.chat(await both.gateway.key("blue"), model="profile")

    assert reply.status_code == 200
    assert both.lock.paths == [f"/model/{PROFILE.replace('/', '%2F')}/converse-stream"]


async def test_what_a_model_counts_twice_is_paid_once(both: WithBedrock) -> None:
    # The fake counts the classes apart; as such a stream would count them, all 107 would be `inputTokens`.
    both.fake.script.answer = Answer(prompt=Prompt(fresh=107, read=100))

    reply = await both.gateway.chat(await both.gateway.key("blue"), model="gpt")

    assert reply.json()["usage"]["prompt_tokens"] == 107
    assert reply.headers["x-sluice-cost-usd"] == "0.00029"


async def test_a_stream_that_comes_byte_by_byte_is_told_in_chunks(both: WithBedrock) -> None:
    call = ToolCall("t1", "weather", ('{"city":', '"Zü', 'rich"}'))
    both.fake.script = Script(
        answer=Answer(thoughts=("Hm",), texts=("日本 ", "🙂"), calls=(call,), finish="tool_calls"), every=1
    )
    asked = {"model": "claude", "stream": True, "messages": [{"role": "user", "content": "Hi"}]}
    headers = {"authorization": f"Bearer {await both.gateway.key('blue')}"}

    reply = await both.gateway.client.post("/v1/chat/completions", json=asked, headers=headers)

    events = [line.removeprefix("data: ") for line in reply.text.split("\n\n") if line]
    assert events[-1] == "[DONE]"
    chunks = [msgspec.json.decode(event) for event in events[:-1]]
    assert len({chunk["id"] for chunk in chunks}) == 1
    deltas = [chunk["choices"][0]["delta"] for chunk in chunks]
    assert "".join(delta.get("content", "") for delta in deltas) == "日本 🙂"
    pieces = [one["function"]["arguments"] for delta in deltas for one in delta.get("tool_calls", [])]
    assert "".join(pieces) == '{"city":"Zürich"}'
    assert chunks[-1]["choices"][0]["finish_reason"] == "tool_calls"


async def test_thinking_that_a_messages_client_sends_back_is_what_it_was_given(both: WithBedrock) -> None:
    both.fake.script.answer = Answer(thoughts=("Let", " me"), texts=("Hi",))
    headers = {"authorization": f"Bearer {await both.gateway.key('blue')}"}
    asked: dict[str, Any] = {"model": "claude", "max_tokens": 64, "messages": [{"role": "user", "content": "Hi"}]}

    first = (await both.gateway.client.post("/v1/messages", json=asked, headers=headers)).json()
    assert [block["type"] for block in first["content"]] == ["thinking", "text"]
    asked["messages"] += [{"role": "assistant", "content": first["content"]}, {"role": "user", "content": "And?"}]
    await both.gateway.client.post("/v1/messages", json=asked, headers=headers)

    assert both.fake.last.body["messages"][1]["content"] == [
        {"reasoningContent": {"reasoningText": {"text": "Let me", "signature": "c2VhbGVk"}}},
        {"text": "Hi"},
    ]


async def test_a_client_that_leaves_is_charged_what_the_provider_has_made(both: WithBedrock) -> None:
    gate = asyncio.Semaphore(0)
    both.fake.script.gate = gate
    asked = {"model": "claude", "stream": True, "messages": [{"role": "user", "content": "Hi"}]}
    headers = {"authorization": f"Bearer {await both.gateway.key('blue')}"}

    async with both.gateway.client.stream("POST", "/v1/chat/completions", json=asked, headers=headers) as reply:
        await anext(reply.aiter_raw())
    for _ in range(8):
        gate.release()

    served = await both.fake.until_ended()
    [row] = await both.gateway.rows(1)
    assert (row.input_tokens, row.output_tokens) == (served.tokens.prompt.total, served.tokens.output)


async def test_a_wrong_secret_is_our_own_fault_and_not_the_clients(tmp_path: Path) -> None:
    async with before_bedrock(tmp_path, ACCESS, secret="another") as both:
        reply = await both.gateway.chat(await both.gateway.key("blue"), model="claude")

        assert (reply.status_code, reply.json()["error"]["code"]) == (502, "upstream_error")
        assert "security token" not in reply.text
        assert both.fake.served == []


async def test_a_key_of_bedrocks_own_stands_in_a_header(tmp_path: Path) -> None:
    async with before_bedrock(tmp_path, {"api_key": "${BEDROCK_KEY}"}) as both:
        reply = await both.gateway.chat(await both.gateway.key("blue"), model="claude")

        assert reply.status_code == 200
        assert both.fake.last.headers["authorization"] == "Bearer bedrock-api-key-1"
        assert "x-amz-date" not in both.fake.last.headers


@pytest.mark.parametrize(
    ("status", "message", "told", "code"),
    [
        (400, "toolConfig is wrong.", 400, "invalid_request_error"),
        (400, "Input is too long for requested model.", 400, "context_length_exceeded"),
        (403, "You may not.", 502, "upstream_error"),
        (424, "The model failed.", 502, "upstream_error"),
        (429, "Too many requests.", 503, "overloaded"),
    ],
)
async def test_a_refusal_is_told_as_what_it_means_for_the_client(
    both: WithBedrock, status: int, message: str, told: int, code: str
) -> None:
    both.fake.script.status, both.fake.script.error = status, ("x", message)

    reply = await both.gateway.chat(await both.gateway.key("blue"), model="claude")

    assert (reply.status_code, reply.json()["error"]["code"]) == (told, code)


async def test_an_exception_in_the_stream_ends_it_with_an_error(both: WithBedrock) -> None:
    both.fake.script.fail_after = 2

    reply = await both.gateway.chat(await both.gateway.key("blue"), model="claude", stream=True)

    last = reply.text.strip().split("\n\n")[-1]
    assert msgspec.json.decode(last.removeprefix("data: "))["error"]["code"] == "upstream_error"


async def test_what_converse_cannot_say_is_refused_before_anything_is_sent(both: WithBedrock) -> None:
    reply = await both.gateway.chat(await both.gateway.key("blue"), model="claude", seed=7)

    assert (reply.status_code, reply.json()["error"]["param"]) == (400, "seed")
    assert both.fake.served == []


async def test_a_vector_is_asked_of_its_maker_and_paid_by_what_it_counts(both: WithBedrock) -> None:
    asked = {"model": "titan", "input": "Hi"}
    headers = {"authorization": f"Bearer {await both.gateway.key('blue')}"}

    reply = await both.gateway.client.post("/v1/embeddings", json=asked, headers=headers)

    assert reply.json()["data"] == [{"object": "embedding", "index": 0, "embedding": [0.6, 0.8]}]
    assert both.lock.paths == [f"/model/{TITAN}/invoke"]
    assert both.fake.last.body == {"inputText": "Hi"}
    assert reply.headers["x-sluice-cost-usd"] == "0.00012"


async def test_vectors_whose_tokens_only_a_header_tells_are_paid_by_it(both: WithBedrock) -> None:
    both.fake.script = Script(headers={"x-amzn-bedrock-input-token-count": "1000"})
    asked = {"model": "cohere", "input": ["Hi"]}
    headers = {"authorization": f"Bearer {await both.gateway.key('blue')}"}

    reply = await both.gateway.client.post("/v1/embeddings", json=asked, headers=headers)

    assert reply.headers["x-sluice-cost-usd"] == "0.01"
    assert reply.json()["usage"] == {"prompt_tokens": 1000, "total_tokens": 1000}


def test_a_gateway_without_bedrock_does_not_load_its_library() -> None:
    told = "import sys, gateway.app; print(any(name.startswith('botocore') for name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=True)  # noqa: S603

    assert done.stdout == "False\n"
