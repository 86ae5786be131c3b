"""Many who ask the same at once: one call is made, and each is accounted for."""

import asyncio
from pathlib import Path
from typing import Any

import msgspec

from cache.stores.near import NearAnswers
from cache.stores.redis import RedisAnswers
from tests.support.running_gateway import RunningGateway, policy, running_gateway
from tests.support.scripted_upstream import Script
from tests.support.servers import RedisServer
from tests.support.waiting import until

MANY = 1_000


def _waiting(gateway: RunningGateway) -> int:
    return gateway.services.edge.traffic.interactive


async def _stream(gateway: RunningGateway, key: str) -> tuple[str, str]:
    asked = {"model": "auto", "messages": [{"role": "user", "content": "Hi"}], "stream": True}
    headers = {"authorization": f"Bearer {key}"}
    async with gateway.client.stream("POST", "/v1/chat/completions", json=asked, headers=headers) as reply:
        text = (await reply.aread()).decode()
    events = [msgspec.json.decode(line[6:]) for line in text.splitlines() if line.startswith("data: {")]
    said = "".join(c["delta"].get("content") or "" for e in events for c in e["choices"])
    return reply.headers["x-sluice-cache"], said


async def _bare(gateway: RunningGateway, key: str) -> tuple[bytes, bytes]:
    """Ask over a bare socket, as a thousand real clients would take this process too long."""
    body = msgspec.json.encode({"model": "auto", "messages": [{"role": "user", "content": "Hi"}]})
    head = f"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {key}\r\nconnection: close\r\n"
    reader, writer = await asyncio.open_connection("127.0.0.1", gateway.port)
    writer.write(head.encode() + b"content-length: %d\r\n\r\n" % len(body) + body)
    told, _, text = (await reader.read()).partition(b"\r\n\r\n")
    writer.close()
    assert told.startswith(b"HTTP/1.1 200"), text
    return next(line for line in told.split(b"\r\n") if line.startswith(b"x-sluice-cache")), text


async def test_a_thousand_identical_requests_make_one_call_and_the_ledger_adds_up(tmp_path: Path) -> None:
    timeouts = {"first_token": "5m", "total": "10m"}  # a busy machine is as slow with its clients and its database
    patient = policy(reliability={"retries": 0, "timeouts": timeouts}, on_store_error="open")
    async with running_gateway(tmp_path, patient) as gateway:
        key, opened = await gateway.key(), asyncio.Event()
        gateway.upstream.script = Script(silent=opened)
        sent = [asyncio.create_task(_bare(gateway, key)) for _ in range(MANY)]
        await until(lambda: _waiting(gateway) == MANY, 120)
        opened.set()
        replies = await asyncio.gather(*sent)
        assert len(gateway.upstream.bodies) == 1
        outcomes = [outcome for outcome, _ in replies]
        assert (outcomes.count(b"x-sluice-cache: miss"), outcomes.count(b"x-sluice-cache: exact")) == (1, MANY - 1)
        assert len({text for _, text in replies}) == 1
        await gateway.services.ledger.flush(within_s=120)
        rows = await gateway.rows(MANY)
        paid = next(row for row in rows if row.cache == "miss").cost
        assert paid.nanos > 0
        assert sum(row.cost.nanos for row in rows) == paid.nanos
        assert [row.saved.nanos for row in rows if row.cache == "exact"] == [paid.nanos] * (MANY - 1)


async def test_a_stream_waits_for_the_whole_answer_and_is_then_replayed(tmp_path: Path) -> None:
    async with running_gateway(tmp_path) as gateway:
        key, gate = await gateway.key(), asyncio.Event()
        gateway.upstream.script = Script(silent=gate)
        plain = asyncio.create_task(gateway.chat(key))
        await until(lambda: len(gateway.upstream.bodies) == 1, 10)
        streams = [asyncio.create_task(_stream(gateway, key)) for _ in range(3)]
        await until(lambda: _waiting(gateway) == 4, 10)
        gate.set()
        assert (await plain).headers["x-sluice-cache"] == "miss"
        assert await asyncio.gather(*streams) == [("exact", "Hello, world!")] * 3
        assert len(gateway.upstream.bodies) == 1


async def test_when_the_call_fails_the_next_one_calls_and_the_others_go_on_waiting(tmp_path: Path) -> None:
    async with running_gateway(tmp_path) as gateway:
        key, first, second = await gateway.key(), asyncio.Event(), asyncio.Event()
        gateway.upstream.before = [Script(silent=first, fail_after=0), Script(silent=second)]
        sent = [asyncio.create_task(gateway.chat(key)) for _ in range(5)]
        await until(lambda: _waiting(gateway) == 5, 10)
        first.set()
        await until(lambda: len(gateway.upstream.bodies) == 2, 10)
        second.set()
        replies = await asyncio.gather(*sent)
        assert sorted(reply.status_code for reply in replies) == [200] * 4 + [502]
        assert len(gateway.upstream.bodies) == 2


async def test_when_the_one_who_calls_leaves_another_takes_over(tmp_path: Path) -> None:
    async with running_gateway(tmp_path) as gateway:
        key, never, then = await gateway.key(), asyncio.Event(), asyncio.Event()
        gateway.upstream.before = [Script(silent=never), Script(silent=then)]
        leader = asyncio.create_task(gateway.chat(key))
        await until(lambda: len(gateway.upstream.bodies) == 1, 10)
        follower = asyncio.create_task(gateway.chat(key))
        await until(lambda: _waiting(gateway) == 2, 10)
        leader.cancel()
        then.set()
        assert (await follower).headers["x-sluice-cache"] == "miss"
        never.set()


