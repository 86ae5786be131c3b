"""Lines that go through the batch API of a provider: half the price, and each once whatever dies meanwhile."""

import asyncio
import shutil
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from governance.deferred import parcels
from tests.support.batch_files import BatchClient, chat_line
from tests.support.batch_provider import BatchProvider
from tests.support.books import books
from tests.support.running_gateway import POLICY, RunningGateway, policy, running_gateway
from tests.support.scripted_upstream import serve

HALF = (12 * 10_000 + 4 * 30_000) // 2
KINDS = ("openai", "anthropic")


def document(port: int, kind: str) -> dict[str, Any]:
    base = f"http://127.0.0.1:{port}" + ("/v1" if kind == "openai" else "")
    seller = {"kind": kind, "zone": "cloud", "base_url": base, "api_key": "k", "batch": True}
    sold: dict[str, Any] = {
        "name": "sold",
        "provider": "seller",
        "model": "m",
        "tier": "cloud",
        "batch_discount": "50%",
    }
    sold["price"] = {"input": 10, "output": 30}
    app = {"name": "bot", "deferred": {"window": "00:00-00:00", "provider_batch": True}}
    return policy(
        providers=POLICY["providers"] | {"seller": seller},
        models=[*POLICY["models"], sold],
        teams=[{"name": "red", "apps": [app, {"name": "other"}], "budgets": [{"limit": 1, "window": "month"}]}],
        cache={},
    )


@pytest.fixture(autouse=True)
def _hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gateway.deferred.opening.SHIP_S", 0.1)
    monkeypatch.setattr("gateway.deferred.provider_batches.shipping.GATHER", timedelta(seconds=1))
    monkeypatch.setattr("gateway.deferred.provider_batches.shipping.POLL", timedelta(seconds=0.1))
    monkeypatch.setattr("gateway.deferred.provider_batches.shipping.AGAIN", timedelta(seconds=0.1))


@asynccontextmanager
async def a_provider(**behaviour: Any) -> AsyncGenerator[tuple[BatchProvider, int]]:
    provider = BatchProvider(**behaviour)
    async with serve(provider.app()) as port:
        yield provider, port


async def hand_in(gateway: RunningGateway, count: int) -> tuple[BatchClient, str]:
    client = BatchClient(gateway.client, await gateway.key("red"))
    return client, await client.submit(chat_line(n, model="sold") for n in range(1, count + 1))


@pytest.mark.parametrize("kind", KINDS)
async def test_lines_go_to_the_provider_as_one_batch_at_half_the_price(tmp_path: Path, kind: str) -> None:
    async with a_provider(ready=True) as (provider, port), running_gateway(tmp_path, document(port, kind)) as gateway:
        client, batch_id = await hand_in(gateway, 10)
        batch = await client.finished(batch_id)
        results = await client.results(batch["output_file_id"])
        rows = await gateway.rows(10)
        found = await books(gateway.database)

    assert batch["request_counts"] == {"total": 10, "completed": 10, "failed": 0}
    assert {line["response"]["body"]["choices"][0]["message"]["content"] for line in results} == {"Hello!"}
    assert (len(provider.batches), provider.calls) == (1, 0)
    assert set(provider.batches[0].requests) == {f"{batch_id}-{n}-1" for n in range(1, 11)}
    assert all("stream" not in body for body in provider.batches[0].requests.values())
    assert {(row.provider, row.cost.nanos, row.code) for row in rows} == {("seller", HALF, "")}
    assert found.balanced
    assert found.attempts == 10


@pytest.mark.parametrize("kind", KINDS)
async def test_what_the_provider_refuses_is_the_line_s_result_and_costs_nothing(tmp_path: Path, kind: str) -> None:
    fails = {"fails": lambda name: name.endswith("-2-1"), "silent": lambda name: "-3-" in name and name.endswith("-1")}
    async with (
        a_provider(ready=True, **fails) as (provider, port),
        running_gateway(tmp_path, document(port, kind)) as gateway,
    ):
        client, batch_id = await hand_in(gateway, 3)
        batch = await client.finished(batch_id)
        errors = await client.results(batch["error_file_id"])
        rows = {row.request_id: (row.status, row.cost.nanos) for row in await gateway.rows(4)}

    assert batch["request_counts"] == {"total": 3, "completed": 2, "failed": 1}
    assert [(line["custom_id"], line["response"]["status_code"]) for line in errors] == [("line-2", 400)]
    assert rows[f"{batch_id}-2-1"] == (400, 0)
    assert rows[f"{batch_id}-3-1"][1] == 0
    assert rows[f"{batch_id}-3-2"] == (200, HALF)
    assert len(provider.batches) == 2


