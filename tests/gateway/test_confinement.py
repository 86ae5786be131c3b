"""Where requests go, over a whole gateway: no byte of one that is confined reaches a cloud, whatever goes wrong."""

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from governance.confinement.proving import prove
from tests.support.planted import planted
from tests.support.scripted_upstream import Script
from tests.support.three_providers import ThreeProviders, three_providers

CARD = "4111 1111 1111 1111"
BUSY = Script(status=503)
SENSITIVITY = {
    "detect": ["card", "email"],
    "confine": {
        "card": "onprem",
        "iban": "onprem",
        "national_id": "onprem",
        "phone": "onprem",
        "secret": "refuse",
        "private_key": "refuse",
    },
    "sticky": "session",
}
ROUTES = [
    {"name": "auto", "weak": "first", "strong": "second", "fallbacks": ["small", "cheap"]},
    {"name": "mixed", "weak": "small", "strong": "first", "fallbacks": ["cheap"]},
]
TEAMS = [{"name": "blue", "apps": [{"name": "bot", "headers": ["feature", "session"]}]}]


def confining(tmp_path: Path, **more: Any) -> Any:
    changes = {"sensitivity": SENSITIVITY, "routes": ROUTES, "teams": TEAMS} | more
    return three_providers(tmp_path, **changes)


def seen_by_clouds(at: ThreeProviders) -> str:
    return json.dumps([at.one.bodies, at.two.bodies], ensure_ascii=False)


async def post(at: ThreeProviders, path: str, body: dict[str, Any], **headers: str) -> httpx.Response:
    return await at.gateway.client.post(path, json=body, headers={"authorization": f"Bearer {at.key}"} | headers)


async def test_planted_text_never_reaches_a_cloud_while_all_else_fails(tmp_path: Path) -> None:
    scripts = [Script(), BUSY, Script(cut_after=1), Script(fail_after=1)]
    confined = [one for one in planted("tuned") if one.kind != "email"][:80]
    async with confining(tmp_path, reliability={"retries": 1, "hedge": {"after": "1s", "models": ["mixed"]}}) as at:
        for number, one in enumerate(confined):
            at.gateway.upstream.script = scripts[number % len(scripts)]
            model = "auto" if number % 2 else "mixed"
            body = {"messages": [{"role": "user", "content": "Hi"}]} | one.body | {"model": model}
            if not body["messages"]:
                body["messages"] = [{"role": "user", "content": "Hi"}]
            reply = await post(at, "/v1/chat/completions", body | {"stream": number % 3 == 0})
            assert reply.status_code in {200, 400, 403, 502, 503}, reply.text
            assert one.value not in reply.text or reply.status_code == 200
        assert at.calls[0] > 0
        assert at.calls[1:] == (0, 0)
        await at.gateway.rows(1)
        proof = await prove(at.gateway.database)
        assert (proof.breach, proof.confined > 0, proof.refused > 0) == (None, True, True)


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/messages", {"max_tokens": 9, "messages": [{"role": "user", "content": CARD}]}),
        ("/v1/messages/count_tokens", {"messages": [{"role": "user", "content": CARD}]}),
        ("/v1/responses", {"input": CARD, "store": False}),
        ("/v1/completions", {"prompt": CARD}),
    ],
)
async def test_every_api_is_confined(tmp_path: Path, path: str, body: dict[str, Any]) -> None:
    async with confining(tmp_path) as at:
        reply = await post(at, path, body | {"model": "auto"})
        assert reply.status_code == 200, reply.text
        assert at.calls[1:] == (0, 0)


async def test_vectors_are_confined(tmp_path: Path) -> None:
    async with confining(tmp_path) as at:
        reply = await post(at, "/v1/embeddings", {"model": "minilm", "input": [CARD]})
        assert reply.status_code == 200
        row, attempts = await at.told()
        assert [made.provider for made in attempts] == ["engine"]
        assert row.provider == "engine"


async def test_a_refused_kind_is_named_and_never_its_text(tmp_path: Path) -> None:
    async with confining(tmp_path) as at:
        reply = await at.chat("auto", "password: hunter2Axq9")
        error = reply.json()["error"]
        assert (reply.status_code, error["code"]) == (403, "zone_refused")
        assert ("secret" in error["message"], "hunter2" in reply.text) == (True, False)
        assert at.calls == (0, 0, 0)


async def test_where_nobody_inside_answers_it_is_unavailable(tmp_path: Path) -> None:
    async with confining(tmp_path) as at:
        reply = await at.chat("first", CARD)
        assert (reply.status_code, reply.json()["error"]["code"]) == (403, "zone_refused")
        at.gateway.upstream.script = BUSY
        reply = await at.chat("mixed", CARD)
        assert reply.status_code == 503
        assert at.calls[1:] == (0, 0)


async def test_a_session_stays_where_its_first_request_had_to_go(tmp_path: Path) -> None:
    async with confining(tmp_path) as at:
        session = {"x-sluice-session": "s1"}
        await at.chat("auto", CARD, headers=session)
        later = await at.chat("auto", "And the rest?", headers=session)
        other = await at.chat("auto", "And the rest?", headers={"x-sluice-session": "s2"})
        assert later.headers["x-sluice-route"] == "zone:onprem"
        assert other.headers["x-sluice-provider"] == "one"
        assert CARD not in seen_by_clouds(at)


async def test_what_is_only_labelled_may_go_anywhere(tmp_path: Path) -> None:
    async with confining(tmp_path) as at:
        assert (await at.chat("auto", "bob@acme.io")).headers["x-sluice-provider"] == "one"
        assert (await prove(at.gateway.database)).breach is None


async def test_the_ledger_tells_zone_and_labels(tmp_path: Path) -> None:
    async with confining(tmp_path) as at:
        await at.chat("auto", CARD)
        await at.gateway.rows(1)
        async with at.gateway.database.reading() as connection:
            row = (await connection.exec_driver_sql("SELECT DISTINCT zone, labels FROM ledger_event")).one()
            zone = (await connection.exec_driver_sql("SELECT zone FROM ledger_attempt")).scalar()
        assert (row.zone, row.labels, zone) == ("onprem", "card", "onprem")
