"""A request that is sent twice under one Idempotency-Key: bought once, and answered twice."""

import asyncio
import sqlite3
from collections.abc import AsyncGenerator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from openai import AsyncOpenAI
from sqlalchemy import text, update

from gateway.steps.purchasing import LEASE_SLACK_S
from governance.errors import StoreUnavailable
from governance.idempotency.answers import Answer, Claim, IdempotentAnswers
from governance.idempotency.tables import IdempotencyRow
from tests.support.running_gateway import POLICY, RunningGateway, policy, running_gateway
from tests.support.scripted_upstream import Script, ScriptedUpstream, serve
from tests.support.waiting import until

ONCE = {"idempotency-key": "order-4711"}
UNCACHED = policy(cache={})


@pytest.fixture
async def gateway(tmp_path: Path) -> AsyncGenerator[RunningGateway]:
    async with running_gateway(tmp_path, UNCACHED) as running:
        yield running


def taken(tmp_path: Path) -> list[tuple[str, bytes | None]]:
    """Who has a key, and the answer that is kept under it."""
    connection = sqlite3.connect(tmp_path / "home" / "sluice.db")
    try:
        return connection.execute(f"SELECT request_id, body FROM {IdempotencyRow.__tablename__}").fetchall()  # noqa: S608
    finally:
        connection.close()


async def test_the_second_gets_the_first_answer_for_nothing(gateway: RunningGateway) -> None:
    key = await gateway.key()

    first = await gateway.chat(key, headers=ONCE)
    again = await gateway.chat(key, headers=ONCE)

    assert again.json() == first.json()
    assert (first.headers["x-sluice-cache"], again.headers["x-sluice-cache"]) == ("bypass", "idempotent")
    assert again.headers["x-sluice-model"] == first.headers["x-sluice-model"]
    assert (again.headers["x-sluice-cost-usd"], again.headers["x-sluice-saved-usd"]) == ("0.00", "0.00")
    assert again.headers["x-sluice-attempts"] == "0"
    assert again.headers["x-request-id"] != first.headers["x-request-id"]
    assert len(gateway.upstream.bodies) == 1
    newest, oldest = await gateway.rows(2)
    assert (newest.kind, newest.cache, newest.cost.usd, newest.saved.usd) == ("settled", "idempotent", "0.00", "0.00")
    assert oldest.cost.usd == first.headers["x-sluice-cost-usd"]


async def test_without_the_header_nothing_is_kept(gateway: RunningGateway, tmp_path: Path) -> None:
    await gateway.chat(await gateway.key())
    assert taken(tmp_path) == []


async def test_a_stream_is_replayed_as_a_stream_with_what_it_cost_this_time(gateway: RunningGateway) -> None:
    sdk = AsyncOpenAI(base_url=gateway.base_url, api_key=await gateway.key(), default_headers=ONCE)

    async def streamed() -> tuple[str, dict[str, Any] | None]:
        stream = await sdk.chat.completions.create(
            model="auto",
            messages=[{"role": "user", "content": "Hi"}],
            stream=True,
            stream_options={"include_usage": True},
        )
        chunks = [chunk async for chunk in stream]
        text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
        assert chunks[-1].usage is not None
        return text, chunks[-1].usage.model_extra

    first, again = await streamed(), await streamed()
    await sdk.close()

    assert first == ("Hello, world!", {"cost_usd": "0.0000092", "saved_usd": "0.00"})
    assert again == ("Hello, world!", {"cost_usd": "0.00", "saved_usd": "0.00"})
    assert len(gateway.upstream.bodies) == 1


async def test_another_request_under_the_same_key_is_refused(gateway: RunningGateway) -> None:
    key = await gateway.key()
    await gateway.chat(key, headers=ONCE)

    reply = await gateway.chat(key, "Something else", headers=ONCE)

    assert reply.status_code == 422
    assert reply.json()["error"]["code"] == "invalid_request_error"
    assert "used for another request" in reply.json()["error"]["message"]
    assert reply.headers["x-should-retry"] == "false"
    assert (await gateway.rows(2))[0].kind == "refused"


