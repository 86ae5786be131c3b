"""What an unlucky operator and a hostile caller do to the semantic cache, and what it answers."""

import asyncio
from pathlib import Path

import pytest

from governance.lookups import purges
from governance.lookups.purges import Purge
from tests.gateway.test_semantic_cache import (
    ASKED,
    OTHER,
    REWORDED,
    asked,
    patient,
    semantic_gateway,
    semantics,
    teach,
    with_semantic,
    wordings,
)
from tests.support.running_gateway import running_gateway
from tests.support.waiting import eventually, until

__all__ = ("patient",)

pytest.importorskip("onnxruntime")


async def test_an_order_by_likeness_that_was_given_while_no_gateway_ran_is_obeyed_when_one_does(tmp_path: Path) -> None:
    async with semantic_gateway(tmp_path, stores={"cache": "disk"}) as gateway:
        key = await gateway.key("red")
        await asked(gateway, key, ASKED)
        await purges.order(
            gateway.database,
            Purge(at=gateway.services.now(), kind="like", value=REWORDED, similarity=0.8, by="cli:ann"),
        )
        gateway.services.caches.purger.done = 10**9  # it is stopped before it hears of the order
    async with semantic_gateway(tmp_path, stores={"cache": "disk"}) as gateway:
        await until(lambda: gateway.services.caches.purger.done == 1)

        async def forgotten() -> bool:
            return (await gateway.services.caches.answers.size()).entries == 0

        await eventually(forgotten)


async def test_another_size_is_obeyed_while_the_gateway_runs_and_nothing_kept_is_lost(tmp_path: Path) -> None:
    async with semantic_gateway(tmp_path, stores={"cache": "disk"}) as gateway:
        key = await gateway.key("red")
        await asked(gateway, key, ASKED)
        before = semantics(gateway).cache
        await gateway.follow(with_semantic(max_entries=50))
        await until(lambda: semantics(gateway).cache not in {None, before}, 20)
        assert not semantics(gateway).trouble
        reply = await asked(gateway, key, REWORDED)
        assert reply.headers["x-sluice-cache"] == "miss"
        assert (await gateway.services.caches.answers.size()).entries > 2


async def test_who_repeats_a_complaint_is_heard_once(tmp_path: Path) -> None:
    async with semantic_gateway(tmp_path) as gateway:
        key = await gateway.key("red")
        await teach(gateway, key)
        hit = next(
            reply
            for reply in [await asked(gateway, key, text) for text in wordings(REWORDED)[:12]]
            if reply.headers["x-sluice-cache"].startswith("semantic")
        )
        said = {"request_id": hit.headers["x-request-id"], "score": -1}
        await gateway.client.post("/v1/feedback", json=said, headers={"x-api-key": key})
        once = semantics(gateway).standings()["red/bot/faq"]
        for _ in range(20):
            reply = await gateway.client.post("/v1/feedback", json=said, headers={"x-api-key": key})
            assert reply.status_code == 200
        assert semantics(gateway).standings()["red/bot/faq"] == once
        assert len(await purges.after(gateway.database, 0)) == 2


async def test_a_complaint_about_an_exact_hit_takes_out_the_copy_that_outlived_it(tmp_path: Path) -> None:
    async with semantic_gateway(tmp_path) as gateway:
        key = await gateway.key("red")
        await asked(gateway, key, OTHER)
        hit = await asked(gateway, key, OTHER)
        answers = gateway.services.caches.answers
        await gateway.services.caches.recorder.write()
        (row,) = await gateway.services.caches.recorder.lookups.of_request(hit.headers["x-request-id"])
        assert row.entry is not None
        await answers.delete(row.entry)
        assert (await answers.size()).entries == 1
        said = {"request_id": hit.headers["x-request-id"], "score": -1}
        await gateway.client.post("/v1/feedback", json=said, headers={"x-api-key": key})
        await until(lambda: gateway.services.caches.purger.done >= 2)
        assert (await answers.size()).entries == 0


async def test_what_may_not_leave_a_zone_is_not_compared_for_who_may(tmp_path: Path) -> None:
    async with semantic_gateway(tmp_path) as gateway:
        key = await gateway.key("red")
        inside = {"x-sluice-zone": "onprem"}
        await asked(gateway, key, ASKED, headers=inside)
        cache = semantics(gateway).cache
        (scope,) = await cache._index.names()
        await asked(gateway, key, REWORDED)
        scopes = await cache._index.names()
        assert len(scopes) == 2
        assert scope in scopes


async def test_hits_of_the_last_moment_are_on_record_after_a_stop(tmp_path: Path) -> None:
    async with running_gateway(tmp_path) as gateway:
        key = await gateway.key("red")
        await gateway.chat(key, "Hi")
        hit = await gateway.chat(key, "Hi")
        assert hit.headers["x-sluice-cache"] == "exact"
    async with running_gateway(tmp_path) as gateway:
        found = await gateway.services.caches.recorder.lookups.of_request(hit.headers["x-request-id"])
        assert [row.kind for row in found] == ["exact"]


async def test_a_stop_in_the_middle_of_lessons_says_nothing(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    async with semantic_gateway(tmp_path, stores={"log_level": "warning"}) as gateway:
        key = await gateway.key("red")
        await asyncio.gather(
            *(gateway.chat(key, text, headers={"x-sluice-feature": "faq"}) for text in wordings(ASKED))
        )
    said = capfd.readouterr()
    assert "lesson failed" not in said.out + said.err


async def test_a_model_that_declines_is_heard_by_who_asked_and_by_nobody_else(tmp_path: Path) -> None:
    async with semantic_gateway(tmp_path) as gateway:
        gateway.upstream.answers = lambda _: ["I'm sorry, but I can't help with that."]
        key = await gateway.key("red")
        await asked(gateway, key, ASKED)
        assert (await gateway.services.caches.answers.size()).entries == 1
        assert not await semantics(gateway).cache._index.names()
