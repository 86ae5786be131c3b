"""The admin API over a real gateway: who may do what, and what it leaves behind."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support.running_gateway import RunningGateway, running_gateway


@dataclass(frozen=True)
class Office:
    """A gateway, and what its owner may do with it."""

    gateway: RunningGateway
    owner: str

    async def ask(self, method: str, path: str, key: str | None = None, **sent: Any) -> httpx.Response:
        headers = {"authorization": f"Bearer {self.owner if key is None else key}"}
        return await self.gateway.client.request(method, f"/admin/api{path}", headers=headers, **sent)

    async def person(self, role: str, team: str | None = None) -> dict[str, str]:
        reply = await self.ask("POST", "/people", json={"name": "Ada", "role": role, "team": team})
        assert reply.status_code == 201, reply.text
        return reply.json()

    async def acts(self) -> list[str]:
        """List what people did; the first entry is the gateway's own, of the policy it started with."""
        *entries, first = (await self.ask("GET", "/audit")).json()
        assert (first["actor"], first["act"]) == ("gateway", "policy.applied")
        return [f"{entry['actor']} {entry['act']}" for entry in entries]


@pytest.fixture
async def office(tmp_path: Path) -> AsyncGenerator[Office]:
    async with running_gateway(tmp_path) as gateway:
        yield Office(gateway, (tmp_path / "home" / "admin.key").read_text().strip())


async def test_a_key_made_over_the_api_works_at_once_until_it_is_revoked(office: Office) -> None:
    made = (await office.ask("POST", "/keys", json={"team": "red", "app": "bot", "name": "ci"})).json()
    assert (await office.gateway.chat(made["key"])).status_code == 200
    (listed,) = (await office.ask("GET", "/keys", params={"team": "red"})).json()
    assert (listed["id"], listed["name"], listed["tiers"], listed["budgets"]) == (made["id"], "ci", None, [])
    assert "secret" not in str(listed)
    rotated = (await office.ask("POST", f"/keys/{made['id']}/rotate", json={"overlap_s": 0})).json()
    assert (await office.gateway.chat(made["key"], "2")).status_code == 401
    assert (await office.gateway.chat(rotated["key"], "3")).status_code == 200
    assert (await office.ask("DELETE", f"/keys/{made['id']}")).status_code == 204
    assert (await office.gateway.chat(rotated["key"], "4")).status_code == 401
    assert (await office.ask("DELETE", f"/keys/{made['id']}")).status_code == 404
    assert await office.acts() == ["owner key.revoked", "owner key.rotated", "owner key.created"]
    assert (await office.ask("GET", "/audit/proof")).json() == {
        "ok": True, "entries": 4, "broken_at": None, "why": None,
    }  # fmt: skip


async def test_a_team_lead_sees_and_changes_its_own_team_alone(office: Office) -> None:
    blue = (await office.ask("POST", "/keys", json={"team": "blue", "app": "bot"})).json()
    lead = (await office.person("team-lead", "red"))["key"]
    own = await office.ask("POST", "/keys", lead, json={"team": "red", "app": "bot"})
    assert own.status_code == 201
    assert (await office.ask("POST", "/keys", lead, json={"team": "blue", "app": "bot"})).status_code == 403
    assert [key["id"] for key in (await office.ask("GET", "/keys", lead)).json()] == [own.json()["id"]]
    assert (await office.ask("GET", "/keys", lead, params={"team": "blue"})).status_code == 403
    assert (await office.ask("DELETE", f"/keys/{blue['id']}", lead)).status_code == 404
    assert (await office.ask("POST", f"/keys/{blue['id']}/rotate", lead, json={})).status_code == 404
    await office.gateway.chat(own.json()["key"])
    await office.gateway.chat(blue["key"])
    await office.gateway.rows(2)
    for path in ("/spend", "/spend?by=app"):
        assert (await office.ask("GET", path, lead)).json()["total"]["requests"] == 1
    assert (await office.ask("GET", "/spend?team=blue", lead)).status_code == 403
    assert (await office.ask("GET", "/spend")).json()["total"]["requests"] == 2
    entries = (await office.ask("GET", "/audit", lead)).json()
    assert {entry["team"] for entry in entries} == {"red"}
    assert (await office.ask("POST", "/people", lead, json={"name": "Eve", "role": "owner"})).status_code == 403


