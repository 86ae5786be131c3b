"""A ledger whose database is away: what is answered meanwhile, what is told, and that nothing is lost."""

import asyncio
from pathlib import Path

import pytest

from governance.ledger.outage import PATIENCE_S
from tests.support.databases import locked
from tests.support.running_gateway import RunningGateway, policy, running_gateway


async def statuses(gateway: RunningGateway, key: str, prefix: str) -> list[int]:
    asked = [gateway.chat(key, f"{prefix} {number}", model="dear") for number in range(10)]
    return [reply.status_code for reply in await asyncio.gather(*asked)]


async def not_ready(gateway: RunningGateway) -> list[str]:
    async with asyncio.timeout(PATIENCE_S + 5):
        while (reply := await gateway.client.get("/readyz")).status_code == 200:  # noqa: ASYNC110  over HTTP there is no event
            await asyncio.sleep(0.02)
    return list(reply.json()["reasons"])


@pytest.mark.parametrize(("rule", "status"), [("closed", 503), ("open", 200), ({"allowance_usd": 0}, 503)])
async def test_a_locked_database_is_told_and_obeyed_and_loses_nothing(
    tmp_path: Path, rule: object, status: int
) -> None:
    async with running_gateway(tmp_path, policy(on_store_error=rule)) as gateway:
        key = await gateway.key(team="blue")
        assert set(await statuses(gateway, key, "first")) == {200}
        await gateway.rows(10)
        with locked(tmp_path / "home"):
            assert set(await statuses(gateway, key, "before")) == {200}
            reasons = await not_ready(gateway)
            assert reasons[0].startswith("The ledger cannot be written: no answer for")
            assert set(await statuses(gateway, key, "while")) == {status}
            page = (await gateway.client.get("/metrics")).text
            age = next(line for line in page.splitlines() if line.startswith("sluice_ledger_oldest_seconds"))
            assert float(age.split()[1]) > PATIENCE_S
        rows = await gateway.rows(30)
        assert set(await statuses(gateway, key, "after")) == {200}
        assert (await gateway.client.get("/readyz")).status_code == 200
    answered = [row for row in rows if row.status == 200]
    assert len(rows) == 30
    assert len(answered) == len(gateway.upstream.bodies) - 10 == (30 if status == 200 else 20)


async def test_a_refusal_for_the_ledger_s_sake_says_so_and_holds_nothing(tmp_path: Path) -> None:
    async with running_gateway(tmp_path) as gateway:
        key = await gateway.key()
        await gateway.rows()
        with locked(tmp_path / "home"):
            await gateway.chat(key, model="auto")
            await not_ready(gateway)
            reply = await gateway.chat(key, "another")
            assert (reply.status_code, reply.json()["error"]["code"]) == (503, "overloaded")
            assert "the database has been away" in reply.json()["error"]["message"]
            assert reply.headers["retry-after"] == "1"
            assert gateway.services.purse.open_holds == 0
