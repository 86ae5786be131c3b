"""Policies that follow one another in a gateway that serves all the while."""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest

from gateway.policy.models import Provider
from gateway.providers import pool
from gateway.providers.upstream import Upstream
from governance.alerts.outbox import listed
from governance.audit import log
from governance.audit.chain import GATEWAY
from governance.identity import KeyTerms
from governance.limits import Budget
from governance.money import Nanodollars
from governance.policy import history
from governance.policy.history import Mode, Written
from governance.windows import WindowKind
from tests.support.running_gateway import POLICY, RunningGateway, policy, running_gateway
from tests.support.scripted_upstream import Script
from tests.support.waiting import eventually, until

CLOUD = {"kind": "openai", "zone": "cloud", "base_url": "http://127.0.0.1:9/v1"}


@pytest.fixture
async def gateway(tmp_path: Path) -> AsyncGenerator[RunningGateway]:
    async with running_gateway(tmp_path) as running:
        yield running


def edited(**org: Any) -> dict[str, Any]:
    """Return the test policy with a budget of the whole organisation."""
    return policy(budgets=[{"scope": "org", "window": "month", **org}], cache={})


async def ready(gateway: RunningGateway) -> dict[str, Any]:
    return (await gateway.client.get("/readyz")).json()


async def write_down(gateway: RunningGateway, text: str, version: str = "0" * 12) -> None:
    """Put a text into the history that nobody has checked."""
    seen = await history.newest_id(gateway.database)
    written = Written(version, text, "somebody's editor")
    now = datetime.now(UTC)
    assert await history.apply(gateway.database, Mode.ACTIVE, written, over=seen, by=GATEWAY, at=now)


async def test_a_stream_ends_under_the_policy_it_began_with_and_the_next_request_is_under_the_new_one(
    gateway: RunningGateway,
) -> None:
    key, gate = await gateway.key(), asyncio.Event()
    gateway.upstream.script = Script(pieces=["Hello", "!"], gate=gate)
    body = {"model": "auto", "stream": True, "messages": [{"role": "user", "content": "Hi"}]}
    headers = {"authorization": f"Bearer {key}"}
    async with gateway.client.stream("POST", "/v1/chat/completions", json=body, headers=headers) as stream:
        began = stream.headers["x-sluice-policy"]
        lines = stream.aiter_lines()
        assert (await anext(lines)).startswith("data: ")
        new = await gateway.follow(edited(limit=5))
        assert gateway.services.purse.open_holds == 1
        gateway.upstream.script = Script()
        gate.set()
        rest = [line async for line in lines if line]
    assert rest[-1] == "data: [DONE]"
    answered = await gateway.chat(key)
    assert (answered.status_code, answered.headers["x-sluice-policy"]) == (200, new)
    assert began != new
    assert [row.status for row in await gateway.rows(2)] == [200, 200]


async def test_a_budget_that_appears_counts_what_was_spent_before_in_its_window(gateway: RunningGateway) -> None:
    key = await gateway.key()
    assert (await gateway.chat(key)).status_code == 200
    (row,) = await gateway.rows(1)
    spent = row.cost.usd
    await gateway.follow(edited(limit=float(spent)))
    refused = await gateway.chat(key, "again")
    error = refused.json()["error"]
    assert (refused.status_code, error["scope"], error["spent_usd"]) == (429, "org", spent)


async def test_a_budget_that_appears_counts_what_a_running_request_may_still_spend(gateway: RunningGateway) -> None:
    key, gate = await gateway.key(), asyncio.Event()
    gateway.upstream.script.silent = gate
    running = asyncio.create_task(gateway.chat(key, max_tokens=50))
    await gateway.upstream.until(lambda: len(gateway.upstream.bodies) == 1)
    await gateway.follow(edited(limit=0.0001))
    refused = await gateway.chat(key, "again", max_tokens=50)
    gate.set()
    assert (refused.status_code, refused.json()["error"]["scope"]) == (429, "org")
    assert (await running).status_code == 200


async def test_on_another_calendar_the_budget_of_a_key_counts_what_was_spent_before(gateway: RunningGateway) -> None:
    key = await gateway.key(terms=KeyTerms(budgets=(Budget("key", Nanodollars(600_000), WindowKind.MONTH),)))
    assert (await gateway.chat(key)).status_code == 200
    (row,) = await gateway.rows(1)
    await gateway.follow(policy(timezone="Asia/Kolkata", cache={}))
    usage = (await gateway.client.get("/v1/usage", headers={"authorization": f"Bearer {key}"})).json()
    assert [each["spent_usd"] for each in usage["budgets"] if each["scope"].startswith("key:")] == [row.cost.usd]


