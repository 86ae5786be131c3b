"""Faults that others have published about streams; each test is named for what is right."""

import asyncio
import itertools
from typing import Any, Final

import msgspec
import pytest

from gateway.policy.reliability import Timeouts
from tests.support.polyglot import DIALECTS, PATHS, Polyglot
from tests.support.providers.answer import Answer, ToolCall
from tests.support.providers.gateways import cost
from tests.support.providers.script import Script

PAIRS: Final = tuple(zip(DIALECTS, itertools.cycle(PATHS), strict=False))
OWN: Final = (("responses", "/v1/responses"), ("messages", "/v1/messages"))
CLEAN_ENDS: Final = ("[DONE]", "message_stop", "response.completed", '"finish_reason":"', '"stop_reason":"')
TWO_CALLS = Answer(
    texts=(),
    calls=(ToolCall("call_a", "weather", ('{"city":', '"Bonn"}')), ToolCall("call_b", "time", ('{"zone":', '"CET"}'))),
    finish="tool_calls",
)

ODD_CALLS: Final[dict[str, list[dict[str, Any]]]] = {
    "null for what was said": [
        {"index": 0, "id": "a", "type": "function", "function": {"name": "f", "arguments": '{"x":'}},
        {"index": 0, "id": None, "function": {"name": None, "arguments": "1}"}},
        {"index": 0, "id": "", "function": {"name": "", "arguments": ""}},
    ],
    "names said again": [
        {"index": 0, "id": "a", "type": "function", "function": {"name": "f", "arguments": '{"x":'}},
        {"index": 0, "id": "a", "type": "function", "function": {"name": "f", "arguments": "1}"}},
    ],
    "no index": [{"id": "a", "type": "function", "function": {"name": "f", "arguments": '{"x":1}'}}],
    "counted from one": [
        {"index": 1, "id": "a", "type": "function", "function": {"name": "f", "arguments": '{"x":1}'}}
    ],
    "an object": [{"index": 0, "id": "a", "type": "function", "function": {"name": "f", "arguments": {"x": 1}}}],
}


def chunks(text: str) -> list[dict[str, Any]]:
    events = [event for event in text.strip().split("\n\n") if event != "data: [DONE]"]
    return [msgspec.json.decode(event.removeprefix("data: ")) for event in events]


@pytest.mark.parametrize(("model", "path"), PAIRS)
async def test_a_stream_that_its_provider_cut_ends_with_an_error_and_what_was_made_is_paid(
    shop: Polyglot, model: str, path: str
) -> None:
    """Portkey-AI/gateway 1797, BerriAI/litellm 40404: it ends as if it were whole."""
    shop.fake.script = Script(cut_after=2)
    reply = await shop.ask(model, path, stream=True)
    row = (await shop.booked(reply)).request

    assert not [end for end in CLEAN_ENDS if end in reply.text]
    assert '"upstream_error"' in reply.text.strip().split("\n\n")[-1]
    assert (row.outcome, row.code) == ("failed", "upstream_error")
    assert 0 < row.cost.nanos <= row.held.nanos


@pytest.mark.parametrize("model", DIALECTS)
async def test_an_error_of_the_provider_ends_the_stream_and_keeps_nobody_hanging(shop: Polyglot, model: str) -> None:
    """envoyproxy/ai-gateway 805, 840: the client is left hanging."""
    shop.fake.script = Script(fail_after=1)
    async with asyncio.timeout(10):
        reply = await shop.ask(model, stream=True)

    assert "error" in chunks(reply.text)[-1]
    assert (await shop.booked(reply)).request.outcome == "failed"


@pytest.mark.parametrize("model", DIALECTS)
async def test_calls_side_by_side_keep_their_ids_names_and_arguments(shop: Polyglot, model: str) -> None:
    """BerriAI/litellm 20711, 39796, 40069, 39288, 38926, 7621: pieces of calls are lost or merged."""
    shop.fake.script = Script(answer=TWO_CALLS)
    deltas = [chunk["choices"][0]["delta"] for chunk in chunks((await shop.ask(model, stream=True)).text)]
    whole = (await shop.ask(model)).json()["choices"][0]["message"]["tool_calls"]
    streamed: dict[int, list[str]] = {0: ["", "", ""], 1: ["", "", ""]}
    for call in (call for delta in deltas for call in delta.get("tool_calls") or ()):
        said, function = streamed[call["index"]], call.get("function", {})
        said[0] += call.get("id") or ""
        said[1] += function.get("name") or ""
        said[2] += function.get("arguments") or ""

    told = [[call["id"], call["function"]["name"], call["function"]["arguments"]] for call in whole]
    for found in (list(streamed.values()), told):
        assert [(one, name, msgspec.json.decode(arguments)) for one, name, arguments in found] == [
            ("call_a", "weather", {"city": "Bonn"}),
            ("call_b", "time", {"zone": "CET"}),
        ]


