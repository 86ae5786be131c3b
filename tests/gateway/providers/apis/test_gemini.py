"""A provider that speaks Gemini, over a real socket: what it is asked, and what its answers come to."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import pytest

from gateway.errors import ContextTooLong, UpstreamError, UpstreamOverloaded, UpstreamRefused
from gateway.providers.apis.gemini import GeminiApi
from gateway.providers.http import HttpUpstream
from gateway.providers.kinds import CLOUD
from gateway.providers.transport import open_client
from gateway.providers.upstream import Call
from gateway.wire.fold import Fold
from governance.confinement.confined import UNCONFINED
from tests.support.providers.answer import Answer, Prompt, ToolCall
from tests.support.providers.fake import FakeProvider
from tests.support.providers.script import Script
from tests.support.running_gateway import POLICY, RunningGateway, running_gateway
from tests.support.scripted_upstream import serve

ANSWER = Answer(
    thoughts=("Let", " me", " see"),
    texts=("Zürich ", "— ", "🙂"),
    calls=(ToolCall("call_1", "weather", ('{"city":', '"Zürich"}')),),
    finish="tool_calls",
    prompt=Prompt(fresh=7, read=5),
)
CHAT: dict[str, Any] = {"model": "gemini-2.5-pro", "messages": [{"role": "user", "content": "Hi"}]}


@dataclass(frozen=True)
class Spoken:
    fake: FakeProvider
    upstream: HttpUpstream

    async def answer(self, **fields: Any) -> dict[str, Any]:
        """Ask for an answer and return the completion that it comes to."""
        fold = Fold()
        wanted = self.upstream.write(Call(body=CHAT | fields, confined=UNCONFINED, max_tokens=64, tenant="red/bot"))
        async with self.upstream.stream(wanted, "req-1") as chunks:
            async for chunk in chunks:
                fold.add(chunk.value)
        return fold.completion()


@pytest.fixture
async def spoken() -> AsyncGenerator[Spoken]:
    fake = FakeProvider(Script(answer=ANSWER))
    async with serve(fake.app()) as port, open_client(f"http://127.0.0.1:{port}/v1beta") as client:
        yield Spoken(fake, HttpUpstream("google", "cloud", CLOUD, GeminiApi("AIza-secret", lambda: 7.9), client))


@asynccontextmanager
async def governed(fake: FakeProvider, tmp_path: Path) -> AsyncGenerator[RunningGateway]:
    """Run a gateway whose far models are those of `fake`."""
    async with serve(fake.app()) as port:
        provider = {
            "kind": "gemini",
            "zone": "cloud",
            "base_url": f"http://127.0.0.1:{port}/v1beta",
            "api_key": "${GOOGLE_KEY}",
        }
        models = [
            {"name": "far", "provider": "google", "model": "gemini-2.5-pro", "tier": "cloud",
             "price": {"input": 3, "cached_input": 0.3, "output": 15}},
            {"name": "vectors", "provider": "google", "model": "gemini-embedding-001", "tier": "cloud",
             "kind": "embedding", "price": {"input": 1}},
        ]  # fmt: skip
        document: Mapping[str, Any] = POLICY | {
            "providers": POLICY["providers"] | {"google": provider},
            "models": [*POLICY["models"], *models],
            "cache": {},
        }
        async with running_gateway(tmp_path, dict(document), GOOGLE_KEY="AIza-secret") as gateway:
            yield gateway


async def test_a_chat_is_asked_for_at_the_models_own_path_with_the_key_and_a_bound(spoken: Spoken) -> None:
    await spoken.answer(stream=True, max_tokens=9)

    assert spoken.fake.last.path == "/v1beta/models/gemini-2.5-pro:streamGenerateContent"
    assert spoken.fake.last.headers["x-goog-api-key"] == "AIza-secret"
    assert "authorization" not in spoken.fake.last.headers
    assert {name: part for name, part in spoken.fake.last.body.items() if name != "model"} == {
        "contents": [{"role": "user", "parts": [{"text": "Hi"}]}],
        "generationConfig": {"maxOutputTokens": 64},
    }


async def test_a_model_that_says_where_it_stands_is_asked_there(spoken: Spoken) -> None:
    await spoken.answer(model="models/gemini-2.5-pro")

    assert spoken.fake.last.path == "/v1beta/models/gemini-2.5-pro:streamGenerateContent"


@pytest.mark.parametrize("every", [None, 1])
async def test_an_answer_is_heard_whatever_it_is_cut_into(spoken: Spoken, every: int | None) -> None:
    spoken.fake.script = Script(answer=ANSWER, every=every, comments=True)
    completion = await spoken.answer()
    (said,) = completion["choices"]

    assert (said["message"]["reasoning_content"], said["message"]["content"]) == ("Let me see", "Zürich — 🙂")
    assert said["finish_reason"] == "tool_calls"
    assert said["message"]["tool_calls"] == [
        {
            "id": "call_1",
            "type": "function",
            "function": {"name": "weather", "arguments": '{"city":"Zürich"}'},
            "extra_content": {"google": {"thought_signature": "c2VhbGVk"}},
        }
    ]
    assert (completion["id"], completion["created"], completion["model"]) == ("resp-1", 7, "gemini-2.5-pro")


async def test_the_usage_is_what_the_provider_has_served(spoken: Spoken) -> None:
    usage, served = (await spoken.answer())["usage"], spoken.fake.last.tokens

    assert usage["prompt_tokens"] == served.prompt.total
    assert usage["prompt_tokens_details"]["cached_tokens"] == served.prompt.read
    assert usage["completion_tokens"] == served.output
    assert usage["completion_tokens_details"]["reasoning_tokens"] == served.reasoning
    assert usage["total_tokens"] == served.total


@pytest.mark.parametrize("made", range(1, 7))  # the call, of two tokens, comes at once
async def test_wherever_a_stream_breaks_off_what_was_made_has_been_told(spoken: Spoken, made: int) -> None:
    spoken.fake.script = Script(answer=ANSWER, cut_after=made)
    told: list[dict[str, Any]] = []

    async def listen() -> None:
        wanted = spoken.upstream.write(Call(body=CHAT, confined=UNCONFINED, max_tokens=64, tenant="red/bot"))
        async with spoken.upstream.stream(wanted, "req-1") as chunks:
            async for chunk in chunks:
                told.append(chunk.value["usage"])  # noqa: PERF401  it breaks off

    with pytest.raises(UpstreamError):
        await listen()
    assert told[-1]["total_tokens"] == spoken.fake.last.tokens.total


async def test_an_answer_in_one_piece_is_heard_too(spoken: Spoken) -> None:
    reply = {
        "candidates": [{"content": {"parts": [{"text": "Hi"}]}, "finishReason": "STOP"}],
        "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 2, "totalTokenCount": 3},
    }
    spoken.fake.script = Script(body=msgspec.json.encode(reply))
    completion = await spoken.answer()

    assert completion["choices"][0]["message"]["content"] == "Hi"
    assert completion["usage"]["total_tokens"] == 3


async def test_an_error_in_the_stream_breaks_it_off(spoken: Spoken) -> None:
    spoken.fake.script = Script(answer=ANSWER, fail_after=2)
    with pytest.raises(UpstreamError, match="answered with an error"):
        await spoken.answer()


def refused(status: int, message: str, *details: dict[str, Any], code: str = "INVALID_ARGUMENT") -> Script:
    """Return a refusal as Google writes it where a list was to be the answer."""
    error = {"code": status, "message": message, "status": code, "details": details}
    return Script(status=status, body=msgspec.json.encode([{"error": error}]), kind="application/json")


async def test_a_request_that_is_wrong_is_refused_in_googles_words(spoken: Spoken) -> None:
    spoken.fake.script = refused(400, "Logprobs is not supported for this model.")
    with pytest.raises(UpstreamRefused, match="Logprobs is not supported"):
        await spoken.answer()


async def test_a_prompt_that_does_not_fit_is_known_by_googles_words(spoken: Spoken) -> None:
    words = "The input token count (1091639) exceeds the maximum number of tokens allowed (1048576)."
    spoken.fake.script = refused(400, words)
    with pytest.raises(ContextTooLong, match="1091639"):
        await spoken.answer()


async def test_the_time_to_wait_is_taken_from_the_body(spoken: Spoken) -> None:
    spoken.fake.script = refused(429, "Quota exceeded.", {"retryDelay": "59.44s"}, code="RESOURCE_EXHAUSTED")
    with pytest.raises(UpstreamOverloaded) as busy:
        await spoken.answer()
    assert busy.value.retry_after_s == 60


async def test_a_bad_key_of_ours_is_no_fault_of_the_request(spoken: Spoken) -> None:
    words = "API key not valid. Please pass a valid API key."
    spoken.fake.script = refused(400, words, {"reason": "API_KEY_INVALID"})
    with pytest.raises(UpstreamError) as failed:
        await spoken.answer()
    assert not isinstance(failed.value, UpstreamRefused)
    assert "API key" not in str(failed.value)


async def test_texts_are_embedded_in_one_batch(spoken: Spoken) -> None:
    body = {"model": "gemini-embedding-001", "input": ["a", "b"]}
    reply = await spoken.upstream.embed(spoken.upstream.write_embeddings(body, UNCONFINED), body, "req-1")

    assert spoken.fake.last.path == "/v1beta/models/gemini-embedding-001:batchEmbedContents"
    assert [entry["index"] for entry in reply["data"]] == [0, 1]
    assert reply["model"] == "gemini-embedding-001"


@pytest.mark.parametrize("stream", [False, True])
async def test_a_chat_is_paid_for_by_what_google_counts(tmp_path: Path, stream: bool) -> None:
    fake = FakeProvider(Script(answer=ANSWER))
    async with governed(fake, tmp_path) as gateway:
        reply = await gateway.chat(await gateway.key("blue"), model="far", stream=stream)
        (row,) = await gateway.rows(1)

    assert reply.status_code == 200
    assert (row.outcome, row.estimated) == ("ok", False)
    assert (row.input_tokens, row.output_tokens) == (12, fake.last.tokens.output)
    # 7 fresh at 3 USD, 5 cached at 0.3 USD and 8 out at 15 USD, thoughts among them, each per million.
    assert row.cost.usd == "0.0001425"


async def test_what_gemini_has_no_word_for_is_refused_before_it_is_asked(tmp_path: Path) -> None:
    fake = FakeProvider()
    async with governed(fake, tmp_path) as gateway:
        reply = await gateway.chat(await gateway.key("blue"), model="far", logit_bias={"5": 1})

    assert (reply.status_code, reply.json()["error"]["param"]) == (400, "logit_bias")
    assert fake.served == []


async def test_vectors_whose_tokens_google_does_not_tell_are_paid_for_by_a_marked_estimate(tmp_path: Path) -> None:
    fake = FakeProvider()
    async with governed(fake, tmp_path) as gateway:
        key = await gateway.key("blue")
        asked = {"model": "vectors", "input": ["a", "b"], "encoding_format": "base64"}
        reply = await gateway.client.post("/v1/embeddings", json=asked, headers={"authorization": f"Bearer {key}"})
        (row,) = await gateway.rows(1)

    assert [isinstance(entry["embedding"], str) for entry in reply.json()["data"]] == [True, True]
    assert (row.outcome, row.estimated) == ("ok", True)