async def test_one_that_waits_obeys_its_own_time_limit(tmp_path: Path) -> None:
    async with running_gateway(tmp_path) as gateway:
        key, gate = await gateway.key(), asyncio.Event()
        gateway.upstream.script = Script(silent=gate)
        leader = asyncio.create_task(gateway.chat(key))
        await until(lambda: len(gateway.upstream.bodies) == 1, 10)
        hasty = await gateway.chat(key, headers={"x-sluice-timeout-ms": "50"})
        assert (hasty.status_code, hasty.json()["error"]["code"]) == (504, "upstream_timeout")
        gate.set()
        assert (await leader).status_code == 200
        assert len(gateway.upstream.bodies) == 1


async def test_one_that_waits_can_leave_without_cost(tmp_path: Path) -> None:
    async with running_gateway(tmp_path) as gateway:
        key, gate = await gateway.key(), asyncio.Event()
        gateway.upstream.script = Script(silent=gate)
        leader = asyncio.create_task(gateway.chat(key))
        await until(lambda: len(gateway.upstream.bodies) == 1, 10)
        follower = asyncio.create_task(gateway.chat(key))
        await until(lambda: _waiting(gateway) == 2, 10)
        follower.cancel()
        await until(lambda: _waiting(gateway) == 1, 10)
        gate.set()
        assert (await leader).headers["x-sluice-cache"] == "miss"
        assert len(gateway.upstream.bodies) == 1


async def test_an_answer_that_is_not_kept_holds_nobody_up(tmp_path: Path) -> None:
    async with running_gateway(tmp_path) as gateway:
        key, gate = await gateway.key(), asyncio.Event()
        gateway.upstream.before = [Script(silent=gate, finish="content_filter")]
        sent = [asyncio.create_task(gateway.chat(key)) for _ in range(3)]
        await until(lambda: _waiting(gateway) == 3, 10)
        gate.set()
        replies = await asyncio.gather(*sent)
        assert [reply.headers["x-sluice-cache"] for reply in replies] == ["miss"] * 3
        assert len(gateway.upstream.bodies) == 3


async def test_a_caller_that_will_not_have_stored_answers_does_not_wait(tmp_path: Path) -> None:
    async with running_gateway(tmp_path) as gateway:
        key, gate = await gateway.key(), asyncio.Event()
        gateway.upstream.before = [Script(silent=gate)]
        leader = asyncio.create_task(gateway.chat(key))
        await until(lambda: len(gateway.upstream.bodies) == 1, 10)
        fresh = await gateway.chat(key, headers={"cache-control": "no-cache"})
        assert fresh.headers["x-sluice-cache"] == "bypass"
        gate.set()
        assert (await leader).status_code == 200


async def test_the_time_that_one_waits_for_the_answer_of_another_is_not_our_own(tmp_path: Path) -> None:
    async with running_gateway(tmp_path) as gateway:
        key, gate = await gateway.key(), asyncio.Event()
        gateway.upstream.script = Script(silent=gate)
        sent = [asyncio.create_task(gateway.chat(key)) for _ in range(2)]
        await until(lambda: _waiting(gateway) == 2, 10)
        await asyncio.sleep(1)
        gate.set()
        for reply in await asyncio.gather(*sent):
            assert float(reply.headers["x-sluice-overhead-ms"]) < 900


async def test_vectors_are_bought_once_too(tmp_path: Path) -> None:
    async with running_gateway(tmp_path) as gateway:
        key = await gateway.key()
        asked: dict[str, Any] = {"model": "minilm", "input": "Hi"}
        headers = {"authorization": f"Bearer {key}"}
        sent = [gateway.client.post("/v1/embeddings", json=asked, headers=headers) for _ in range(20)]
        replies = await asyncio.gather(*sent)
        assert {reply.status_code for reply in replies} == {200}
        assert len(gateway.upstream.bodies) == 1


async def test_a_fleet_that_shares_a_redis_makes_one_call_too(tmp_path: Path, redis_server: RedisServer) -> None:
    redis_server.forget()
    stores, gate = {"redis_url": redis_server.url}, asyncio.Event()
    folders = [tmp_path / name for name in ("one", "other")]
    for folder in folders:
        folder.mkdir()
    async with running_gateway(folders[0], stores=stores) as one, running_gateway(folders[1], stores=stores) as other:
        for gateway in (one, other):  # on a busy machine a Redis is slow, and who cannot ask it calls
            near = gateway.services.in_force.governed.chat.exact.answers._store
            assert isinstance(near, NearAnswers)
            assert isinstance(near._home, RedisAnswers)
            near._home._shared._budget_s = 10.0
        keys = [await gateway.key() for gateway in (one, other)]
        for gateway, key in zip((one, other), keys, strict=True):
            while (await gateway.chat(key, "Are you there?")).status_code == 503:  # noqa: ASYNC110  an empty Redis takes no holds
                await asyncio.sleep(0.1)
        before = len(one.upstream.bodies) + len(other.upstream.bodies)
        one.upstream.script = other.upstream.script = Script(silent=gate)
        sent = [
            asyncio.create_task(gateway.chat(key))
            for gateway, key in zip((one, other), keys, strict=True)
            for _ in range(3)
        ]
        await until(lambda: _waiting(one) == _waiting(other) == 3, 30)
        gate.set()
        replies = await asyncio.gather(*sent)
        assert [reply.status_code for reply in replies] == [200] * 6
        assert sorted(reply.headers["x-sluice-cache"] for reply in replies) == ["exact"] * 5 + ["miss"]
        assert len(one.upstream.bodies) + len(other.upstream.bodies) == before + 1
