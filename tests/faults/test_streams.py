"""Faults that others have published about streams, retries and what is sent on; each is named for what is right."""

import asyncio
from pathlib import Path
from typing import Any

import msgspec
import pytest

from gateway.counting.makeup import makeup
from gateway.counting.pictures import likely_picture_tokens
from gateway.policy.reliability import Timeouts
from tests.support.providers.answer import Answer, ToolCall
from tests.support.providers.gateways import FarGateway, far_gateway
from tests.support.providers.script import Script

TWO_CALLS = Answer(
    texts=(),
    calls=(ToolCall("call_a", "weather", ('{"city":', '"Bonn"}')), ToolCall("call_b", "time", ('{"zone":', '"CET"}'))),
    finish="tool_calls",
)


def chunks(text: str) -> list[dict[str, Any]]:
    events = [event for event in text.strip().split("\n\n") if event != "data: [DONE]"]
    return [msgspec.json.decode(event.removeprefix("data: ")) for event in events]


async def test_a_stream_that_its_provider_cut_has_no_clean_end(far: FarGateway) -> None:
    """Portkey-AI/gateway 1797, BerriAI/litellm 40404: it ends as if it were whole."""
    far.fake.script = Script(cut_after=2)
    text = (await far.plain(stream=True)).text

    assert "[DONE]" not in text
    assert "error" in chunks(text)[-1]


async def test_an_answer_that_has_begun_is_never_asked_for_again(tmp_path: Path) -> None:
    """llm_proxy 4: a call is repeated though its client has heard something of it."""
    async with far_gateway(tmp_path, "chat", reliability={}) as far:
        far.fake.scripts.extend([Script(cut_after=2), Script()])
        text = (await far.plain(stream=True)).text

        assert len(far.fake.served) == 1
        assert "error" in chunks(text)[-1]


@pytest.mark.parametrize("status", [400, 404, 422])
async def test_a_request_that_is_wrong_is_not_sent_again(tmp_path: Path, status: int) -> None:
    """BerriAI/litellm 23546, 6498, 25843: the wrong errors are retried."""
    async with far_gateway(tmp_path, "chat", reliability={}) as far:
        far.fake.script = Script(status=status, error=("bad", "No such thing."))
        reply = await far.plain()

        assert len(far.fake.served) == 1
        assert reply.headers["x-should-retry"] == "false"


async def test_calls_side_by_side_keep_their_ids_names_and_arguments(far: FarGateway) -> None:
    """BerriAI/litellm 20711, 39796, 40069, 39288, 38926, 7621: pieces of calls are lost or merged."""
    far.fake.script = Script(answer=TWO_CALLS)
    deltas = [chunk["choices"][0]["delta"] for chunk in chunks((await far.plain(stream=True)).text)]
    whole = (await far.plain()).json()["choices"][0]["message"]["tool_calls"]
    streamed: dict[int, list[str]] = {0: ["", "", ""], 1: ["", "", ""]}
    for call in (call for delta in deltas for call in delta.get("tool_calls") or ()):
        said, function = streamed[call["index"]], call.get("function", {})
        said[0] += call.get("id") or ""
        said[1] += function.get("name") or ""
        said[2] += function.get("arguments") or ""

    told = [[call["id"], call["function"]["name"], call["function"]["arguments"]] for call in whole]
    for found in (list(streamed.values()), told):
        assert [(name, msgspec.json.decode(arguments)) for _, name, arguments in found] == [
            ("weather", {"city": "Bonn"}),
            ("time", {"zone": "CET"}),
        ]
        assert [call_id for call_id, _, _ in found] == ["call_a", "call_b"]


async def test_the_first_piece_arrives_before_the_last_is_made(far: FarGateway) -> None:
    """BerriAI/litellm 26102: the stream arrives at once, when it is over."""
    far.fake.script = Script(gate=asyncio.Semaphore(0))
    async with far.streamed() as reply:
        heard = b""
        async for read in reply.aiter_raw():
            heard += read
            if b"Hello" in heard:
                break

        assert far.fake.last.made == 1


