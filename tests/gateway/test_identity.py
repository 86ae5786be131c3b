"""Who may ask: keys in every header, revocation, tenants that cannot reach each other's answers or budgets."""

import secrets
from collections.abc import AsyncGenerator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from governance.audit.chain import GATEWAY
from governance.keys import create_key, revoke_key
from tests.support.running_gateway import POLICY, RunningGateway, running_gateway

BODY = {"model": "auto", "messages": [{"role": "user", "content": "Hi"}]}


@pytest.fixture
async def gateway(tmp_path: Path) -> AsyncGenerator[RunningGateway]:
    async with running_gateway(tmp_path) as running:
        yield running


@pytest.mark.parametrize("header", ["authorization", "x-api-key", "api-key", "x-goog-api-key"])
async def test_a_key_is_read_from_every_header_that_sdks_use(gateway: RunningGateway, header: str) -> None:
    key = await gateway.key()
    value = f"Bearer {key}" if header == "authorization" else key

    assert (await gateway.client.post("/v1/chat/completions", json=BODY, headers={header: value})).status_code == 200


@pytest.mark.parametrize("key", ["", "sk-sluice-", "sk-sluice-abc-def", "sk-openai-1", "x" * 10_000])
async def test_a_key_that_is_none_is_a_401_that_is_not_retried(gateway: RunningGateway, key: str) -> None:
    reply = await gateway.client.post("/v1/chat/completions", json=BODY, headers={"x-api-key": key})

    error = reply.json()["error"]
    assert (reply.status_code, error["code"]) == (401, "invalid_api_key")
    assert error["message"].startswith("The key is" if key else "No key was given: send `Authorization: Bearer")
    assert reply.headers["x-should-retry"] == "false"
    assert await gateway.rows() == ()


async def test_the_admin_key_cannot_ask_a_model(gateway: RunningGateway, tmp_path: Path) -> None:
    admin = (tmp_path / "home" / "admin.key").read_text().strip()

    assert (await gateway.chat(admin)).status_code == 401


async def test_a_key_made_or_revoked_by_another_process_is_known_within_a_second(gateway: RunningGateway) -> None:
    minted = await create_key(
        gateway.database, team="red", app="bot", by=GATEWAY, now=datetime.now(UTC), random_bytes=secrets.token_bytes
    )
    began = datetime.now(UTC)
    while (await gateway.chat(minted.key)).status_code != 200:
        assert datetime.now(UTC) - began < timedelta(seconds=5)
    await revoke_key(gateway.database, minted.public_id, by=GATEWAY, now=datetime.now(UTC))
    while (reply := await gateway.chat(minted.key)).status_code == 200:
        assert datetime.now(UTC) - began < timedelta(seconds=10)
    assert reply.json()["error"]["message"] == "The key is revoked."


async def test_tenants_are_not_served_each_others_answers(gateway: RunningGateway) -> None:
    callers = [await gateway.key("red", "bot"), await gateway.key("red", "other"), await gateway.key("blue", "bot")]
    replies = [await gateway.chat(key, "the same question") for key in callers]

    assert [reply.headers["x-sluice-cache"] for reply in replies] == ["miss", "miss", "miss"]
    assert len({body["cache_salt"] for body in gateway.upstream.bodies}) == 3


async def test_two_keys_of_one_app_share_answers(gateway: RunningGateway) -> None:
    first, second = await gateway.key(), await gateway.key()
    await gateway.chat(first, "shared")

    assert (await gateway.chat(second, "shared")).headers["x-sluice-cache"] == "exact"


async def test_a_caller_cannot_move_its_cost_to_another_team_or_app(gateway: RunningGateway) -> None:
    await gateway.chat(
        await gateway.key(),
        headers={"x-sluice-team": "blue", "x-sluice-app": "other", "x-portkey-metadata": '{"team": "blue"}'},
        metadata={"team": "blue", "app": "other"},
    )

    (row,) = await gateway.rows(1)
    assert (row.team, row.app) == ("red", "bot")


async def test_dimensions_come_from_headers_then_metadata_as_far_as_the_policy_lets_them(
    gateway: RunningGateway,
) -> None:
    await gateway.chat(
        await gateway.key(),
        headers={"x-sluice-feature": "faq", "x-sluice-workflow": "not settable"},
        metadata={"feature": "ignored", "session": "s1"},
    )

    (row,) = await gateway.rows(1)
    assert (row.feature, row.workflow, row.session) == ("faq", "unattributed", "s1")


async def test_nothing_secret_goes_upstream(gateway: RunningGateway) -> None:
    key = await gateway.key()
    await gateway.chat(key, headers={"cookie": "a=b", "x-custom": "c"}, metadata={"feature": "x"}, cache={"ttl": 5})

    sent, body = gateway.upstream.headers[0], gateway.upstream.bodies[0]
    assert key not in str(sent)
    assert set(sent) <= {"host", "accept", "accept-encoding", "connection", "user-agent", "content-type",
                         "content-length", "x-request-id"}  # fmt: skip
    assert not {"metadata", "cache"} & set(body)


async def test_a_zone_keeps_a_request_on_our_own_machines(gateway: RunningGateway) -> None:
    key = await gateway.key("blue")

    assert (await gateway.chat(key, headers={"x-sluice-zone": "onprem"})).headers["x-sluice-route"] == "weak"
    gateway.upstream.healthy = False
    await gateway.services.in_force.governed.catalogue.upstream(
        gateway.services.in_force.governed.catalogue.models["small"]
    ).refresh()
    down = await gateway.chat(key, "again", headers={"x-sluice-zone": "onprem"})
    assert (down.status_code, down.json()["error"]["code"]) == (503, "zone_unavailable")
    assert "retry-after" in down.headers


async def test_a_shared_answer_does_not_reach_an_app_whose_tiers_exclude_its_model(tmp_path: Path) -> None:
    apps = [{"name": "low", "tiers": ["local"]}, {"name": "high"}]
    document = POLICY | {
        "teams": [{"name": "red", "apps": apps}],
        "routes": [{"name": "auto", "weak": "dear", "strong": "small"}],
        "cache": {"exact": {"ttl": "1h", "shared_by": "team"}},
    }
    async with running_gateway(tmp_path, document) as gateway:
        high = await gateway.chat(await gateway.key("red", "high"))
        low = await gateway.chat(await gateway.key("red", "low"))

        assert (high.headers["x-sluice-model"], low.headers["x-sluice-model"]) == ("dear", "small")
        assert low.headers["x-sluice-cache"] == "miss"
