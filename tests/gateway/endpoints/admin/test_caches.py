"""`/admin/api/cache`: who may look at the caches and who may have them forget."""

from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import httpx
import pytest

from cache.learning.lookups import Action
from cache.learning.threshold import LEAST
from governance.lookups import purges
from tests.support.recorded_lookups import found, missed
from tests.support.running_gateway import RunningGateway, running_gateway
from tests.support.waiting import until

KEY = "ab" * 32


@pytest.fixture
async def gateway(tmp_path: Path) -> AsyncGenerator[RunningGateway]:
    async with running_gateway(tmp_path) as gateway:
        gateway.client.headers["authorization"] = f"Bearer {(tmp_path / 'home' / 'admin.key').read_text().strip()}"
        yield gateway


async def ask(gateway: RunningGateway, method: str, path: str, key: str | None = None, **sent: Any) -> httpx.Response:
    headers = {} if key is None else {"authorization": f"Bearer {key}"}
    return await gateway.client.request(method, f"/admin/api{path}", headers=headers, **sent)


async def person(gateway: RunningGateway, role: str, team: str | None = None) -> str:
    reply = await ask(gateway, "POST", "/people", json={"name": "Ada", "role": role, "team": team})
    return reply.json()["key"]


def learn(gateway: RunningGateway) -> None:
    for lookup in (*[missed()] * LEAST, found(Action.EXPLORE), missed("blue/bot/faq")):
        gateway.services.caches.semantics.learn(lookup)


async def test_the_standing_of_the_caches_is_told(gateway: RunningGateway) -> None:
    await gateway.chat(await gateway.key())
    learn(gateway)
    told = (await ask(gateway, "GET", "/cache")).json()
    assert (told["answers"], told["trouble"]) == (1, None)
    assert told["bytes"] > 0
    blue, red = told["features"]
    assert (blue["feature"], blue["lookups"], blue["compared"]) == ("blue/bot/faq", 1, 0)
    assert (red["feature"], red["lookups"], red["compared"], red["served"]) == ("red/bot/faq", LEAST + 1, 1, 0)
    assert (red["open"], red["reason"]) == (False, "too little is known yet")


async def test_a_team_lead_sees_its_own_features_and_forgets_nothing(gateway: RunningGateway) -> None:
    learn(gateway)
    lead = await person(gateway, "team-lead", "red")
    features = (await ask(gateway, "GET", "/cache", lead)).json()["features"]
    assert [each["feature"] for each in features] == ["red/bot/faq"]
    assert (await ask(gateway, "POST", "/cache/purge", lead, json={"kind": "all"})).status_code == 403


async def test_an_auditor_looks_and_forgets_nothing(gateway: RunningGateway) -> None:
    auditor = await person(gateway, "auditor")
    assert (await ask(gateway, "GET", "/cache", auditor)).status_code == 200
    assert (await ask(gateway, "POST", "/cache/purge", auditor, json={"kind": "all"})).status_code == 403
    assert await purges.after(gateway.database, 0) == ()


async def test_nobody_else_is_let_in(gateway: RunningGateway) -> None:
    application = await gateway.key()
    for method, path in (("GET", "/cache"), ("POST", "/cache/purge")):
        assert (await ask(gateway, method, path, application, json={"kind": "all"})).status_code == 401


@pytest.mark.parametrize(
    ("sent", "order"),
    [
        ({"kind": "all"}, ("all", "", 0.0)),
        ({"kind": "tag", "value": "doc-17"}, ("tag", "doc-17", 0.0)),
        ({"kind": "key", "value": KEY}, ("key", KEY, 0.0)),
        ({"kind": "like", "value": "where?"}, ("like", "where?", 0.95)),
        ({"kind": "like", "value": "where?", "similarity": 0.8}, ("like", "where?", 0.8)),
    ],
)
async def test_an_order_is_followed_and_is_on_the_audit_log(
    gateway: RunningGateway, sent: dict[str, Any], order: tuple[str, str, float]
) -> None:
    await gateway.chat(await gateway.key())
    platform = await person(gateway, "platform")
    assert (await ask(gateway, "POST", "/cache/purge", platform, json=sent)).status_code == 202
    (given,) = await purges.after(gateway.database, 0)
    assert (given.kind, given.value, given.similarity) == order
    assert given.by.startswith("Ada (")
    await until(lambda: gateway.services.caches.purger.done == given.n)
    assert (await gateway.services.caches.answers.size()).entries == (0 if sent["kind"] == "all" else 1)
    entries = (await ask(gateway, "GET", "/audit")).json()
    assert (entries[0]["act"], entries[0]["actor"]) == ("cache.purged", given.by)


@pytest.mark.parametrize(
    "sent",
    [
        {},
        {"kind": "some"},
        {"kind": "all", "value": "doc-17"},
        {"kind": "tag"},
        {"kind": "key", "value": "abc"},
        {"kind": "key", "value": "ab" * 31},
        {"kind": "like", "value": "where?", "similarity": 0},
        {"kind": "like", "value": "x" * 1_001},
        {"kind": "tag", "value": "doc-17", "more": 1},
    ],
)
async def test_what_makes_no_sense_orders_nothing(gateway: RunningGateway, sent: dict[str, Any]) -> None:
    assert (await ask(gateway, "POST", "/cache/purge", json=sent)).status_code in {400, 422}
    assert await purges.after(gateway.database, 0) == ()