async def test_a_time_out_comes_when_nothing_does_and_never_to_a_stream_that_lives(far: FarGateway) -> None:
    """BerriAI/litellm 38358, 39898, 19184: it never fires, or it kills streams that are well."""
    far.upstream.timeouts = Timeouts(first_token_s=0.2, idle_s=0.5)
    far.fake.script = Script(silent=asyncio.Event())
    assert (await far.plain(stream=True)).status_code == 504
    far.fake.script = Script(answer=Answer(texts=("a",) * 15), pause_s=0.05)
    assert (await far.plain()).json()["choices"][0]["message"]["content"] == "a" * 15


async def test_characters_of_several_bytes_survive_however_their_stream_is_cut(far: FarGateway) -> None:
    """claude-code-router 1672, aisix 111, plano 980, liter-llm 152: characters at the edge of a read are broken."""
    answer = Answer(texts=("né", "日本", "🙂𝄞"))
    for every in (1, 2, 3, 5):
        far.fake.script = Script(answer=answer, every=every)
        deltas = [chunk["choices"][0]["delta"] for chunk in chunks((await far.plain(stream=True)).text)]

        assert "".join(delta.get("content") or "" for delta in deltas) == answer.text


async def test_an_error_of_the_provider_ends_the_stream_at_once(far: FarGateway) -> None:
    """envoyproxy/ai-gateway 805, 840: its client is left hanging."""
    far.fake.script = Script(fail_after=1)
    async with asyncio.timeout(10):
        text = (await far.plain(stream=True)).text

    assert "error" in chunks(text)[-1]


@pytest.mark.parametrize(("kind", "marks"), [("messages", "cache_control"), ("converse", "cachePoint")])
async def test_marks_for_a_cache_survive_translation(tmp_path: Path, kind: str, marks: str) -> None:
    """agentgateway 2628: `cache_control` is dropped, and with it the discount."""
    part = {"type": "text", "text": "A long story.", "cache_control": {"type": "ephemeral"}}
    async with far_gateway(tmp_path, kind) as far:
        await far.plain(messages=[{"role": "user", "content": [part]}])

        assert marks in str(far.fake.last.body["messages"])


async def test_a_provider_never_sees_the_key_of_our_client(far: FarGateway) -> None:
    """BerriAI/litellm 32202, 12090, 37905: the client's credentials are passed on."""
    headers = {"authorization": f"Bearer {far.key}", "cookie": "a=b", "x-forwarded-for": "10.0.0.1"}
    body = {"model": "far", "messages": [{"role": "user", "content": "Hi"}]}
    await far.gateway.client.post("/v1/chat/completions", json=body, headers=headers)
    sent = far.fake.last.headers

    assert far.key not in str(sent)
    assert "sk-far" in str(sent)
    assert not {"cookie", "x-forwarded-for"} & set(sent)


async def test_a_call_that_failed_before_it_began_gives_all_of_its_hold_back(far: FarGateway) -> None:
    """BerriAI/litellm 28283: what is reserved drifts with every error."""
    for status in (400, 401, 429, 500, 503):
        far.fake.script = Script(status=status)
        await far.plain()
    rows = (await far.gateway.rows(far.before + 5))[:5]

    assert {row.cost.nanos for row in rows} == {0}
    assert far.gateway.services.purse.open_holds == 0


def test_a_large_picture_is_no_85_tokens_to_claude() -> None:
    """BerriAI/litellm 39910, 36604, 38657: it is counted by another maker's formula, up to 32 times too low."""
    png = "iVBORw0KGgoAAAANSUhEUgAABAAAAAQACAYAAAB/HSuDAAAAAElFTkSuQmCC"  # the head of one of 1024 by 1024 pixels
    part = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{png}"}}
    (picture,) = makeup({"messages": [{"role": "user", "content": [part]}]}).pictures

    assert (picture.width, picture.height) == (1024, 1024)
    assert likely_picture_tokens("claude-opus-4-1", picture) > 1000
    assert likely_picture_tokens("gpt-4.1", picture) > 85


@pytest.mark.parametrize("url", ["data:image/png;base64,AAAA", "data:image/png;base64,!", "https://example.org/a.png"])
async def test_a_picture_that_cannot_be_counted_fails_no_request(tmp_path: Path, url: str) -> None:
    """BerriAI/litellm 36604: counting it is a server error."""
    part = {"type": "image_url", "image_url": {"url": url}}
    async with far_gateway(tmp_path, "chat") as far:
        reply = await far.plain(messages=[{"role": "user", "content": [part]}])

        assert reply.status_code == 200
