"""The path of a chat completion, seen from outside and in the ledger."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
from openai import AsyncOpenAI

from tests.support.running_gateway import RunningGateway, running_gateway


@pytest.fixture
async def gateway(tmp_path: Path) -> AsyncGenerator[RunningGateway]:
    async with running_gateway(tmp_path) as running:
        yield running


async def test_an_answer_carries_its_cost_and_the_ledger_says_the_same(gateway: RunningGateway) -> None:
    key = await gateway.key()

    reply = await gateway.chat(key)

    assert reply.status_code == 200
    assert reply.json()["choices"][0]["message"] == {"role": "assistant", "content": "Hello, world!"}
    # 12 prompt tokens at 0.1 USD/M and 4 answer tokens at 2 USD/M.
    assert reply.headers["x-sluice-cost-usd"] == "0.0000092"
    assert reply.headers["x-sluice-cache"] == "miss"
    assert reply.headers["x-sluice-route"] == "weak"
    assert reply.headers["x-sluice-model"] == "small"
    (row,) = await gateway.rows(1)
    assert (row.kind, row.cost.usd, row.input_tokens, row.output_tokens) == ("settled", "0.0000092", 12, 4)
    assert row.request_id == reply.headers["x-request-id"]


async def test_the_same_question_again_is_free_and_its_saving_recorded(gateway: RunningGateway) -> None:
    key = await gateway.key()
    first = await gateway.chat(key)

    again = await gateway.chat(key)

    assert again.json() == first.json()
    assert again.headers["x-sluice-cache"] == "exact"
    assert again.headers["x-sluice-cost-usd"] == "0.00"
    assert again.headers["x-sluice-saved-usd"] == first.headers["x-sluice-cost-usd"]
    assert len(gateway.upstream.bodies) == 1
    newest, _ = await gateway.rows(2)
    assert (newest.cache, newest.cost.usd, newest.saved.usd) == ("exact", "0.00", "0.0000092")


async def test_the_official_sdk_streams_with_usage_and_cost(gateway: RunningGateway) -> None:
    sdk = AsyncOpenAI(base_url=gateway.base_url, api_key=await gateway.key())
    chunks = [
        chunk
        async for chunk in await sdk.chat.completions.create(
            model="auto",
            messages=[{"role": "user", "content": "Hi"}],
            stream=True,
            stream_options={"include_usage": True},
        )
    ]
    await sdk.close()

    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices) == "Hello, world!"
    assert all(chunk.usage is None for chunk in chunks[:-1])
    usage = chunks[-1].usage
    assert usage is not None
    assert (usage.prompt_tokens, usage.completion_tokens) == (12, 4)
    assert usage.model_extra == {"cost_usd": "0.0000092", "saved_usd": "0.00"}


async def test_a_stream_without_usage_asked_for_shows_none(gateway: RunningGateway) -> None:
    reply = await gateway.chat(await gateway.key(), stream=True)

    assert "usage" not in reply.text
    assert reply.text.endswith("data: [DONE]\n\n")


async def test_a_streamed_answer_is_replayed_to_one_who_does_not_stream_and_back(gateway: RunningGateway) -> None:
    key = await gateway.key()
    await gateway.chat(key, stream=True)

    plain = await gateway.chat(key)
    streamed = await gateway.chat(key, stream=True, stream_options={"include_usage": True})

    assert plain.json()["choices"][0]["message"]["content"] == "Hello, world!"
    assert plain.json()["usage"]["completion_tokens"] == 4
    assert streamed.headers["x-sluice-cache"] == "exact"
    assert '"cost_usd":"0.00","saved_usd":"0.0000092"' in streamed.text
    assert len(gateway.upstream.bodies) == 1
