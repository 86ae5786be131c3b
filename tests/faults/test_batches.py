"""Faults that others have published about batches; each test is named for what is right."""

from typing import Any, Final

import pytest

from governance.ledger.reading.reports import RequestRow
from tests.support.batch_files import BatchClient
from tests.support.polyglot import DIALECTS, PATHS, Polyglot
from tests.support.providers.answer import Answer, Prompt
from tests.support.providers.gateways import cost
from tests.support.providers.script import Script

READ: Final = Answer(thoughts=("Hm",), prompt=Prompt(fresh=100, read=800))


def line(model: str, path: str) -> dict[str, Any]:
    return {"custom_id": f"of-{model}", "method": "POST", "url": path, "body": {**PATHS[path], "model": model}}


async def rows_of(shop: Polyglot, batch_id: str) -> list[RequestRow]:
    return [row for row in await shop.gateway.rows() if row.request_id.startswith(batch_id)]


@pytest.mark.parametrize("path", PATHS)
async def test_every_line_of_a_batch_is_paid_for_to_the_token(shop: Polyglot, path: str) -> None:
    """BerriAI/litellm 35358, 35468: batches cost nothing, or the wrong amount; 35363: `/responses` in them is free."""
    shop.fake.script, before = Script(answer=READ), await shop.spent()
    client = BatchClient(shop.gateway.client, shop.key)
    batch_id = await client.submit([line(model, path) for model in DIALECTS], endpoint=path)
    batch = await client.finished(batch_id)
    rows, truth = await rows_of(shop, batch_id), [cost(used) for used in shop.fake.tokens]

    assert batch["request_counts"] == {"total": 5, "completed": 5, "failed": 0}
    assert [row.cost for row in rows] == truth == [cost(READ.tokens(5))] * 5
    assert (await shop.spent()).nanos - before.nanos == sum(each.nanos for each in truth)


async def test_a_batch_is_paid_for_by_who_handed_it_in(shop: Polyglot) -> None:
    """BerriAI/litellm 36071: what a batch costs is nobody's."""
    client = BatchClient(shop.gateway.client, shop.key)
    batch_id = await client.submit([line("chat", "/v1/chat/completions")])
    await client.finished(batch_id)
    (row,) = await rows_of(shop, batch_id)

    assert (row.team, row.app, row.key_id) == ("blue", "bot", shop.key.split("-")[2])
    assert row.cost == cost(shop.fake.last.tokens)


async def test_to_look_at_a_batch_and_at_its_results_costs_nothing_however_often(shop: Polyglot) -> None:
    """BerriAI/litellm 12084: each look charges for the batch again."""
    client = BatchClient(shop.gateway.client, shop.key)
    batch_id = await client.submit([line("chat", "/v1/chat/completions")])
    batch = await client.finished(batch_id)
    await shop.gateway.rows()
    spent = await shop.spent()
    for _ in range(3):
        await client.get(f"/v1/batches/{batch_id}")
        assert len(await client.results(batch["output_file_id"])) == 1

    assert await shop.spent() == spent
    assert len(await rows_of(shop, batch_id)) == len(shop.fake.served) == 1


async def test_a_batch_that_cannot_be_run_keeps_no_other_waiting(shop: Polyglot) -> None:
    """BerriAI/litellm 36640, 19925: what works on batches starves, or dies of one of them."""
    client = BatchClient(shop.gateway.client, shop.key)
    file = (await client.upload(b"{\n")).json()
    broken = (await client.create(file["id"])).json()
    whole = await client.submit([line("nobody", "/v1/chat/completions"), line("chat", "/v1/chat/completions")])

    assert (await client.finished(whole))["request_counts"] == {"total": 2, "completed": 1, "failed": 1}
    assert (await client.finished(broken["id"]))["status"] == "failed"