async def test_an_auditor_reads_everything_and_changes_nothing(office: Office) -> None:
    auditor = (await office.person("auditor"))["key"]
    for path in ("/me", "/keys", "/people", "/audit", "/audit/proof", "/alerts", "/spend"):
        assert (await office.ask("GET", path, auditor)).status_code == 200
    for method, path, sent in (
        ("POST", "/keys", {"team": "red", "app": "bot"}),
        ("POST", "/keys/abc/rotate", {}),
        ("DELETE", "/keys/abc", None),
        ("POST", "/people", {"name": "Eve", "role": "owner"}),
        ("DELETE", "/people/abc", None),
    ):
        reply = await office.ask(method, path, auditor, json=sent)
        assert (reply.status_code, reply.json()["error"]["code"]) == (403, "forbidden")
    assert await office.acts() == ["owner person.created"]


async def test_a_revoked_person_is_shut_out_at_once(office: Office) -> None:
    ada = await office.person("platform")
    assert (await office.ask("GET", "/me", ada["key"])).json()["role"] == "platform"
    assert (await office.ask("DELETE", f"/people/{ada['id']}")).status_code == 204
    reply = await office.ask("GET", "/me", ada["key"])
    assert (reply.status_code, reply.json()["error"]["code"]) == (401, "invalid_api_key")
    assert (await office.ask("DELETE", f"/people/{ada['id']}")).status_code == 404
    assert [person["revoked_at"] is None for person in (await office.ask("GET", "/people")).json()] == [False]


async def test_admin_keys_open_no_model_and_application_keys_no_administration(office: Office) -> None:
    ada = (await office.person("owner"))["key"]
    assert (await office.gateway.chat(ada)).status_code == 401
    assert (await office.ask("GET", "/keys", await office.gateway.key())).status_code == 401
    assert (await office.gateway.client.get("/admin/api/keys")).status_code == 401


async def test_wrong_keys_are_guessed_at_five_times_a_minute(office: Office) -> None:
    replies = [await office.ask("GET", "/me", f"guess{n}") for n in range(6)]
    assert [reply.status_code for reply in replies] == [401] * 5 + [429]
    assert int(replies[-1].headers["retry-after"]) > 0


@pytest.mark.parametrize(
    ("path", "body", "told"),
    [
        ("/keys", {"team": "red", "app": "bto"}, "The policy has no red/bto; it has: red/bot, red/other, blue/bot."),
        ("/keys", {"team": "red"}, "app: Field required."),
        ("/keys", {"team": "red", "app": "bot", "tier": ["x"]}, "tier: Extra inputs are not permitted."),
        ("/keys", {"team": "red", "app": "bot", "tiers": ["x"]}, "The policy has no tier 'x'; it has: local, cloud."),
        ("/keys", {"team": "red", "app": "bot", "models": ["x"]}, "The policy has no model 'x'; it has: small,"),
        ("/keys", {"team": "red", "app": "bot", "budgets": ["5"]}, "'5' is no budget; write an amount and a window"),
        ("/keys", {"team": "red", "app": "bot", "budgets": ["0/day"]}, "the amount should be more than 0"),
        ("/people", {"name": "Ada", "role": "boss"}, "role: Input should be 'owner', 'platform', 'team-lead'"),
        ("/people", {"name": "Ada", "role": "team-lead"}, "a team-lead needs a team, and no other role has one"),
        ("/people", {"name": "Ada", "role": "team-lead", "team": "green"}, "no team 'green'; it has: red, blue"),
        ("/people", {"name": "\x1b[1m", "role": "owner"}, "name: String should match pattern"),
    ],
)
async def test_what_is_malformed_is_refused_with_its_place(
    office: Office, path: str, body: dict[str, Any], told: str
) -> None:
    reply = await office.ask("POST", path, json=body)
    assert (reply.status_code, reply.json()["error"]["code"]) == (400, "invalid_request_error")
    assert told in reply.json()["error"]["message"]
    assert await office.acts() == []