@pytest.mark.parametrize("odd", ODD_CALLS)
async def test_a_call_that_is_told_oddly_is_understood_in_every_dialect(shop: Polyglot, odd: str) -> None:
    """BerriAI/litellm 20711, 39796, 40069: pieces of calls lose their index, their id or their name."""
    head = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    deltas: list[dict[str, Any]] = [{"tool_calls": [call]} for call in ODD_CALLS[odd]]
    told: list[dict[str, Any]] = [
        {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas
    ]
    told.append({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]})
    told.append({"choices": [], "usage": {"prompt_tokens": 12, "completion_tokens": 4, "total_tokens": 16}})
    events = [b"data: " + msgspec.json.encode(head | each) + b"\n\n" for each in told]
    shop.fake.script = Script(body=b"".join([*events, b"data: [DONE]\n\n"]))
    chat = await shop.ask("chat")
    messages = await shop.ask("chat", "/v1/messages")
    responses = await shop.ask("chat", "/v1/responses")

    function = {"name": "f", "arguments": '{"x":1}'}
    assert chat.json()["choices"][0]["message"]["tool_calls"] == [{"id": "a", "type": "function", "function": function}]
    assert messages.json()["content"] == [{"type": "tool_use", "id": "a", "name": "f", "input": {"x": 1}}]
    (call,) = responses.json()["output"]
    assert {name: call[name] for name in ("call_id", "name", "arguments")} == {"call_id": "a", **function}
    assert (await shop.booked(chat)).request.cost.nanos == 12 * 3000 + 4 * 15000


@pytest.mark.parametrize(("model", "path"), PAIRS)
async def test_the_first_piece_arrives_before_the_second_is_made(shop: Polyglot, model: str, path: str) -> None:
    """BerriAI/litellm 26102: the stream arrives at once, when it is over."""
    shop.fake.script = Script(gate=asyncio.Semaphore(0))
    asked = {**PATHS[path], "model": model, "stream": True}
    async with shop.gateway.client.stream("POST", path, json=asked, headers={"x-api-key": shop.key}) as reply:
        reads, heard = reply.aiter_raw(), b""
        while b"Hello" not in heard:
            heard += await anext(reads)
        made = shop.fake.last.made
        shop.fake.script.let_go()
        rest = b"".join([read async for read in reads])

    assert made == 1
    assert b"world" in rest


async def test_a_time_out_comes_when_nothing_does_and_never_to_a_stream_that_lives(shop: Polyglot) -> None:
    """BerriAI/litellm 38358, 39898, 19184: it never fires, or it kills streams that are well."""
    catalogue = shop.gateway.services.in_force.governed.chat.catalogue
    upstream: Any = catalogue.upstream(catalogue.models["chat"])
    kept, upstream.timeouts = upstream.timeouts, Timeouts(first_token_s=1.0, idle_s=1.0)
    try:
        shop.fake.script = Script(silent=asyncio.Event())
        late = await shop.ask("chat", stream=True)
        shop.fake.script = Script(answer=Answer(texts=("a",) * 12), pause_s=0.1)
        alive = await shop.ask("chat")
    finally:
        upstream.timeouts = kept

    assert (late.status_code, late.json()["error"]["code"]) == (504, "upstream_timeout")
    assert alive.json()["choices"][0]["message"]["content"] == "a" * 12
    assert (await shop.booked(alive)).request.cost == cost(shop.fake.last.tokens)


async def test_a_call_that_is_given_up_at_its_deadline_goes_on_for_nobody(shop: Polyglot) -> None:
    """gumroad 7246: it is billed by the time it took, while the provider makes, and bills, the whole answer."""
    shop.fake.script = Script(gate=asyncio.Semaphore(1))
    reply = await shop.ask("chat", headers={"x-sluice-timeout-ms": "300"})
    row = (await shop.booked(reply)).request

    assert (reply.status_code, row.code) == (504, "upstream_timeout")
    assert (await shop.fake.until_ended()).ended == "left"
    assert shop.fake.last.made < len(shop.fake.last.answer.pieces)
    assert row.estimated
    assert 0 < row.cost.nanos <= row.held.nanos


@pytest.mark.parametrize("every", [1, 3])
@pytest.mark.parametrize(("model", "path"), [*PAIRS, *OWN])
async def test_characters_of_several_bytes_survive_however_their_stream_is_cut(
    shop: Polyglot, model: str, path: str, every: int
) -> None:
    """claude-code-router 1672, aisix 111, plano 980, liter-llm 152: characters at the edge of a read are broken."""
    texts = ("né", "日本", "🙂𝄞")
    shop.fake.script = Script(answer=Answer(texts=texts), every=every)
    reply = await shop.ask(model, path, stream=True)

    assert all(f'"{text}"' in reply.text for text in texts)
    assert "\N{REPLACEMENT CHARACTER}" not in reply.text
    assert (await shop.booked(reply)).request.cost == cost(shop.fake.last.tokens)