async def test_the_key_of_another_caller_is_another_key(gateway: RunningGateway) -> None:
    await gateway.chat(await gateway.key(), headers=ONCE)
    other = await gateway.chat(await gateway.key(), headers=ONCE)
    assert other.headers["x-sluice-cache"] == "bypass"
    assert len(gateway.upstream.bodies) == 2


async def test_an_answer_that_failed_is_not_kept(gateway: RunningGateway, tmp_path: Path) -> None:
    key = await gateway.key()
    gateway.upstream.script.status = 400
    assert (await gateway.chat(key, headers=ONCE)).status_code == 400
    assert taken(tmp_path) == []

    gateway.upstream.script.status = 200
    again = await gateway.chat(key, headers=ONCE)

    assert (again.status_code, again.headers["x-sluice-cache"]) == (200, "bypass")


async def test_a_stream_that_broke_off_is_not_kept(gateway: RunningGateway) -> None:
    key = await gateway.key()
    gateway.upstream.script.fail_after = 2
    assert "error" in (await gateway.chat(key, headers=ONCE, stream=True)).text

    gateway.upstream.script.fail_after = None
    again = await gateway.chat(key, headers=ONCE)

    assert again.json()["choices"][0]["message"]["content"] == "Hello, world!"
    assert len(gateway.upstream.bodies) == 2


async def test_a_request_that_a_budget_refused_leaves_its_key_free(tmp_path: Path) -> None:
    poor = policy(budgets=[{"scope": "org", "limit": 0.00001, "window": "month"}])
    async with running_gateway(tmp_path, poor) as gateway:
        reply = await gateway.chat(await gateway.key(), headers=ONCE)
        assert reply.json()["error"]["code"] == "insufficient_quota"
        assert taken(tmp_path) == []


async def test_the_second_waits_for_the_first_that_still_runs(gateway: RunningGateway) -> None:
    key, silent = await gateway.key(), asyncio.Event()
    gateway.upstream.script.silent = silent
    first = asyncio.create_task(gateway.chat(key, headers=ONCE))
    await gateway.upstream.until(lambda: len(gateway.upstream.bodies) == 1)
    second = asyncio.create_task(gateway.chat(key, headers=ONCE))
    await until(lambda: gateway.services.edge.traffic.interactive == 2)
    silent.set()

    assert (await second).json() == (await first).json()
    assert (await second).headers["x-sluice-cache"] == "idempotent"
    assert len(gateway.upstream.bodies) == 1


async def test_one_that_waited_to_its_limit_is_told_to_come_again(gateway: RunningGateway) -> None:
    key, silent = await gateway.key(), asyncio.Event()
    gateway.upstream.script.silent = silent
    first = asyncio.create_task(gateway.chat(key, headers=ONCE))
    await gateway.upstream.until(lambda: len(gateway.upstream.bodies) == 1)

    reply = await gateway.chat(key, headers=ONCE | {"x-sluice-timeout-ms": "200"})

    assert (reply.status_code, reply.json()["error"]["code"]) == (409, "conflict")
    assert (reply.headers["x-should-retry"], reply.headers["retry-after"]) == ("true", "30")
    silent.set()
    assert (await first).status_code == 200


async def test_one_that_waited_for_a_failure_makes_the_answer_itself(gateway: RunningGateway) -> None:
    key, silent = await gateway.key(), asyncio.Event()
    gateway.upstream.script.silent = silent
    gateway.upstream.script.fail_after = 0
    first = asyncio.create_task(gateway.chat(key, headers=ONCE))
    await gateway.upstream.until(lambda: len(gateway.upstream.bodies) == 1)
    second = asyncio.create_task(gateway.chat(key, headers=ONCE))
    await until(lambda: gateway.services.edge.traffic.interactive == 2)
    silent.set()
    assert (await first).status_code == 502
    gateway.upstream.script.fail_after = None

    assert (await second).status_code in {200, 502}
    again = await gateway.chat(key, headers=ONCE)
    assert again.status_code == 200


