"""The fake provider is held to what it promises: a test that trusts it must be able to."""

import asyncio
from collections.abc import AsyncGenerator, Iterator
from dataclasses import dataclass
from typing import Any

import httpx
import msgspec
import openai
import pytest
from botocore.eventstream import EventStreamBuffer
from openai.types.chat import ChatCompletionChunk

from gateway.dialects.messages.hearing import Hearing as HearingMessages
from gateway.dialects.responses.hearing import Hearing as HearingResponses
from gateway.wire.fold import Fold
from gateway.wire.sse import EventSplitter
from tests.support.providers.answer import Answer, Prompt, ToolCall
from tests.support.providers.fake import FakeProvider
from tests.support.providers.script import Script
from tests.support.scripted_upstream import serve

ANSWER = Answer(
    thoughts=("Let", " me", " see"),
    texts=("Zürich ", "— ", "日本 ", "🙂"),
    calls=(ToolCall("call_1", "weather", ('{"city":', '"Zü', 'rich"}')), ToolCall("call_2", "time", ("{}",))),
    finish="tool_calls",
    prompt=Prompt(fresh=7, read=5, written=3, written_1h=2),
)
GEMINI = "/v1beta/models/gemini-2.5-pro"
PATHS = {
    "chat": "/v1/chat/completions",
    "completions": "/v1/completions",
    "responses": "/v1/responses",
    "messages": "/v1/messages",
    "gemini": f"{GEMINI}:streamGenerateContent?alt=sse",
    "converse": "/model/anthropic.claude-opus-4-1-v1%3A0/converse-stream",
}
ASKED: dict[str, Any] = {"model": "m", "stream": True, "stream_options": {"include_usage": True}}


@dataclass(frozen=True)
class Served:
    fake: FakeProvider
    client: httpx.AsyncClient


@pytest.fixture
async def served() -> AsyncGenerator[Served]:
    fake = FakeProvider(Script(answer=ANSWER))
    async with serve(fake.app()) as port, httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}") as client:
        yield Served(fake, client)


def events(raw: bytes) -> Iterator[dict[str, Any]]:
    splitter = EventSplitter()
    yield from (msgspec.json.decode(event) for event in splitter.feed(raw) if event != b"[DONE]")


def frames(raw: bytes) -> Iterator[tuple[str, dict[str, Any]]]:
    buffer = EventStreamBuffer()
    buffer.add_data(raw)
    for frame in buffer:
        yield frame.headers[f":{frame.headers[':message-type']}-type"], msgspec.json.decode(frame.payload)


def folded(chunks: Iterator[dict[str, Any]]) -> dict[str, Any]:
    fold = Fold()
    for chunk in chunks:
        fold.add(chunk)
    return fold.completion()


def as_chat(dialect: str, raw: bytes) -> dict[str, Any]:
    if dialect == "chat":
        return folded(events(raw))
    if dialect == "messages":
        hearing = HearingMessages("fake", 1)
        return folded(chunk for event in events(raw) for chunk in hearing.hear(event["type"], event))
    responses = HearingResponses()
    return folded(chunk for event in events(raw) for chunk in responses.hear(event["type"], event))


@pytest.mark.parametrize("dialect", ["chat", "messages", "responses"])
async def test_every_dialect_tells_the_same_answer_and_the_same_truth(served: Served, dialect: str) -> None:
    raw = (await served.client.post(PATHS[dialect], json=ASKED)).content
    completion = as_chat(dialect, raw)

    message, usage = completion["choices"][0]["message"], completion["usage"]
    assert message["content"] == ANSWER.text
    assert message["reasoning_content"] == "Let me see"
    assert [call["function"]["arguments"] for call in message["tool_calls"]] == ['{"city":"Zürich"}', "{}"]
    assert completion["choices"][0]["finish_reason"] == "tool_calls"
    assert (usage["prompt_tokens"], usage["completion_tokens"]) == (17, 11)
    assert usage["completion_tokens_details"]["reasoning_tokens"] == 3
    assert usage["prompt_tokens_details"]["cached_tokens"] == 5
    assert (served.fake.last.made, served.fake.last.tokens.total) == (11, 28)


async def test_gemini_tells_the_usage_so_far_with_every_event(served: Served) -> None:
    told = list(events((await served.client.post(PATHS["gemini"], json={})).content))

    counts = [event["usageMetadata"].get("thoughtsTokenCount", 0) for event in told]
    assert counts[:3] == [1, 2, 3]
    assert told[-1]["usageMetadata"]["totalTokenCount"] == 28
    assert "".join(p.get("text", "") for e in told for p in e["candidates"][0]["content"]["parts"][:1]).endswith("🙂")