async def test_a_confined_line_never_follows_a_provider_out_of_its_zone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gateway.deferred.provider_batches.shipping.GATHER", timedelta(days=1))
    async with a_provider(ready=True) as (provider, port):
        near = document(port, "openai") | {"sensitivity": {"confine": {"card": "cloud"}}}
        seller = near["providers"]["seller"]
        near["providers"]["other"] = seller
        far = near | {"providers": near["providers"] | {"seller": seller | {"zone": "far"}}}
        async with running_gateway(tmp_path, near) as gateway:
            client = BatchClient(gateway.client, await gateway.key("red"))
            card = chat_line(2, model="sold", text="4111 1111 1111 1111")
            batch_id = await client.submit([chat_line(1, model="sold"), card])
            async with asyncio.timeout(20):
                while len(await parcels.requests(gateway.database)) < 2:  # noqa: ASYNC110  the database does not call
                    await asyncio.sleep(0.05)
            await gateway.follow(far)
            monkeypatch.setattr("gateway.deferred.provider_batches.shipping.GATHER", timedelta(0))
            batch = await client.finished(batch_id)
            (error,) = await client.results(batch["error_file_id"])

    assert batch["request_counts"] == {"total": 2, "completed": 1, "failed": 1}
    assert (error["custom_id"], error["response"]["status_code"]) == ("line-2", 403)
    assert [set(shipped.requests) for shipped in provider.batches] == [{f"{batch_id}-1-1"}]
    assert provider.calls == 0


async def test_only_apps_that_may_are_carried(tmp_path: Path) -> None:
    async with (
        a_provider(ready=True) as (provider, port),
        running_gateway(tmp_path, document(port, "openai")) as gateway,
    ):
        client = BatchClient(gateway.client, await gateway.key("red", "other"))
        await client.finished(await client.submit([chat_line(1, model="sold")]))
        (row,) = await gateway.rows(1)
    assert (len(provider.batches), provider.calls, row.cost.nanos) == (0, 1, 2 * HALF)


@pytest.mark.parametrize("kind", KINDS)
async def test_a_shipment_whose_reply_was_lost_is_found_and_not_sent_twice(tmp_path: Path, kind: str) -> None:
    async with a_provider(cut=True) as (provider, port), running_gateway(tmp_path, document(port, kind)) as gateway:
        client, batch_id = await hand_in(gateway, 5)
        await provider.until(lambda: provider.looks > 0)
        provider.ready = True
        batch = await client.finished(batch_id)
        rows = await gateway.rows(5)
    assert (batch["request_counts"]["completed"], len(provider.batches)) == (5, 1)
    assert {row.cost.nanos for row in rows} == {HALF}


async def test_a_provider_that_takes_no_batches_fails_the_lines_at_no_cost(tmp_path: Path) -> None:
    async with a_provider(refuse=400) as (_, port), running_gateway(tmp_path, document(port, "openai")) as gateway:
        client, batch_id = await hand_in(gateway, 2)
        batch = await client.finished(batch_id)
        rows = await gateway.rows(2)
    assert batch["request_counts"]["failed"] == 2
    assert {row.cost.nanos for row in rows} == {0}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("in_peace", [True, False], ids=["stopped", "killed"])
async def test_what_is_out_survives_the_process_and_is_paid_once(tmp_path: Path, kind: str, in_peace: bool) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir()
    second.mkdir()
    async with a_provider() as (provider, port):
        async with running_gateway(first, document(port, kind)) as gateway:
            _, batch_id = await hand_in(gateway, 8)
            await provider.until(lambda: provider.looks > 0)
            await gateway.services.ledger.flush()
            if not in_peace:  # what a kill leaves is what is on the disk now
                shutil.copytree(first / "home", second / "home")
        if in_peace:
            shutil.copytree(first / "home", second / "home")
        async with running_gateway(second, document(port, kind)) as gateway:
            client = BatchClient(gateway.client, await gateway.key("red"))
            (standing,) = (await client.get("/v1/usage")).json()["budgets"]
            provider.ready = True
            batch = await client.finished(batch_id)
            rows = await gateway.rows(8)
            found = await books(gateway.database)
            (after,) = (await client.get("/v1/usage")).json()["budgets"]

    assert (batch["request_counts"]["completed"], len(provider.batches)) == (8, 1)
    assert Counter((row.kind, row.cost.nanos) for row in rows) == {("settled", HALF): 8}
    assert {row.request_id for row in rows} == {f"{batch_id}-{n}-1" for n in range(1, 9)}
    assert found.balanced
    assert standing["spent_usd"] == "0.00"
    assert (round(float(after["spent_usd"]) * 1e9), float(after["held_usd"])) == (8 * HALF, 0)
