"""Batches from their upload to their results, over a whole gateway."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from gateway.deferred.provider_batches.carrying import Carriage
from gateway.deferred.runner import Runner
from governance.audit.chain import GATEWAY
from governance.deferred import queue
from governance.keys import refresh, revoke_key
from tests.support.batch_files import BatchClient, chat_line, jsonl
from tests.support.books import books
from tests.support.running_gateway import RunningGateway, policy, running_gateway
from tests.support.scripted_upstream import Script
from tests.support.waiting import eventually

TEAM: dict[str, Any] = {"name": "red", "apps": [{"name": "bot", "headers": ["feature", "session"]}, {"name": "other"}]}


def document(**changes: Any) -> dict[str, Any]:
    return policy(teams=[TEAM | {"budgets": []}], **changes)


async def client_of(gateway: RunningGateway, app: str = "bot") -> BatchClient:
    return BatchClient(gateway.client, await gateway.key("red", app))


async def test_each_line_is_answered_once_and_is_a_request_of_the_ledger(tmp_path: Path) -> None:
    async with running_gateway(tmp_path, document()) as gateway:
        client = await client_of(gateway)
        lines = [chat_line(1), chat_line(2, model="nothing"), chat_line(3)]
        batch_id = await client.submit(lines, {"x-sluice-feature": "faq"}, metadata={"job": "7"})
        batch = await client.finished(batch_id)
        answers = await client.results(batch["output_file_id"])
        errors = await client.results(batch["error_file_id"])
        rows = await gateway.rows(3)

    assert (batch["status"], batch["metadata"]) == ("completed", {"job": "7"})
    assert batch["request_counts"] == {"total": 3, "completed": 2, "failed": 1}
    assert [line["custom_id"] for line in answers] == ["line-1", "line-3"]
    told = answers[0]["response"]
    assert (told["status_code"], told["request_id"]) == (200, f"{batch_id}-1-1")
    assert told["body"]["choices"][0]["message"]["content"] == "Hello, world!"
    assert [(line["custom_id"], line["response"]["status_code"]) for line in errors] == [("line-2", 404)]
    assert errors[0]["response"]["body"]["error"]["code"] == "model_not_found"
    assert {row.request_id for row in rows} == {f"{batch_id}-{n}-1" for n in (1, 2, 3)}
    assert {row.feature for row in rows} == {"faq"}
    assert {row.cost.nanos for row in rows} == {9_200, 0}


async def test_lines_of_embeddings_and_of_other_dialects_are_answered_as_their_endpoints_would(tmp_path: Path) -> None:
    embed = {"custom_id": "e", "method": "POST", "url": "/v1/embeddings", "body": {"model": "minilm", "input": "a"}}
    said = [{"role": "user", "content": "Hi"}]
    asked = {"model": "small", "max_tokens": 20, "messages": said}
    message = {"custom_id": "m", "method": "POST", "url": "/v1/messages", "body": asked}
    async with running_gateway(tmp_path, document()) as gateway:
        client = await client_of(gateway)
        batches = [
            await client.submit([line], endpoint=line["url"]) for line in (embed, message, message | {"body": {}})
        ]
        done = [await client.finished(batch) for batch in batches]
        vectors = await client.results(done[0]["output_file_id"])
        words = await client.results(done[1]["output_file_id"])
        refused = await client.results(done[2]["error_file_id"])

    assert vectors[0]["response"]["body"]["data"][0]["embedding"] == [0.6, 0.8]
    assert words[0]["response"]["body"]["content"] == [{"type": "text", "text": "Hello, world!"}]
    assert refused[0]["response"]["body"]["type"] == "error"


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"", "empty_file"),
        (b"{\n", "invalid_json_line"),
        (jsonl([chat_line(1), chat_line(1)]), "duplicate_custom_id"),
        (jsonl([chat_line(1) | {"url": "/v1/embeddings"}]), "mismatched_endpoint"),
        (jsonl([chat_line(1) | {"method": "GET"}]), "invalid_request"),
        (jsonl([chat_line(1) | {"body": [1]}]), "invalid_value"),
        (jsonl([chat_line(1) | {"custom_id": "a\0"}]), "invalid_value"),
        (jsonl([{"custom_id": "a"}]), "invalid_request"),
    ],
)
async def test_an_input_that_cannot_be_used_fails_its_batch_and_says_where(
    tmp_path: Path, content: bytes, code: str
) -> None:
    async with running_gateway(tmp_path, document()) as gateway:
        client = await client_of(gateway)
        file = (await client.upload(content)).json()
        batch = await client.finished((await client.create(file["id"])).json()["id"])
        assert gateway.upstream.bodies == []
    assert (batch["status"], batch["output_file_id"]) == ("failed", None)
    assert batch["errors"]["data"][0]["code"] == code


async def test_what_is_asked_in_vain_is_refused_in_the_house_s_words(tmp_path: Path) -> None:
    async with running_gateway(tmp_path, document()) as gateway:
        client, stranger = await client_of(gateway), await client_of(gateway, "other")
        file = (await client.upload(jsonl([chat_line(1)]))).json()
        batch_id = (await client.create(file["id"])).json()["id"]
        await client.finished(batch_id)
        replies = {
            "purpose": await client.upload(b"x", "fine-tune"),
            "endpoint": await client.create(file["id"], endpoint="/v1/audio"),
            "completion_window": await client.create(file["id"], completion_window="24d"),
            "metadata": await client.create(file["id"], metadata={"a": 1}),
        }
        unseen = [
            await stranger.get(f"/v1/files/{file['id']}"),
            await stranger.get(f"/v1/files/{file['id']}/content"),
            await stranger.delete(f"/v1/files/{file['id']}"),
            await stranger.create(file["id"]),
            await stranger.get(f"/v1/batches/{batch_id}"),
            await stranger.post(f"/v1/batches/{batch_id}/cancel"),
        ]
        over = await client.post(f"/v1/batches/{batch_id}/cancel")
        nobody = await BatchClient(gateway.client, "sk-sluice-no").get("/v1/files")
        listed = [(await stranger.get(path)).json()["data"] for path in ("/v1/files", "/v1/batches")]

    for param, reply in replies.items():
        assert reply.status_code == 400, reply.text
        assert reply.json()["error"]["param"].startswith(param)
    assert {reply.status_code for reply in unseen} == {404}
    assert (over.status_code, over.json()["error"]["code"]) == (409, "conflict")
    assert (nobody.status_code, nobody.json()["error"]["code"]) == (401, "invalid_api_key")
    assert listed == [[], []]


async def test_an_upload_that_is_no_form_or_too_large_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gateway.endpoints.files.MOST_BYTES", 1000)
    async with running_gateway(tmp_path, document()) as gateway:
        client, key = await client_of(gateway), await gateway.key()
        large = await client.upload(b"x" * 100_000)
        plain = await gateway.client.post("/v1/files", content=b"x", headers={"authorization": f"Bearer {key}"})
        listed = (await client.get("/v1/files")).json()
    assert (large.status_code, large.json()["error"]["param"]) == (400, "file")
    assert plain.status_code == 400
    assert listed["data"] == []


async def test_a_call_that_fails_is_tried_again_and_each_try_is_in_the_ledger(tmp_path: Path) -> None:
    async with running_gateway(tmp_path, document()) as gateway:
        client = await client_of(gateway)
        gateway.upstream.script = Script(status=500)
        batch_id = await client.submit([chat_line(1)])
        await gateway.upstream.until(lambda: len(gateway.upstream.bodies) == 4)  # more than one run makes of itself
        gateway.upstream.script = Script()
        batch = await client.finished(batch_id)
        rows = await gateway.rows(2)
        found = await books(gateway.database)
    assert batch["request_counts"] == {"total": 1, "completed": 1, "failed": 0}
    newest, *before = rows
    assert (newest.request_id, newest.status) == (f"{batch_id}-1-{len(rows)}", 200)
    assert {row.status for row in before} == {502}
    assert found.attempts == len(gateway.upstream.bodies)


async def test_a_revoked_key_pays_for_nothing_more(tmp_path: Path) -> None:
    async with running_gateway(tmp_path, document()) as gateway:
        client = await client_of(gateway)
        gate = gateway.upstream.script.silent = asyncio.Event()
        batch_id = await client.submit([chat_line(n) for n in range(1, 7)])
        await gateway.upstream.until(lambda: len(gateway.upstream.bodies) == 4)
        for record in gateway.services.keyring.callers():
            if record.app == "bot":
                await revoke_key(gateway.database, record.key_id, by=GATEWAY, now=gateway.services.now())
        await refresh(gateway.services.keyring, gateway.database)
        gate.set()
        other = await client_of(gateway)
        batch = await other.finished(batch_id)
        errors = await other.results(batch["error_file_id"])
    assert batch["request_counts"] == {"total": 6, "completed": 4, "failed": 2}
    assert {line["response"]["status_code"] for line in errors} == {401}


async def test_a_cancelled_batch_ends_with_what_was_done(tmp_path: Path) -> None:
    async with running_gateway(tmp_path, document()) as gateway:
        client = await client_of(gateway)
        gate = gateway.upstream.script.silent = asyncio.Event()
        batch_id = await client.submit([chat_line(n) for n in range(1, 10)])
        await gateway.upstream.until(lambda: len(gateway.upstream.bodies) == 4)
        cancelling = (await client.post(f"/v1/batches/{batch_id}/cancel")).json()
        gate.set()
        batch = await client.finished(batch_id)
        errors = await client.results(batch["error_file_id"])
    assert cancelling["status"] == "cancelling"
    assert (batch["status"], batch["request_counts"]["completed"]) == ("cancelled", 4)
    assert [line["error"]["code"] for line in errors] == ["batch_cancelled"] * 5


async def test_no_more_lines_run_at_once_than_the_policy_says(tmp_path: Path) -> None:
    async with running_gateway(tmp_path, document(deferred={"concurrency": 2})) as gateway:
        client = await client_of(gateway)
        gate = gateway.upstream.script.gate = asyncio.Event()
        batch_id = await client.submit([chat_line(n) for n in range(1, 6)])
        for _ in range(20):
            await gateway.upstream.until(lambda: gateway.upstream.finished < len(gateway.upstream.bodies))
            assert len(gateway.upstream.bodies) - gateway.upstream.finished <= 2
            gate.set()
            await asyncio.sleep(0.01)
            if gateway.upstream.finished == 5:
                break
        gateway.upstream.script.gate = None
        gate.set()
        batch = await client.finished(batch_id)
    assert batch["request_counts"]["completed"] == 5


async def test_interactive_requests_go_first(tmp_path: Path) -> None:
    async with running_gateway(tmp_path, document(deferred={"yield_above": 0})) as gateway:
        client, services = await client_of(gateway), gateway.services
        another = Runner(
            database=gateway.database,
            in_force=services.in_force,
            keyring=services.keyring,
            traffic=services.edge.traffic,
            metrics=services.metrics,
            log=services.log,
            now=services.now,
            ticks=services.edge.ticks,
            worker="another",
            carriage=Carriage(gateway.database),
        )
        with services.edge.traffic.passing():
            batch_id = await client.submit([chat_line(1)])

            async def is_ready() -> bool:
                return (await client.get(f"/v1/batches/{batch_id}")).json()["status"] == "in_progress"

            await eventually(is_ready)
            await another.claim()
            assert gateway.upstream.bodies == []
            assert await queue.due(gateway.database, services.now())
        assert (await gateway.chat(await gateway.key("red"), "somebody waits")).status_code == 200
        await client.finished(batch_id)
    asked = {body["messages"][0]["content"]: body.get("priority") for body in gateway.upstream.bodies}
    assert asked == {"somebody waits": None, "question 1": 1}
