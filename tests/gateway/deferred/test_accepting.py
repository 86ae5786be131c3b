"""Single requests that wait: because their client says so, or because their budget does."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx

from tests.support.batch_files import BatchClient
from tests.support.running_gateway import policy, running_gateway

DEFERRED = {"x-sluice-priority": "deferred"}


def document(app: dict[str, Any] | None = None, **changes: Any) -> dict[str, Any]:
    team = {"name": "red", "apps": [{"name": "bot", "headers": ["feature", "session"]} | (app or {})]}
    return policy(**{"teams": [team], "cache": {}} | changes)


def tomorrow() -> str:
    """A window that is closed now, and for hours to come."""
    start = datetime.now(UTC) + timedelta(hours=5)
    return f"{start:%H:%M}-{start + timedelta(hours=1):%H:%M}"


def code_of(reply: httpx.Response) -> tuple[int, str]:
    return reply.status_code, reply.json()["error"]["code"]


async def test_a_request_that_may_wait_is_a_batch_of_one_line(tmp_path: Path) -> None:
    async with running_gateway(tmp_path, document()) as gateway:
        key = await gateway.key()
        reply = await gateway.chat(key, headers=DEFERRED | {"x-sluice-feature": "night"})
        client, accepted = BatchClient(gateway.client, key), reply.json()
        batch = await client.finished(accepted["id"])
        results = await client.results(batch["output_file_id"])
        (row,) = await gateway.rows(1)

    assert (reply.status_code, reply.headers["location"]) == (202, f"/v1/batches/{accepted['id']}")
    assert (accepted["object"], accepted["status"], accepted["output_file_id"]) == ("batch", "in_progress", None)
    assert reply.headers["retry-after"] == "1"
    assert results[0]["custom_id"] == reply.headers["x-request-id"]
    assert results[0]["response"]["body"]["choices"][0]["message"]["content"] == "Hello, world!"
    assert (row.request_id, row.feature) == (f"{accepted['id']}-1-1", "night")


async def test_what_would_be_refused_in_any_case_is_refused_at_once(tmp_path: Path) -> None:
    async with running_gateway(tmp_path, document()) as gateway:
        key = await gateway.key()
        replies = [
            await gateway.chat(key, headers=DEFERRED, stream=True),
            await gateway.chat(key, headers=DEFERRED, model="nothing"),
            await gateway.chat(key, headers={"x-sluice-priority": "soon"}),
            await gateway.chat("sk-sluice-no", headers=DEFERRED),
        ]
        listed = (await BatchClient(gateway.client, key).get("/v1/batches")).json()["data"]
    assert [code_of(reply) for reply in replies] == [
        (400, "invalid_request_error"),
        (404, "model_not_found"),
        (400, "invalid_request_error"),
        (401, "invalid_api_key"),
    ]
    assert listed == []


async def test_an_app_s_work_waits_for_its_window_and_a_policy_can_open_it(tmp_path: Path) -> None:
    app = {"deferred": {"window": tomorrow()}}
    async with running_gateway(tmp_path, document(app)) as gateway:
        key = await gateway.key()
        reply = await gateway.chat(key, headers=DEFERRED)
        assert 4 * 3600 < int(reply.headers["retry-after"]) <= 5 * 3600
        await gateway.follow(document())
        await BatchClient(gateway.client, key).finished(reply.json()["id"])
        assert len(gateway.upstream.bodies) == 1


async def test_a_budget_that_queues_lets_work_wait_until_there_is_money(tmp_path: Path) -> None:
    tight = {"limit": 0.0005, "window": "month", "steps": {"100%": "queue"}}
    async with running_gateway(tmp_path, document({"budgets": [tight]})) as gateway:
        key = await gateway.key()
        gateway.upstream.script.pieces = ["word "] * 100
        for n in range(2):
            assert (await gateway.chat(key, f"spend {n}", model="small", max_tokens=100)).status_code == 200
        made = len(gateway.upstream.bodies)
        reply = await gateway.chat(key, "wait", model="small", max_tokens=100)
        now = await gateway.chat(
            key, "now", model="small", max_tokens=100, headers={"x-sluice-priority": "interactive"}
        )
        stream = await gateway.chat(key, "stream", model="small", max_tokens=100, stream=True)
        rows = await gateway.rows(5)
        assert len(gateway.upstream.bodies) == made
        await gateway.follow(document({"budgets": [tight | {"limit": 1}]}))
        batch = await BatchClient(gateway.client, key).finished(reply.json()["id"])

    assert (reply.status_code, reply.json()["object"]) == (202, "batch")
    assert int(reply.headers["retry-after"]) >= 1
    assert (code_of(now), code_of(stream)) == ((429, "insufficient_quota"),) * 2
    assert sorted(row.code for row in rows if row.kind == "refused") == [
        "insufficient_quota",
        "insufficient_quota",
        "queued",
    ]
    assert batch["request_counts"] == {"total": 1, "completed": 1, "failed": 0}


async def test_a_deferred_request_that_is_sent_again_under_its_key_is_the_same_batch(tmp_path: Path) -> None:
    async with running_gateway(tmp_path, document()) as gateway:
        key, named = await gateway.key(), DEFERRED | {"idempotency-key": "k1"}
        first, again = [await gateway.chat(key, headers=named) for _ in range(2)]
        other = await gateway.chat(key, "Something else", headers=named)
        stranger = await gateway.chat(await gateway.key(), headers=named)
        await BatchClient(gateway.client, key).finished(first.json()["id"])
        await BatchClient(gateway.client, key).finished(stranger.json()["id"])
        assert len(gateway.upstream.bodies) == 2
    assert first.json()["id"] == again.json()["id"] != stranger.json()["id"]
    assert code_of(other) == (422, "invalid_request_error")
