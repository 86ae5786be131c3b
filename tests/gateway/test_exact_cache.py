"""What the exact cache keeps, for whom, and how an old answer is made anew."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from gateway.steps.reuse.slot import ExactCache
from governance.identity import public_id_of
from tests.support.running_gateway import RunningGateway, policy, running_gateway
from tests.support.scripted_upstream import Script
from tests.support.waiting import until


def cached(**exact: Any) -> dict[str, Any]:
    return policy(cache={"exact": {"ttl": "1h", "shared_by": "app"} | exact})


def age(gateway: RunningGateway, seconds: float) -> None:
    """Let so much time pass for the answers."""
    answers = _exact(gateway).answers
    clock = answers._clock
    answers._clock = lambda: clock() + seconds


def _exact(gateway: RunningGateway) -> ExactCache:
    return gateway.services.in_force.governed.chat.exact


async def _outcomes(gateway: RunningGateway, key: str, *bodies: dict[str, Any]) -> list[str]:
    return [(await gateway.chat(key, **body)).headers["x-sluice-cache"] for body in bodies]


async def test_a_hit_tells_its_age_and_an_answer_that_is_new_tells_none(tmp_path: Path) -> None:
    async with running_gateway(tmp_path) as gateway:
        key = await gateway.key()
        assert "age" not in (await gateway.chat(key)).headers
        assert (await gateway.chat(key)).headers["age"] == "0"


async def test_an_old_answer_is_given_while_one_call_makes_it_anew(tmp_path: Path) -> None:
    async with running_gateway(tmp_path, cached(stale="1h")) as gateway:
        key, gate = await gateway.key(), asyncio.Event()
        assert (await gateway.chat(key)).headers["x-sluice-cache"] == "miss"
        age(gateway, 3_700)
        gateway.upstream.script = Script(pieces=["New"], silent=gate)
        old = [await gateway.chat(key) for _ in range(3)]
        assert [reply.headers["x-sluice-cache"] for reply in old] == ["exact"] * 3
        assert {reply.json()["choices"][0]["message"]["content"] for reply in old} == {"Hello, world!"}
        await until(lambda: len(gateway.upstream.bodies) == 2, 10)
        gate.set()
        rows = await gateway.rows(5)
        assert len(gateway.upstream.bodies) == 2
        assert sorted(row.cache for row in rows) == ["bypass", "exact", "exact", "exact", "miss"]
        assert next(row for row in rows if row.cache == "bypass").cost.nanos > 0
        new = await gateway.chat(key)
        assert new.json()["choices"][0]["message"]["content"] == "New"


async def test_an_answer_older_than_that_is_not_given(tmp_path: Path) -> None:
    async with running_gateway(tmp_path, cached(stale="1h")) as gateway:
        key = await gateway.key()
        await gateway.chat(key)
        age(gateway, 7_300)
        assert (await gateway.chat(key)).headers["x-sluice-cache"] == "miss"


async def test_a_caller_that_wants_none_so_old_is_not_given_one(tmp_path: Path) -> None:
    async with running_gateway(tmp_path, cached(stale="1h")) as gateway:
        key = await gateway.key()
        await gateway.chat(key)
        age(gateway, 3_700)
        fresh = await gateway.chat(key, headers={"cache-control": "max-age=3650"})
        assert fresh.headers["x-sluice-cache"] == "miss"


async def test_a_refresh_that_a_budget_refuses_does_not_happen(tmp_path: Path) -> None:
    async with running_gateway(tmp_path, cached(stale="1h")) as gateway:
        key = await gateway.key()
        await gateway.chat(key)
        app = {"name": "bot", "budgets": [{"limit": 0.000001, "window": "day"}]}
        await gateway.follow(cached(stale="1h") | {"teams": [{"name": "red", "tiers": ["local"], "apps": [app]}]})
        age(gateway, 3_700)
        assert await _outcomes(gateway, key, {}, {}) == ["exact", "exact"]
        rows = await gateway.rows(4)
        assert [row.kind for row in rows].count("refused") == 1
        assert len(gateway.upstream.bodies) == 1


async def test_a_refresh_that_runs_ends_with_the_gateway(tmp_path: Path) -> None:
    async with running_gateway(tmp_path, cached(stale="1h")) as gateway:
        key = await gateway.key()
        await gateway.chat(key)
        age(gateway, 3_700)
        gateway.upstream.script = Script(silent=asyncio.Event())
        await gateway.chat(key)
        await until(lambda: len(gateway.upstream.bodies) == 2, 10)


async def test_vectors_are_made_anew_too(tmp_path: Path) -> None:
    async with running_gateway(tmp_path, cached(stale="1h")) as gateway:
        headers, asked = {"authorization": f"Bearer {await gateway.key()}"}, {"model": "minilm", "input": "Hi"}
        await gateway.client.post("/v1/embeddings", json=asked, headers=headers)
        age(gateway, 3_700)
        old = await gateway.client.post("/v1/embeddings", json=asked, headers=headers)
        assert old.headers["x-sluice-cache"] == "exact"
        await until(lambda: len(gateway.upstream.bodies) == 2, 10)


async def test_only_deterministic_requests_are_cached_where_the_policy_says_so(tmp_path: Path) -> None:
    async with running_gateway(tmp_path, cached(only="deterministic")) as gateway:
        key = await gateway.key()
        for body in ({}, {"temperature": 0.1}, {"temperature": 0, "n": 2}):
            assert await _outcomes(gateway, key, body, body) == ["bypass", "bypass"]
        for body in ({"temperature": 0}, {"temperature": 0.0, "n": 1, "seed": 1}):
            assert await _outcomes(gateway, key, body, body) == ["miss", "exact"]
        headers, asked = {"authorization": f"Bearer {key}"}, {"model": "minilm", "input": "Hi"}
        await gateway.client.post("/v1/embeddings", json=asked, headers=headers)
        again = await gateway.client.post("/v1/embeddings", json=asked, headers=headers)
        assert again.headers["x-sluice-cache"] == "exact"


@pytest.mark.parametrize(
    "changes",
    [
        {"cache": {"version": "prompts-2", "exact": {"ttl": "1h"}}},
        {"output": {"max_tokens": {"default": 64, "ceiling": 99}}},
        {"context": {"max_input_tokens": 1_000}},
        {"guardrails": [{"name": "no-nightjar", "on": "output", "pattern": "nightjar", "action": "flag"}]},
    ],
)
async def test_a_policy_that_shapes_answers_otherwise_finds_none_of_the_old(
    tmp_path: Path, changes: dict[str, Any]
) -> None:
    async with running_gateway(tmp_path) as gateway:
        key = await gateway.key()
        assert await _outcomes(gateway, key, {}, {}) == ["miss", "exact"]
        await gateway.follow(policy(**changes))
        assert await _outcomes(gateway, key, {}, {}) == ["miss", "exact"]
        await gateway.follow(policy(timezone="Europe/London"))
        assert await _outcomes(gateway, key, {}) == ["exact"]


async def test_answers_are_purged_by_the_tags_of_their_caller_and_by_whose_they_are(tmp_path: Path) -> None:
    async with running_gateway(tmp_path) as gateway:
        key, blue = await gateway.key(), await gateway.key("blue")
        answers = _exact(gateway).answers
        for tag in ("doc-17", "team:red", "app:bot", "feature:bot/faq", "model:small", f"key:{public_id_of(key)}"):
            await gateway.chat(
                key, headers={"x-sluice-feature": "faq", "cache-control": "no-cache"}, cache={"tags": ["doc-17"]}
            )
            await gateway.chat(key, "untagged")
            gone = await answers.purge(tag, answers._clock())
            assert gone >= 1, tag
            assert await _outcomes(gateway, key, {}) == ["miss"], tag
        await gateway.chat(blue)
        await answers.purge("team:red", answers._clock())
        assert await _outcomes(gateway, blue, {}) == ["exact"]


@pytest.mark.parametrize("tags", ["doc", [1], [""], ["a" * 101], ["a\n"], ["x"] * 17, {"a": 1}])
async def test_tags_that_are_none_are_refused(tmp_path: Path, tags: object) -> None:
    async with running_gateway(tmp_path) as gateway:
        reply = await gateway.chat(await gateway.key(), cache={"tags": tags})
        assert reply.status_code == 400


@pytest.mark.parametrize(
    "script",
    [
        Script(status=400),
        Script(status=429),
        Script(status=500),
        Script(cut_after=2),
        Script(fail_after=2),
        Script(raw=b"nonsense"),
        Script(finish="content_filter"),
        Script(finish="refusal"),
    ],
)
async def test_what_is_no_answer_is_never_kept(tmp_path: Path, script: Script) -> None:
    async with running_gateway(tmp_path) as gateway:
        key = await gateway.key()
        gateway.upstream.before = [script]
        await gateway.chat(key)
        assert await _outcomes(gateway, key, {}) == ["miss"]
        assert len(gateway.upstream.bodies) == 2


@pytest.mark.parametrize("home", ["disk", "redis"])
async def test_another_gateway_finds_the_answers_of_the_first(
    tmp_path: Path, home: str, request: pytest.FixtureRequest
) -> None:
    stores: dict[str, Any] = {"cache": home}
    if home == "redis":
        server = request.getfixturevalue("redis_server")
        server.forget()
        stores["redis_url"] = server.url
    for outcome in ("miss", "exact"):
        async with running_gateway(tmp_path, stores=stores) as gateway:
            key = await gateway.key()
            while (reply := await gateway.chat(key)).status_code == 503:  # noqa: ASYNC110  an empty Redis takes no holds
                await asyncio.sleep(0.1)
            assert reply.headers["x-sluice-cache"] == outcome