async def test_one_that_waited_is_held_for_as_long_as_it_may_still_run(tmp_path: Path) -> None:
    async with running_gateway(tmp_path, policy(cache={}, reliability={"attempts": 1})) as gateway:
        key, silent, long = await gateway.key(), asyncio.Event(), asyncio.Event()
        gateway.upstream.before = [Script(silent=silent, fail_after=0), Script(silent=long)]
        first = asyncio.create_task(gateway.chat(key, headers=ONCE))
        await gateway.upstream.until(lambda: len(gateway.upstream.bodies) == 1)
        second = asyncio.create_task(gateway.chat(key, headers=ONCE))
        await until(lambda: gateway.services.edge.traffic.interactive == 2)
        silent.set()
        assert (await first).status_code == 502
        await gateway.upstream.until(lambda: len(gateway.upstream.bodies) == 2)

        (hold,) = gateway.services.purse._till.open.values()
        assert hold._expires_at - hold.opening.at.timestamp() == pytest.approx(600.0 + LEASE_SLACK_S, abs=0.001)
        long.set()
        assert (await second).status_code == 200


async def test_an_answer_from_the_cache_is_the_answer_of_the_key_too(tmp_path: Path) -> None:
    async with running_gateway(tmp_path) as gateway:
        key = await gateway.key()
        await gateway.chat(key)
        cached = await gateway.chat(key, headers=ONCE)
        again = await gateway.chat(key, headers=ONCE | {"cache-control": "no-cache"})
        assert (cached.headers["x-sluice-cache"], again.headers["x-sluice-cache"]) == ("exact", "idempotent")
        assert len(gateway.upstream.bodies) == 1


async def test_embeddings_are_bought_once_too(gateway: RunningGateway) -> None:
    headers = {"authorization": f"Bearer {await gateway.key()}"} | ONCE
    asks = {"model": "minilm", "input": "Hi"}
    first = await gateway.client.post("/v1/embeddings", json=asks, headers=headers)
    again = await gateway.client.post("/v1/embeddings", json=asks, headers=headers)

    assert again.json() == first.json()
    assert again.headers["x-sluice-cache"] == "idempotent"
    assert len(gateway.upstream.bodies) == 1
    assert (await gateway.rows(2))[0].cost.usd == "0.00"


@pytest.mark.parametrize("path", ["/v1/completions", "/v1/responses", "/v1/messages"])
async def test_every_dialect_is_answered_again_in_its_own_words(gateway: RunningGateway, path: str) -> None:
    headers = {"authorization": f"Bearer {await gateway.key()}"} | ONCE
    asks: dict[str, dict[str, Any]] = {
        "/v1/completions": {"prompt": "Hi"},
        "/v1/responses": {"input": "Hi", "store": False},
        "/v1/messages": {"messages": [{"role": "user", "content": "Hi"}], "max_tokens": 20},
    }
    body = {"model": "auto"} | asks[path]
    first = await gateway.client.post(path, json=body, headers=headers)
    again = await gateway.client.post(path, json=body, headers=headers)

    assert (first.status_code, again.status_code) == (200, 200), first.text
    assert again.headers["x-sluice-cache"] == "idempotent"
    assert "Hello, world!" in again.text
    assert len(gateway.upstream.bodies) == 1


@pytest.mark.parametrize("name", ["", "x" * 256, "two words", "tab\tbed"])
async def test_a_key_that_is_no_key_is_refused(gateway: RunningGateway, name: str) -> None:
    reply = await gateway.chat(await gateway.key(), headers={"idempotency-key": name})
    assert reply.status_code == 400
    assert reply.json()["error"]["param"] == "Idempotency-Key"


