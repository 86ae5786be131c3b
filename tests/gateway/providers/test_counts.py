"""A provider is asked to count a prompt in its own words, and believed only where its answer makes sense."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any

import httpx
import msgspec
import pytest

from gateway.providers.apis.anthropic import AnthropicApi
from gateway.providers.apis.gemini import GeminiApi
from gateway.providers.apis.manners import OWN
from gateway.providers.apis.openai import OpenAIApi
from gateway.providers.http import Habits, HttpUpstream
from gateway.providers.kinds import ANTHROPIC, CLOUD, ENGINE, GOOGLE, VLLM
from gateway.providers.upstream import Call
from governance.confinement.confined import UNCONFINED

BODY: dict[str, Any] = {
    "model": "m", "temperature": 0.5, "stream": True, "messages": [{"role": "user", "content": "How long?"}],
    "tools": [{"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {}}}}],
}  # fmt: skip
CALL = Call(body=BODY, confined=UNCONFINED, max_tokens=1, tenant="")
OPENAI, MESSAGES, GEMINI = OpenAIApi(None, OWN), AnthropicApi("key", lambda: 0.0), GeminiApi("key", lambda: 0.0)
Answer = Callable[[httpx.Request], httpx.Response]


def says(value: Any, status: int = 200) -> httpx.Response:
    async def parts() -> AsyncGenerator[bytes]:
        yield value if isinstance(value, bytes) else msgspec.json.encode(value)

    return httpx.Response(status, content=parts())


@asynccontextmanager
async def upstream(habits: Habits, api: Any, answer: Answer) -> AsyncGenerator[HttpUpstream]:
    async with httpx.AsyncClient(base_url="http://up/v1/", transport=httpx.MockTransport(answer)) as client:
        yield HttpUpstream("up", "cloud", habits, api, client)


@pytest.mark.parametrize(
    ("habits", "api", "path", "names", "field"),
    [
        (ENGINE, OPENAI, "/tokenize", {"model", "messages", "tools"}, "count"),
        (VLLM, OPENAI, "/tokenize", {"model", "messages", "tools"}, "count"),
        (ANTHROPIC, MESSAGES, "/v1/v1/messages/count_tokens", {"model", "messages", "tools"}, "input_tokens"),
        (GOOGLE, GEMINI, "/v1/models/m:countTokens", {"generateContentRequest"}, "totalTokens"),
    ],
)
async def test_each_kind_is_asked_for_the_prompt_alone_where_it_counts(
    habits: Habits, api: Any, path: str, names: set[str], field: str
) -> None:
    asked: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request)
        return says({field: 17})

    async with upstream(habits, api, answer) as up:
        assert await up.count(CALL, "req_1") == 17
    (request,) = asked
    assert request.url.path == path
    assert set(msgspec.json.decode(request.content)) == names


@pytest.mark.parametrize(
    ("value", "status"),
    [
        (b"", 404),
        ({"error": {"message": "no"}}, 500),
        ({"count": "many"}, 200),
        ({"count": -1}, 200),
        ({"count": True}, 200),
        ({"error": {"message": "no"}, "count": 17}, 200),
        ([17], 200),
        (b"{", 200),
    ],
)
async def test_an_answer_that_makes_no_sense_is_no_count(value: Any, status: int) -> None:
    async with upstream(VLLM, OPENAI, lambda _: says(value, status)) as up:
        assert await up.count(CALL, "req_1") is None


async def test_what_a_provider_has_no_word_for_is_not_counted_by_it() -> None:
    call = Call(body=BODY | {"top_k": 5}, confined=UNCONFINED, max_tokens=1, tenant="", spoken="messages")
    async with upstream(VLLM, OPENAI, lambda _: says({"count": 17})) as up:
        assert await up.count(call, "req_1") is None


async def test_whoever_cannot_count_is_not_asked() -> None:
    def answer(_: httpx.Request) -> httpx.Response:
        raise AssertionError

    async with upstream(CLOUD, OPENAI, answer) as up:
        assert await up.count(CALL, "req_1") is None
