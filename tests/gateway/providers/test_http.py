"""What a provider may send, and how much of it is read."""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest

from gateway.errors import OutOfZone, UpstreamError, UpstreamRefused
from gateway.providers.apis.manners import OWN
from gateway.providers.apis.openai import OpenAIApi
from gateway.providers.http import HttpUpstream
from gateway.providers.kinds import ENGINE
from gateway.providers.replies import MOST_EMBEDDINGS_BYTES, MOST_MODELS_BYTES, MOST_REFUSAL_BYTES
from gateway.providers.upstream import Wanted
from governance.confinement.confined import UNCONFINED, Confined
from tests.support.running_gateway import policy, running_gateway

MEBIBYTE = 2**20
DELTA = b'data: {"choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":"stop"}]}\n\n'
USAGE = b'{"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":1}}'


@dataclass
class Provider:
    """Answers every call with `status` and a body of `times` parts, and counts the bytes that were taken from it."""

    part: bytes
    times: int = 1
    status: int = 200
    taken: int = 0

    async def _parts(self) -> AsyncIterator[bytes]:
        for _ in range(self.times):
            self.taken += len(self.part)
            yield self.part

    def answer(self, request: httpx.Request) -> httpx.Response:
        if request.url.path.endswith("/health"):
            return httpx.Response(200)
        return httpx.Response(self.status, content=self._parts())

    @asynccontextmanager
    async def upstream(self) -> AsyncGenerator[HttpUpstream]:
        async with httpx.AsyncClient(base_url="http://up/v1/", transport=httpx.MockTransport(self.answer)) as client:
            yield HttpUpstream("up", "onprem", ENGINE, OpenAIApi(None, OWN), client)

    async def chat(self) -> list[tuple[bytes, dict[str, Any]]]:
        wanted = Wanted("chat/completions", {}, confined=UNCONFINED)
        async with self.upstream() as upstream, upstream.stream(wanted, "r") as chunks:
            return [(chunk.payload, chunk.value) async for chunk in chunks]

    async def embed(self) -> dict[str, Any]:
        async with self.upstream() as upstream:
            return await upstream.embed(upstream.write_embeddings({}, UNCONFINED), {}, "r")


@pytest.mark.parametrize("confined", [None, Confined("cloud", frozenset({"cloud"}))])
async def test_nothing_is_posted_that_may_not_go_there_or_of_which_nobody_has_said_where(
    confined: Confined | None,
) -> None:
    provider = Provider(DELTA)
    async with provider.upstream() as upstream:
        with pytest.raises(OutOfZone):
            async with upstream.stream(Wanted("chat/completions", {}, confined=confined), "r"):
                pass
    assert provider.taken == 0


async def test_no_more_of_a_refusal_is_read_than_a_sentence_needs() -> None:
    provider = Provider(b"a" * 32768, times=300, status=500)
    with pytest.raises(UpstreamError, match="status 500"):
        await provider.chat()
    assert provider.taken == MOST_REFUSAL_BYTES


async def test_a_short_refusal_is_still_understood() -> None:
    with pytest.raises(UpstreamRefused, match="bad tool"):
        await Provider(b'{"error":{"message":"bad tool"}}', status=400).embed()


async def test_embeddings_without_end_are_given_up() -> None:
    provider = Provider(b" " * MEBIBYTE, times=10_000)
    with pytest.raises(UpstreamError, match="more than 128 MiB"):
        await provider.embed()
    assert provider.taken == MOST_EMBEDDINGS_BYTES + MEBIBYTE


async def test_a_list_of_models_without_end_is_given_up() -> None:
    provider = Provider(b" " * MEBIBYTE, times=10_000)
    async with provider.upstream() as upstream:
        await upstream.refresh()
        assert upstream.status.reason == "sends nonsense"
    assert provider.taken == MOST_MODELS_BYTES + MEBIBYTE


@pytest.mark.parametrize(
    "body", [b'{"error":{"message":"no model"}}', b'{"error":"no"}', b'{"object":"list"}', b'{"data":"x"}', b"[]", b""]
)
async def test_what_holds_no_embeddings_is_an_upstream_error_whatever_its_status(body: bytes) -> None:
    with pytest.raises(UpstreamError):
        await Provider(body).embed()


@pytest.mark.parametrize("end", [b"data: [DONE]\n", b"data: [DONE]", b"data: {broken", b": comment", b""])
async def test_an_answer_that_is_complete_survives_a_careless_end(end: bytes) -> None:
    assert [payload for payload, _ in await Provider(DELTA + end).chat()] == [DELTA[6:-2]]


async def test_usage_without_its_blank_line_still_counts() -> None:
    assert (await Provider(DELTA + b"data: " + USAGE).chat())[-1][0] == USAGE


async def test_an_error_without_its_blank_line_is_still_an_error() -> None:
    with pytest.raises(UpstreamError, match="answered with an error"):
        await Provider(DELTA + b'data: {"error":{"message":"out of memory"}}').chat()


COMPLETION: dict[str, Any] = {
    "id": "c", "object": "chat.completion", "created": 1, "model": "m",
    "choices": [{"index": 0, "finish_reason": "tool_calls", "message": {
        "role": "assistant", "content": "Hi",
        "tool_calls": [{"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]}}],
    "usage": {"prompt_tokens": 7, "completion_tokens": 2, "total_tokens": 9},
}  # fmt: skip


@pytest.mark.parametrize("stream", [True, False])
async def test_a_whole_completion_in_place_of_a_stream_is_passed_on_and_settled_by_its_usage(
    tmp_path: Path, stream: bool
) -> None:
    async with running_gateway(tmp_path, policy(cache={})) as gateway:
        gateway.upstream.script.raw = b"\n" + msgspec.json.encode(COMPLETION)
        reply = await gateway.chat(await gateway.key(), stream=stream)
        (row,) = await gateway.rows(1)

    assert (row.outcome, row.input_tokens, row.output_tokens, row.estimated) == ("ok", 7, 2, False)
    if stream:
        first, done = reply.text.strip().split("\n\n")
        (part,) = msgspec.json.decode(first.removeprefix("data: "))["choices"]
        assert done == "data: [DONE]"
        assert part["delta"]["tool_calls"][0] == {"index": 0} | COMPLETION["choices"][0]["message"]["tool_calls"][0]
    else:
        message = reply.json()["choices"][0]["message"]
        assert message == COMPLETION["choices"][0]["message"]


async def test_an_error_in_place_of_a_stream_is_an_upstream_error() -> None:
    with pytest.raises(UpstreamError):
        await Provider(b'{"error":{"message":"quota"}}').chat()
