"""Whatever a client sends, the reply is the contract's error and nothing is charged."""

from collections.abc import AsyncGenerator
from pathlib import Path

import httpx
import pytest

from tests.support.running_gateway import RunningGateway, policy, running_gateway

OK = '{"role":"user","content":"hi"}'


@pytest.fixture
async def gateway(tmp_path: Path) -> AsyncGenerator[RunningGateway]:
    async with running_gateway(tmp_path, policy(cache={})) as running:
        yield running


async def send(gateway: RunningGateway, body: bytes | str, path: str = "/v1/chat/completions") -> httpx.Response:
    key = await gateway.key()
    return await gateway.client.post(path, content=body, headers={"authorization": f"Bearer {key}"})


BAD = {
    "nothing": b"",
    "not JSON": b"hello",
    "cut off": b'{"model":"auto","messages":[',
    "trailing text": b'{"model":"auto"} x',
    "a list": b"[]",
    "NaN": b'{"model":"auto","messages":[%s],"temperature":NaN}' % OK.encode(),
    "infinity": b'{"model":"auto","messages":[%s],"temperature":1e999}' % OK.encode(),
    "invalid UTF-8": b'{"model":"auto","messages":[{"role":"user","content":"\xff\xfe"}]}',
    "half a surrogate": b'{"model":"auto","messages":[{"role":"user","content":"\\ud800"}]}',
    "a byte order mark": b'\xef\xbb\xbf{"model":"auto"}',
    "deep lists": b'{"model":"auto","messages":' + b"[" * 100_000,
    "deep objects": b'{"model":"auto","messages":[%s],"x":' % OK.encode() + b'{"a":' * 2000 + b"1" + b"}" * 2001,
    "a huge integer": b'{"model":"auto","messages":[%s],"max_tokens":' % OK.encode() + b"9" * 5000 + b"}",
    "ten megabytes": b'{"model":"auto","messages":[{"role":"user","content":"' + b"a" * 10_000_000 + b'"}]}',
}


@pytest.mark.parametrize("name", BAD)
async def test_a_body_that_is_no_request_is_refused_cleanly(gateway: RunningGateway, name: str) -> None:
    reply = await send(gateway, BAD[name])

    assert reply.status_code == 400
    assert reply.json()["error"]["code"] == "invalid_request_error"
    assert reply.headers["x-should-retry"] == "false"
    assert gateway.upstream.bodies == []
    assert all(row.cost.nanos == 0 for row in await gateway.rows())


FIELDS = {
    '{"messages":[%s]}': "model",
    '{"model":"","messages":[%s]}': "model",
    '{"model":7,"messages":[%s]}': "model",
    '{"model":"auto"}': "messages",
    '{"model":"auto","messages":[]}': "messages",
    '{"model":"auto","messages":"hi"}': "messages",
    '{"model":"auto","messages":[{"role":"wizard","content":"hi"}]}': "messages[0].role",
    '{"model":"auto","messages":[{"content":"hi"}]}': "messages[0].role",
    '{"model":"auto","messages":[{"role":"user"}]}': "messages[0].content",
    '{"model":"auto","messages":[{"role":"user","content":7}]}': "messages[0].content",
    '{"model":"auto","messages":[{"role":"user","content":[{}]}]}': "messages[0].content[0].type",
    '{"model":"auto","messages":[%s],"max_tokens":-1}': "max_tokens",
    '{"model":"auto","messages":[%s],"max_tokens":0}': "max_tokens",
    '{"model":"auto","messages":[%s],"max_tokens":1.5}': "max_tokens",
    '{"model":"auto","messages":[%s],"max_completion_tokens":"9"}': "max_completion_tokens",
    '{"model":"auto","messages":[%s],"n":0}': "n",
    '{"model":"auto","messages":[%s],"temperature":3}': "temperature",
    '{"model":"auto","messages":[%s],"top_p":-0.1}': "top_p",
    '{"model":"auto","messages":[%s],"stream":"yes"}': "stream",
    '{"model":"auto","messages":[%s],"stream_options":{"include_usage":true}}': "stream_options",
    '{"model":"auto","messages":[%s],"metadata":"x"}': "metadata",
}


