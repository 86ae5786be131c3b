"""The policy over the admin API: who may see it, change it and go back, and what that leaves behind."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from tests.support.running_gateway import RunningGateway, policy, running_gateway
from tests.support.waiting import until

SECRET = "sk-written-out-0123456789"


@dataclass(frozen=True)
class Office:
    """A gateway, and what its owner may do with it."""

    gateway: RunningGateway
    owner: str

    async def ask(self, method: str, path: str, key: str | None = None, **sent: Any) -> httpx.Response:
        headers = {"authorization": f"Bearer {self.owner if key is None else key}"}
        return await self.gateway.client.request(method, f"/admin/api{path}", headers=headers, **sent)

    async def person(self, role: str, team: str | None = None) -> str:
        reply = await self.ask("POST", "/people", json={"name": "Ada", "role": role, "team": team})
        return reply.json()["key"]

    @property
    def version(self) -> str:
        return self.gateway.services.in_force.governed.policy.version


@pytest.fixture
async def office(tmp_path: Path) -> AsyncGenerator[Office]:
    async with running_gateway(tmp_path) as gateway:
        yield Office(gateway, (tmp_path / "home" / "admin.key").read_text().strip())


def edited(limit: int) -> str:
    return yaml.safe_dump(policy(budgets=[{"scope": "org", "limit": limit, "window": "month"}]))


async def test_a_platform_engineer_puts_a_policy_in_force_and_goes_back(office: Office) -> None:
    before, ada = office.version, await office.person("platform")
    made = await office.ask("POST", "/policy", ada, json={"text": edited(5), "note": "a lid on it"})
    assert made.status_code == 201, made.text
    facts = made.json()
    assert (facts["before"], facts["source"], facts["role"]) == (before, "admin API", "platform")
    assert facts["changes"] == ["+ budget org per month: 5.00 USD"]
    await until(lambda: office.version == facts["version"], 30)
    back = (await office.ask("POST", "/policy/rollback", ada, json={})).json()
    assert (back["version"], back["before"]) == (before, facts["version"])
    await until(lambda: office.version == before, 30)
    listed = (await office.ask("GET", "/policy/history", ada)).json()
    assert [(row["mode"], row["version"], row["note"]) for row in listed] == [
        ("active", before, ""), ("active", facts["version"], "a lid on it"), ("active", before, ""),
    ]  # fmt: skip
    assert (await office.ask("GET", "/audit/proof")).json()["ok"] is True


async def test_only_those_who_may_see_and_change_the_policy_do(office: Office) -> None:
    lead, auditor = await office.person("team-lead", "red"), await office.person("auditor")
    for path in ("/policy", "/policy/history"):
        assert (await office.ask("GET", path, auditor)).status_code == 200
        assert (await office.ask("GET", path, lead)).json()["error"]["code"] == "forbidden"
    for key in (lead, auditor):
        for method, path, sent in (
            ("POST", "/policy", {"text": edited(5)}),
            ("POST", "/policy/rollback", {}),
            ("DELETE", "/policy/shadow", None),
        ):
            assert (await office.ask(method, path, key, json=sent)).json()["error"]["code"] == "forbidden"
    assert len((await office.ask("GET", "/policy/history")).json()) == 1


async def test_a_text_that_is_no_policy_is_refused_with_its_places(office: Office) -> None:
    reply = await office.ask("POST", "/policy", json={"text": "version: 1\n"})
    assert (reply.status_code, reply.json()["error"]["code"]) == (400, "invalid_policy")
    assert 'admin API:1:1: needs "providers"' in reply.json()["error"]["message"].replace("Admin", "admin")
    unknown = await office.ask("POST", "/policy/rollback", json={"version": "abcdef"})
    assert (unknown.status_code, unknown.json()["error"]["code"]) == (404, "not_found")
    assert len((await office.ask("GET", "/policy/history")).json()) == 1


async def test_a_policy_is_shown_without_the_secrets_in_it(office: Office) -> None:
    cloud = {"kind": "openai", "zone": "cloud", "api_key": SECRET, "base_url": "http://u:pass-0123@127.0.0.1:9/v1"}
    text = yaml.safe_dump(policy(providers=policy()["providers"] | {"cloud": cloud}))
    made = await office.ask("POST", "/policy", json={"text": text})
    shown = await office.ask("GET", "/policy", params={"version": made.json()["version"][:8]})
    assert "kind: openai" in shown.json()["text"]
    for reply in (made, shown, await office.ask("GET", "/policy"), await office.ask("GET", "/audit")):
        assert SECRET not in reply.text
        assert "pass-0123" not in reply.text


async def test_a_policy_in_the_shade_changes_no_answer(office: Office) -> None:
    key, governs = await office.gateway.key(), office.version
    none = yaml.safe_dump(policy(teams=[{"name": "blue", "apps": [{"name": "bot"}]}]))
    made = (await office.ask("POST", "/policy", json={"text": none, "shadow": True})).json()
    assert (made["mode"], made["before"]) == ("shadow", governs)
    answered = await office.gateway.chat(key)
    assert (answered.status_code, answered.headers["x-sluice-policy"]) == (200, governs)
    await office.gateway.rows(1)
    report = (await office.ask("GET", "/policy/shadow")).json()
    assert (report["lasts"], report["version"], report["changed"]) == (True, made["version"], True)
    assert (report["teams"]["red"]["requests"], report["teams"]["red"]["refused"]) == (1, 1)
    assert (await office.ask("DELETE", "/policy/shadow")).status_code == 204
    assert (await office.ask("GET", "/policy/shadow")).json()["lasts"] is False