async def test_converse_comes_in_frames_that_aws_own_parser_reads(served: Served) -> None:
    told = list(frames((await served.client.post(PATHS["converse"], json={})).content))

    texts = [data["delta"]["text"] for name, data in told if name == "contentBlockDelta" and "text" in data["delta"]]
    assert "".join(texts) == ANSWER.text
    assert [name for name, _ in told][-2:] == ["messageStop", "metadata"]
    usage = told[-1][1]["usage"]
    assert (usage["inputTokens"], usage["outputTokens"], usage["totalTokens"]) == (7, 11, 28)
    assert usage["cacheDetails"] == [{"ttl": "5m", "inputTokens": 3}, {"ttl": "1h", "inputTokens": 2}]


@pytest.mark.parametrize("dialect", PATHS)
async def test_bytes_that_come_one_by_one_are_the_same_bytes(served: Served, dialect: str) -> None:
    whole = (await served.client.post(PATHS[dialect], json=ASKED)).content
    served.fake.script = Script(answer=ANSWER, every=1)
    async with served.client.stream("POST", PATHS[dialect], json=ASKED) as reply:
        reads = [read async for read in reply.aiter_raw()]

    assert b"".join(reads) == whole
    assert max(map(len, reads)) < 16


@pytest.mark.parametrize("dialect", PATHS)
async def test_it_counts_what_it_made_for_a_client_that_left(served: Served, dialect: str) -> None:
    served.fake.script = Script(answer=Answer(), gate=asyncio.Semaphore(1))
    async with served.client.stream("POST", PATHS[dialect], json=ASKED):
        await served.fake.until_made(2)
    gone = await served.fake.until_ended()

    assert (gone.ended, gone.made, gone.tokens.output) == ("left", 2, 2)


@pytest.mark.parametrize("dialect", PATHS)
@pytest.mark.parametrize("script", [Script(cut_after=2), Script(cut_at=0), Script(cut_at=40), Script(hang_up=True)])
async def test_it_drops_the_connection_where_it_is_told_to(served: Served, dialect: str, script: Script) -> None:
    served.fake.script = script
    with pytest.raises(httpx.HTTPError):
        await served.client.post(PATHS[dialect], json=ASKED)

    assert served.fake.last.ended == "cut"
    assert served.fake.last.made == (2 if script.cut_after else served.fake.last.made)


@pytest.mark.parametrize("dialect", PATHS)
@pytest.mark.parametrize("status", [400, 429, 500, 503, 529])
async def test_it_refuses_in_the_words_of_the_dialect(served: Served, dialect: str, status: int) -> None:
    served.fake.script = Script(status=status, error=("busy", "Not now."), headers={"retry-after": "7"})
    reply = await served.client.post(PATHS[dialect], json=ASKED)

    assert (reply.status_code, reply.headers["retry-after"]) == (status, "7")
    said = reply.json()
    assert "Not now." in (said.get("message"), said.get("error", {}).get("message"))


async def test_what_is_asked_for_is_told_as_the_script_has_it(served: Served) -> None:
    async def last_usage(script: Script, **more: Any) -> Any:
        served.fake.script = script
        return list(events((await served.client.post(PATHS["chat"], json=ASKED | more)).content))[-1].get("usage", "-")

    assert (await last_usage(Script(usage="null"))) is None
    assert (await last_usage(Script(usage="zero")))["total_tokens"] == 0
    assert (await last_usage(Script(usage="never"))) == "-"
    assert (await last_usage(Script(usage="with_finish")))["completion_tokens"] == 4
    assert (await last_usage(Script(), stream_options={})) == "-"


async def test_the_openai_sdk_reads_what_it_says(served: Served) -> None:
    async with openai.AsyncOpenAI(base_url=f"{served.client.base_url}/v1", api_key="x") as sdk:
        stream = await sdk.chat.completions.create(model="m", messages=[], stream=True)
        chunks: list[ChatCompletionChunk] = [chunk async for chunk in stream]
        whole = await sdk.responses.create(model="m", input="Hi")
        vectors = await sdk.embeddings.create(model="e", input=["a", "b"], encoding_format="float")

    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks) == ANSWER.text
    assert whole.output_text == ANSWER.text
    assert len(vectors.data) == 2