@pytest.mark.parametrize("body", FIELDS)
async def test_a_field_that_is_wrong_is_named(gateway: RunningGateway, body: str) -> None:
    reply = await send(gateway, body.replace("%s", OK))

    assert reply.status_code == 400
    assert reply.json()["error"] == {
        "message": reply.json()["error"]["message"],
        "type": "invalid_request_error",
        "param": FIELDS[body],
        "code": "invalid_request_error",
    }


@pytest.mark.parametrize("cache", ["7", '{"ttl":-1}', '{"nope":1}', '{"no-cache":"yes"}'])
async def test_a_cache_control_that_means_nothing_is_refused(gateway: RunningGateway, cache: str) -> None:
    reply = await send(gateway, f'{{"model":"auto","messages":[{OK}],"cache":{cache}}}')

    assert (reply.status_code, reply.json()["error"]["code"]) == (400, "invalid_request_error")


@pytest.mark.parametrize(
    ("header", "value"),
    [
        ("x-sluice-zone", "mars"),
        ("x-sluice-timeout-ms", "soon"),
        ("x-sluice-timeout-ms", "-5"),
        ("x-sluice-timeout-ms", "0"),
    ],
)
async def test_a_control_header_that_means_nothing_is_refused(gateway: RunningGateway, header: str, value: str) -> None:
    reply = await gateway.chat(await gateway.key(), headers={header: value})

    assert (reply.status_code, reply.json()["error"]["param"]) == (400, header)


async def test_an_unknown_model_is_a_404(gateway: RunningGateway) -> None:
    reply = await gateway.chat(await gateway.key(), model="gpt-9")

    assert (reply.status_code, reply.json()["error"]["code"]) == (404, "model_not_found")
    (row,) = await gateway.rows(1)
    assert (row.kind, row.code) == ("refused", "model_not_found")


async def test_a_model_above_the_teams_tiers_is_a_403(gateway: RunningGateway) -> None:
    reply = await gateway.chat(await gateway.key(), model="dear")

    assert (reply.status_code, reply.json()["error"]["code"]) == (403, "model_not_allowed")
    assert reply.headers["x-should-retry"] == "false"


async def test_an_embedding_model_is_no_chat_model(gateway: RunningGateway) -> None:
    assert (await gateway.chat(await gateway.key(), model="minilm")).status_code == 404


@pytest.mark.parametrize(
    ("status", "error", "expected"),
    [
        (400, {"message": "bad tool", "param": "tools"}, (400, "invalid_request_error", "false")),
        (400, {"message": "9000 > 8192", "code": "context_length_exceeded"}, (400, "context_length_exceeded", "false")),
        (401, {"message": "sk-live-123 is wrong"}, (502, "upstream_error", "true")),
        (500, {"message": "oops"}, (502, "upstream_error", "true")),
        (503, {"message": "busy"}, (503, "overloaded", "true")),
        (429, {"message": "slow down"}, (503, "overloaded", "true")),
    ],
)
async def test_an_upstreams_refusal_becomes_the_contracts_error(
    gateway: RunningGateway, status: int, error: dict[str, str], expected: tuple[int, str, str]
) -> None:
    gateway.upstream.script.status, gateway.upstream.script.error = status, error

    reply = await gateway.chat(await gateway.key())

    assert (reply.status_code, reply.json()["error"]["code"], reply.headers["x-should-retry"]) == expected
    assert "sk-live" not in reply.text
    (row,) = await gateway.rows(1)
    assert (row.kind, row.cost.usd, row.attempts) == ("settled", "0.00", 1)


async def test_an_unknown_path_and_a_wrong_method_are_json_errors(gateway: RunningGateway) -> None:
    missing = await gateway.client.get("/v1/nothing")
    wrong = await gateway.client.get("/v1/chat/completions")

    assert (missing.status_code, missing.json()["error"]["code"]) == (404, "not_found")
    assert (wrong.status_code, wrong.json()["error"]["code"]) == (405, "method_not_allowed")