async def test_an_edited_limit_keeps_what_its_window_has_seen(gateway: RunningGateway) -> None:
    key = await gateway.key()
    await gateway.follow(edited(limit=1))
    assert (await gateway.chat(key)).status_code == 200
    (row,) = await gateway.rows(1)
    await gateway.follow(edited(limit=2))
    usage = (await gateway.client.get("/v1/usage", headers={"authorization": f"Bearer {key}"})).json()
    org = next(budget for budget in usage["budgets"] if budget["scope"] == "org")
    assert (org["limit_usd"], org["spent_usd"]) == ("2.00", row.cost.usd)


async def test_a_text_that_is_no_policy_leaves_the_last_good_one_in_force_and_is_named(
    gateway: RunningGateway,
) -> None:
    key, before = await gateway.key(), await gateway.follow(edited(limit=5))
    await write_down(gateway, "version: 1\n")
    await until(lambda: bool(gateway.services.in_force.trouble), 30)
    answered = await gateway.chat(key)
    said = await ready(gateway)
    assert (answered.status_code, answered.headers["x-sluice-policy"], said["status"]) == (200, before, "ready")
    assert said["policy"] == {
        "version": before,
        "trouble": "policy 000000000000 (somebody's editor) is not in force: "
        'somebody\'s editor:1:1: needs "providers"',
    }
    metrics = (await gateway.client.get("/metrics")).text
    assert f'sluice_policy{{version="{before}"}} 1.0' in metrics
    assert "sluice_policy_refused 1.0" in metrics
    after = await gateway.follow(edited(limit=6))
    assert (await ready(gateway))["policy"] == {"version": after, "trouble": None}