async def test_a_span_that_ends_before_it_begins_is_refused(office: Office) -> None:
    reply = await office.ask("GET", "/spend?since=2026-11-29T00:00:00Z&until=2026-11-28T00:00:00Z")
    assert "since should be before until" in reply.text.lower()
    assert (await office.ask("GET", "/spend?since=2026-11-29T00:00:00")).status_code == 400


async def test_the_api_describes_itself(office: Office) -> None:
    document = (await office.gateway.client.get("/admin/api/openapi.json")).json()
    assert {"/keys", "/keys/{key_id}/rotate", "/people", "/audit", "/audit/proof", "/alerts", "/spend", "/me"} <= set(
        document["paths"]
    )
    assert document["servers"] == [{"url": "/admin/api"}]
    assert document["components"]["securitySchemes"]["HTTPBearer"]["scheme"] == "bearer"


async def test_a_person_signs_in_to_the_dashboard_and_is_written_down(office: Office) -> None:
    lead = (await office.person("team-lead", "red"))["key"]
    client = office.gateway.client
    form = (await client.get("/admin/sign-in")).text.partition('name="form" value="')[2][:64]
    assert (await client.post("/admin/sign-in", data={"form": form, "key": lead})).headers["location"] == "/admin"
    assert (await client.get("/admin")).status_code == 200
    assert (await office.acts())[0].endswith("person.signed_in")


@pytest.mark.parametrize("text", ["a\n", "\x00", " a", "\u202ea", ""])
async def test_a_key_is_bound_and_named_in_text_that_prints(office: Office, text: str) -> None:
    for field in ("feature", "name"):
        reply = await office.ask("POST", "/keys", json={"team": "red", "app": "bot", field: text})
        assert (reply.status_code, field in reply.json()["error"]["message"].lower()) == (400, True)


@pytest.mark.parametrize(
    "path",
    [
        "/spend?until=0001-01-01T00:00:00Z", "/spend?until=0001-01-01T00:00:00%2B23:59",
        "/spend?since=0001-01-01T00:00:00%2B23:59&until=9999-12-31T23:59:59-23:59",
        f"/audit?before={2**63 - 1}", f"/audit?before={10**30}", "/audit?before=0",
    ],
)  # fmt: skip
async def test_no_date_and_no_number_is_too_far_away_for_an_answer(office: Office, path: str) -> None:
    reply = await office.ask("GET", path)

    assert reply.status_code in {200, 400}
    assert reply.status_code == 200 or reply.json()["error"]["code"] == "invalid_request_error"


async def test_an_error_that_nobody_foresaw_has_the_shape_of_every_other(office: Office) -> None:
    object.__setattr__(office.gateway.services.desk, "database", None)
    reply = await office.ask("GET", "/keys")

    assert (reply.status_code, reply.json()["error"]["code"]) == (500, "internal_error")
    assert "None" not in reply.text


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/keys?team=%00"), ("GET", "/spend?team=a%00"), ("DELETE", "/keys/%00"), ("DELETE", "/people/%00"),
        ("POST", "/keys/a%00/rotate"),
    ],
)  # fmt: skip
async def test_what_no_database_can_hold_is_refused_before_it_is_asked(office: Office, method: str, path: str) -> None:
    reply = await office.ask(method, path)

    assert (reply.status_code, reply.json()["error"]["code"]) == (400, "invalid_request_error")
