"""Budgets and limits, with many callers at once."""

import asyncio
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import httpx

from governance.audit.chain import GATEWAY
from governance.keys import refresh, revoke_key
from tests.support.running_gateway import POLICY, policy, running_gateway

MICRO_TEAM: dict[str, Any] = {"name": "tight", "apps": [{"name": "bot"}]}


def tight(budget: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    """Return a policy whose one team has one budget or limit."""
    team = MICRO_TEAM | ({"budgets": [budget]} if budget else {}) | more
    return policy(teams=[team], cache={})


async def test_sixty_four_parallel_callers_cannot_pass_a_cap_together(tmp_path: Path) -> None:
    async with running_gateway(tmp_path, tight({"limit": 0.001, "window": "day"})) as gateway:
        key = await gateway.key("tight")
        replies = await asyncio.gather(*(gateway.chat(key, f"question {n}", max_tokens=40) for n in range(64)))
        rows = await gateway.rows(64)

        spent = sum(Decimal(row.cost.usd) for row in rows)
        admitted = [reply for reply in replies if reply.status_code == 200]
        refused = [reply for reply in replies if reply.status_code == 429]
        assert len(admitted) + len(refused) == 64
        assert admitted
        assert refused
        assert spent <= Decimal("0.001")
        assert len(gateway.upstream.bodies) == len(admitted)
        assert gateway.services.purse.open_holds == 0


async def test_calls_before_the_cap_pass_and_the_next_is_refused_in_the_contracts_shape(tmp_path: Path) -> None:
    async with running_gateway(tmp_path, tight({"limit": 0.001, "window": "day"})) as gateway:
        gateway.upstream.script.pieces = ["word "] * 100
        key = await gateway.key("tight")
        while (reply := await gateway.chat(key, "again", max_tokens=100)).status_code == 200:
            pass

        error = reply.json()["error"]
        assert reply.status_code == 429
        assert reply.headers["x-should-retry"] == "false"
        assert int(reply.headers["retry-after"]) > 0
        assert error["code"] == "insufficient_quota"
        assert (error["scope"], error["limit_usd"], error["window"], error["held_usd"]) == (
            "team:tight", "0.001", "day", "0.00",
        )  # fmt: skip
        assert Decimal("0.0006") < Decimal(error["spent_usd"]) < Decimal("0.001")
        newest, *_ = await gateway.rows()
        assert (newest.kind, newest.code, newest.status) == ("refused", "insufficient_quota", 429)


async def test_what_was_spent_is_remembered_by_the_next_process(tmp_path: Path) -> None:
    document = tight({"limit": 0.001, "window": "month"})
    async with running_gateway(tmp_path, document) as gateway:
        gateway.upstream.script.pieces = ["word "] * 100
        key = await gateway.key("tight")
        while (await gateway.chat(key, "again", max_tokens=100)).status_code == 200:
            pass
    async with running_gateway(tmp_path, document) as gateway:
        refused = await gateway.chat(key, "again", max_tokens=100)

        assert refused.status_code == 429
        assert refused.json()["error"]["code"] == "insufficient_quota"


async def test_a_single_request_may_not_cost_more_than_its_own_limit(tmp_path: Path) -> None:
    async with running_gateway(tmp_path, tight({"limit": 1, "window": "day", "per_request": 0.0001})) as gateway:
        key = await gateway.key("tight")
        small = await gateway.chat(key, max_tokens=10)
        large = await gateway.chat(key, max_tokens=100)

        assert small.status_code == 200
        assert large.status_code == 429
        assert large.json()["error"]["window"] == "request"
        assert "retry-after" not in large.headers


async def test_an_outer_budget_refuses_what_an_inner_one_would_allow(tmp_path: Path) -> None:
    team = MICRO_TEAM | {"apps": [{"name": "bot", "budgets": [{"limit": 5, "window": "day"}]}]}
    document = policy(teams=[team], cache={}, budgets=[{"scope": "org", "limit": 0.0001, "window": "day"}])
    async with running_gateway(tmp_path, document) as gateway:
        reply = await gateway.chat(await gateway.key("tight"), max_tokens=100)

        assert reply.json()["error"]["scope"] == "org"


async def test_a_refused_request_holds_nothing_in_any_scope(tmp_path: Path) -> None:
    team = MICRO_TEAM | {"apps": [{"name": "bot", "budgets": [{"limit": 0.0001, "window": "day"}]}]}
    document = policy(teams=[team], cache={}, budgets=[{"scope": "org", "limit": 5, "window": "day"}])
    async with running_gateway(tmp_path, document) as gateway:
        key = await gateway.key("tight")
        await gateway.chat(key, max_tokens=100)
        usage = await gateway.client.get("/v1/usage", headers={"x-api-key": key})

        assert [(b["scope"], b["spent_usd"], b["held_usd"]) for b in usage.json()["budgets"]] == [
            ("org", "0.00", "0.00"),
            ("app:tight/bot", "0.00", "0.00"),
        ]


async def test_requests_per_minute_are_counted_and_shown(tmp_path: Path) -> None:
    async with running_gateway(tmp_path, tight(limits={"requests_per_minute": 2})) as gateway:
        key = await gateway.key("tight")
        replies = [await gateway.chat(key, str(n)) for n in range(6)]
        admitted = [reply for reply in replies if reply.status_code == 200]
        refused = [reply for reply in replies if reply.status_code == 429]

        # The minute may turn over once between two calls.
        assert 2 <= len(admitted) <= 4
        assert len(admitted) + len(refused) == len(replies)
        assert refused[0].json()["error"]["code"] == "rate_limit_exceeded"
        assert 1 <= int(refused[0].headers["retry-after"]) <= 60
        assert admitted[0].headers["x-ratelimit-limit-requests"] == "2"
        assert admitted[0].headers["x-ratelimit-remaining-requests"] == "1"


async def test_concurrency_is_limited_and_given_back(tmp_path: Path) -> None:
    async with running_gateway(tmp_path, tight(limits={"concurrent": 1})) as gateway:
        gateway.upstream.script.gate = asyncio.Event()
        key = await gateway.key("tight")
        first = asyncio.create_task(gateway.chat(key, "slow"))
        await gateway.upstream.until(lambda: gateway.upstream.pieces_sent == 1)
        second = await gateway.chat(key, "meanwhile")
        async with asyncio.timeout(10):
            while not first.done():
                gateway.upstream.script.gate.set()
                await asyncio.sleep(0)

        assert second.status_code == 429
        assert second.json()["error"]["unit"] == "concurrent"
        assert (await first).status_code == 200
        gateway.upstream.script.gate = None
        assert (await gateway.chat(key, "afterwards")).status_code == 200


async def test_tokens_per_minute_refuse_what_could_pass_them(tmp_path: Path) -> None:
    async with running_gateway(tmp_path, tight(limits={"tokens_per_minute": 300})) as gateway:
        reply = await gateway.chat(await gateway.key("tight"), max_tokens=100)

        assert reply.json()["error"]["code"] == "rate_limit_exceeded"
        assert reply.json()["error"]["unit"] == "tokens"


async def test_the_tightest_budget_is_in_the_headers(tmp_path: Path) -> None:
    async with running_gateway(
        tmp_path, POLICY | {"budgets": [{"scope": "org", "limit": 9, "window": "day"}]}
    ) as gateway:
        reply: httpx.Response = await gateway.chat(await gateway.key())

        scope, remaining, resets = reply.headers["x-sluice-budget"].split(";")
        assert (scope, remaining) == ("scope=app:red/bot", "remaining_usd=0.9999908")
        assert resets.endswith("T00:00:00Z")


async def test_a_client_that_is_slow_with_its_body_spends_from_the_window_in_which_it_is_complete(
    tmp_path: Path,
) -> None:
    async with running_gateway(tmp_path, tight({"limit": 1, "window": "day"})) as gateway:
        key = await gateway.key("tight")
        body = b'{"model":"auto","messages":[{"role":"user","content":"Hi"}]}'
        reader, writer = await asyncio.open_connection("127.0.0.1", gateway.port)
        head = (
            f"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nx-api-key: {key}\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        writer.write(head.encode() + body[:10])
        await writer.drain()
        began = datetime.now(UTC)
        assert (await gateway.client.get("/healthz")).status_code == 200
        half = datetime.now(UTC)
        writer.write(body[10:])
        assert b"200 OK" in await reader.readline()
        writer.close()

        (row,) = await gateway.rows(1)
        assert began < half <= row.at


async def test_a_key_revoked_while_its_body_is_on_the_way_opens_nothing(tmp_path: Path) -> None:
    async with running_gateway(tmp_path, tight()) as gateway:
        key = await gateway.key("tight")
        body = b'{"model":"auto","messages":[{"role":"user","content":"Hi"}]}'
        reader, writer = await asyncio.open_connection("127.0.0.1", gateway.port)
        head = (
            f"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nx-api-key: {key}\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        writer.write(head.encode() + body[:10])
        await writer.drain()
        assert (await gateway.client.get("/healthz")).status_code == 200
        await revoke_key(gateway.database, key.split("-")[2], by=GATEWAY, now=datetime.now(UTC))
        await refresh(gateway.services.keyring, gateway.database)
        writer.write(body[10:])

        assert b"401" in await reader.readline()
        writer.close()
        assert gateway.upstream.bodies == []


async def test_an_estimate_of_ours_never_exceeds_what_was_held(tmp_path: Path) -> None:
    async with running_gateway(tmp_path, tight({"limit": 1, "window": "day"})) as gateway:
        gateway.upstream.script.usage = False
        gateway.upstream.script.pieces = ["a rather long single token "] * 100
        await gateway.chat(await gateway.key("tight"), max_tokens=100)

        (row,) = await gateway.rows(1)
        assert row.estimated
        assert row.cost <= row.held