async def test_a_restart_forgets_nothing(tmp_path: Path) -> None:
    async with running_gateway(tmp_path, UNCACHED) as gateway:
        key = await gateway.key()
        first = await gateway.chat(key, headers=ONCE)
    async with running_gateway(tmp_path, UNCACHED) as gateway:
        again = await gateway.chat(key, headers=ONCE)
        assert again.json() == first.json()
        assert gateway.upstream.bodies == []


async def test_a_key_whose_process_died_is_free_when_its_lease_ends(gateway: RunningGateway, tmp_path: Path) -> None:
    key, silent = await gateway.key(), asyncio.Event()
    gateway.upstream.script.silent = silent
    dead = asyncio.create_task(gateway.chat(key, headers=ONCE))
    await gateway.upstream.until(lambda: len(gateway.upstream.bodies) == 1)
    (was,) = taken(tmp_path)
    async with gateway.database.transaction() as connection:
        await connection.execute(update(IdempotencyRow).values(until=0))
    gateway.upstream.script.silent = None

    reply = await gateway.chat(key, headers=ONCE)

    assert (reply.status_code, reply.headers["x-sluice-cache"]) == (200, "bypass")
    (kept,) = taken(tmp_path)
    silent.set()
    await dead  # it was not dead after all, and takes nothing back
    assert taken(tmp_path) == [kept]
    assert was[0] != kept[0] == reply.headers["x-request-id"]


async def test_an_answer_that_was_read_to_its_end_is_there_for_the_client_who_comes_back(tmp_path: Path) -> None:
    seller = ScriptedUpstream()
    async with serve(seller.app()) as port:
        providers = POLICY["providers"] | {
            "seller": {"kind": "openai", "base_url": f"http://127.0.0.1:{port}/v1", "zone": "cloud"}
        }
        sold = {"name": "sold", "provider": "seller", "model": "x", "tier": "local", "price": {"input": 1, "output": 2}}
        document = policy(cache={}, providers=providers, models=[*POLICY["models"], sold])
        async with running_gateway(tmp_path, document) as gateway:
            key = await gateway.key()
            seller.script.silent = asyncio.Event()
            gone = asyncio.create_task(gateway.chat(key, model="sold", headers=ONCE))
            await seller.until(lambda: len(seller.bodies) == 1)
            gone.cancel()
            with pytest.raises(asyncio.CancelledError):
                await gone
            seller.script.silent.set()
            await gateway.rows(1)

            again = await gateway.chat(key, model="sold", headers=ONCE)

            assert (again.status_code, again.headers["x-sluice-cache"]) == (200, "idempotent")
            assert again.json()["choices"][0]["message"]["content"] == "Hello, world!"
            assert len(seller.bodies) == 1


async def test_a_database_that_is_away_refuses_keyed_requests_alone(gateway: RunningGateway, tmp_path: Path) -> None:
    key = await gateway.key()
    async with gateway.database.transaction() as connection:
        await connection.execute(text("DROP TABLE idempotency_key"))

    assert (await gateway.chat(key, headers=ONCE)).status_code == 503
    assert (await gateway.chat(key)).status_code == 200


async def test_an_answer_that_could_not_be_kept_at_once_is_kept_when_the_request_ends(
    gateway: RunningGateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep, failures = IdempotentAnswers.keep, [StoreUnavailable("away for a moment")]

    async def fickle(self: IdempotentAnswers, claim: Claim, answer: Answer, at: datetime) -> None:
        if failures:
            raise failures.pop()
        await keep(self, claim, answer, at)

    monkeypatch.setattr(IdempotentAnswers, "keep", fickle)
    key = await gateway.key()
    assert (await gateway.chat(key, headers=ONCE)).status_code == 200
    assert failures == []
    assert (await gateway.chat(key, headers=ONCE)).headers["x-sluice-cache"] == "idempotent"