async def test_a_provider_that_cannot_be_opened_leaves_the_last_good_policy_in_force(
    gateway: RunningGateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fails(name: str, section: Provider, absent: str | None, *more: object) -> Upstream:
        raise OSError(24, "Too many open files")

    key, before = await gateway.key(), gateway.services.in_force.governed
    monkeypatch.setattr(pool, "open_upstream", fails)
    await gateway.decide(policy(providers=POLICY["providers"] | {"cloud": CLOUD}))
    await until(lambda: bool(gateway.services.in_force.trouble), 30)
    assert "Too many open files" in (await ready(gateway))["policy"]["trouble"]
    assert gateway.services.in_force.governed is before
    assert (await gateway.chat(key)).status_code == 200


async def test_going_back_to_the_policy_that_governs_already_ends_the_trouble(gateway: RunningGateway) -> None:
    version = await gateway.follow(edited(limit=5))
    await write_down(gateway, "teams: [")
    await until(lambda: bool(gateway.services.in_force.trouble), 30)
    governed = gateway.services.in_force.governed
    await gateway.decide(edited(limit=5))
    await until(lambda: not gateway.services.in_force.trouble, 30)
    assert gateway.services.in_force.governed is governed
    assert governed.policy.version == version


async def test_providers_that_stay_keep_their_connections_and_others_are_closed_after_their_last_request(
    gateway: RunningGateway,
) -> None:
    key, gate, in_force = await gateway.key(), asyncio.Event(), gateway.services.in_force
    await gateway.follow(policy(providers=POLICY["providers"] | {"cloud": CLOUD}))
    engine, cloud = (in_force.governed.catalogue._upstreams[name] for name in ("engine", "cloud"))
    gateway.upstream.script.silent = gate
    running = asyncio.create_task(gateway.chat(key))
    await gateway.upstream.until(lambda: len(gateway.upstream.bodies) == 1)
    cheaper = POLICY["providers"]["engine"] | {"machine_usd_per_hour": 0.18}
    await gateway.follow(policy(providers={"engine": cheaper}))
    assert in_force.governed.catalogue._upstreams == {"engine": engine}
    assert not cloud._client.is_closed  # pyright: ignore[reportAttributeAccessIssue]
    gate.set()
    assert (await running).status_code == 200
    await until(lambda: cloud._client.is_closed, 30)  # pyright: ignore[reportAttributeAccessIssue]
    assert not engine._client.is_closed  # pyright: ignore[reportAttributeAccessIssue]


async def test_models_the_demo_key_and_metrics_follow_the_policy(gateway: RunningGateway, tmp_path: Path) -> None:
    demo = {"name": "demo", "apps": [{"name": "demo"}]}
    models = [*POLICY["models"], {**POLICY["models"][2], "name": "dearest", "provider": "cloud"}]
    assert not (tmp_path / "home" / "demo.key").exists()
    await gateway.follow(policy(providers=POLICY["providers"] | {"cloud": CLOUD}, models=models, teams=[demo]))
    await until((tmp_path / "home" / "demo.key").exists, 30)
    key = (tmp_path / "home" / "demo.key").read_text().strip()
    listed = (await gateway.client.get("/v1/models", headers={"authorization": f"Bearer {key}"})).json()
    assert "dearest" in {model["id"] for model in listed["data"]}
    assert 'sluice_provider_available{provider="cloud"}' in (await gateway.client.get("/metrics")).text
    await gateway.follow(policy())
    assert 'sluice_provider_available{provider="cloud"}' not in (await gateway.client.get("/metrics")).text
    assert (await gateway.chat(key)).json()["error"]["code"] == "model_not_allowed"


async def test_what_another_model_answered_under_the_same_name_is_not_given_again(gateway: RunningGateway) -> None:
    key = await gateway.key("blue")
    told = [(await gateway.chat(key, model="dear")).headers["x-sluice-cache"] for _ in range(2)]
    *others, dear = POLICY["models"]
    await gateway.follow(policy(models=[*others, dear | {"model": "its-successor"}]))
    told.append((await gateway.chat(key, model="dear")).headers["x-sluice-cache"])
    assert told == ["miss", "exact", "miss"]
    assert [body["model"] for body in gateway.upstream.bodies] == ["dear", "its-successor"]


async def test_alerts_and_calendars_follow_the_policy(gateway: RunningGateway) -> None:
    key = await gateway.key()
    assert (await gateway.chat(key)).status_code == 200
    await gateway.rows(1)
    assert await listed(gateway.database, 10) == ()
    budget = {"scope": "org", "window": "day", "limit": 0.00001, "steps": {"1%": "alert", "100%": "block"}}
    await gateway.follow(policy(budgets=[budget], timezone="Asia/Tokyo"))

    async def fired() -> bool:
        return bool(await listed(gateway.database, 10))

    await eventually(fired, 30)
    assert [alert.scope for alert, _ in await listed(gateway.database, 1)] == ["org"]
    usage = (await gateway.client.get("/v1/usage", headers={"authorization": f"Bearer {key}"})).json()
    assert all(budget["resets_at"].endswith("T15:00:00Z") for budget in usage["budgets"])


async def test_what_is_done_while_a_store_is_away_follows_the_policy(gateway: RunningGateway) -> None:
    await gateway.follow(policy(on_store_error={"allowance_usd": 2}))
    assert gateway.services.ledger._outage._rule == Nanodollars(2 * 10**9)


async def test_the_money_rules_hold_for_two_hundred_clients_while_policies_swap(tmp_path: Path) -> None:
    cap = 0.0005
    tight = {"name": "tight", "budgets": [{"limit": cap, "window": "month"}], "apps": [{"name": "bot"}]}

    def variant(number: int) -> dict[str, Any]:
        """Return a policy with the cap, and another whole-organisation budget each time."""
        window = ("day", "week", "month", "quarter")[number % 4]
        org = {"scope": "org", "window": window, "limit": 100 + number}
        return policy(teams=[tight], budgets=[org], cache={})

    async with running_gateway(tmp_path, variant(0)) as gateway, AsyncExitStack() as stack:
        key = await gateway.key("tight")
        limits = httpx.Limits(max_connections=200)
        client = await stack.enter_async_context(
            httpx.AsyncClient(base_url=f"http://127.0.0.1:{gateway.port}", timeout=60, limits=limits)
        )
        body = {"model": "auto", "max_tokens": 10, "messages": [{"role": "user", "content": "Hi"}]}
        headers = {"authorization": f"Bearer {key}"}

        async def ask() -> httpx.Response:
            return await client.post("/v1/chat/completions", json=body, headers=headers)

        async def swap() -> None:
            for number in range(1, 5):
                await gateway.follow(variant(number))

        *replies, _ = await asyncio.gather(*(ask() for _ in range(200)), swap())
        replies = [reply for reply in replies if reply is not None] + [await ask() for _ in range(20)]
        codes = Counter(reply.status_code for reply in replies)
        rows = await gateway.rows(220)
        assert set(codes) == {200, 429}
        assert len(gateway.upstream.bodies) == codes[200]
        assert sum(row.cost.nanos for row in rows) <= cap * 10**9
        assert len(rows) == 220
        assert gateway.services.purse.open_holds == 0
        proof = await log.verify(gateway.database)
        assert (proof.entries, proof.broken) == (6, None)
