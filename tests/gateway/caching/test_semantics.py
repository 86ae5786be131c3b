"""The semantic cache of a process while policies come and go, and while what it needs is slow."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random
from typing import Any

import pytest
import structlog

from cache.answers import AnswerCache
from cache.config import SemanticSection
from cache.errors import EmbeddingBusy, EmbeddingUnavailable, IndexUnavailable
from cache.index.disk import open_disk
from cache.index.files.records import Origin
from cache.index.memory import MemoryVectors
from cache.judging import AnswerJudge
from cache.learning.lookups import Action
from cache.semantic.lookup import SemanticCache, Sought
from cache.semantic.matching import Placed
from cache.semantic.question import Question
from cache.stores import Stored
from cache.stores.memory import MemoryAnswers
from gateway.caching import opening
from gateway.caching.semantics import OpenSemantics
from tests.support.reckless import AllAlike, Reckless
from tests.support.recorded_lookups import FEATURE, found
from tests.support.running_gateway import RunningGateway, policy, running_gateway
from tests.support.vector_homes import DIMENSIONS
from tests.support.waiting import until

SCOPE = b"s" * 32


def section(**changes: Any) -> SemanticSection:
    return SemanticSection.model_validate({"enabled": ["bot/faq"], "max_error": 0.2, "ttl": "1h"} | changes)


class Alike(AllAlike):
    """Everything in one place, until it is closed."""

    closed = False

    async def place(self, text: str) -> Placed:
        await asyncio.sleep(0)
        if self.closed:
            raise EmbeddingUnavailable("it is closed")
        return await super().place(text)

    async def close(self) -> None:
        self.closed = True


@pytest.fixture
async def semantics(tmp_path: Path) -> AsyncGenerator[OpenSemantics]:
    """Keep vectors in one folder, as a gateway on a disk does; the embedding `none` is not installed."""
    answers, said = AnswerCache(MemoryAnswers(10_000_000, lambda: 0.0), lambda: 0.0), list[str]()

    async def opens(wanted: SemanticSection) -> SemanticCache:
        if wanted.embedding == "none":
            raise EmbeddingUnavailable("not installed")
        origin = Origin(wanted.embedding, DIMENSIONS)
        index = await open_disk(tmp_path / "vectors", origin, wanted.max_entries, Random(0), said.append)
        alike = Alike()
        return SemanticCache(alike, index, answers, AnswerJudge(alike))

    semantics = OpenSemantics(opens, Random(0), structlog.get_logger(), grace_s=0.01)
    try:
        yield semantics
    finally:
        await semantics.close()


async def seek(cache: SemanticCache, text: str = "When do the shops open?") -> Sought | None:
    return await cache.seek(Question(text, {}, 0), SCOPE, Reckless(), lambda _: True)


async def keep(cache: SemanticCache) -> None:
    sought = await seek(cache)
    assert sought is not None
    await cache.keep(sought, Stored(b"{}", "m", 5, {}, 0.0, sought.asked.text, b"marks"), 60)


async def test_look_ups_go_on_while_policies_turn_it_off_and_on_and_name_other_embeddings(
    semantics: OpenSemantics,
) -> None:
    found, going = list[Sought | None](), True

    async def look_up() -> None:
        while going:
            if (cache := semantics.cache) is not None:
                found.append(await seek(cache))
            await asyncio.sleep(0)

    looking = [asyncio.create_task(look_up()) for _ in range(20)]
    for wanted in (section(), None, section(), section(embedding="other"), section(max_entries=50), None, section()):
        await semantics.obey(wanted)
        assert (semantics.cache is None) == (wanted is None), semantics.trouble
        before = len(found)
        await until(lambda before=before, wanted=wanted: wanted is None or len(found) > before + 20)
    going = False
    await asyncio.gather(*looking)
    assert any(found)


async def test_vectors_of_one_embedding_are_never_compared_with_those_of_another(semantics: OpenSemantics) -> None:
    await semantics.obey(section())
    assert semantics.cache is not None
    await keep(semantics.cache)
    before = await seek(semantics.cache)
    assert before is not None
    assert before.answer is not None
    await semantics.obey(section(embedding="other"))
    assert semantics.cache is not None
    after = await seek(semantics.cache)
    assert after is not None
    assert after.answer is None
    assert before.cache is not semantics.cache is after.cache


async def test_what_was_learned_of_one_embedding_decides_nothing_for_another(semantics: OpenSemantics) -> None:
    await semantics.obey(section())
    learner = semantics.learner("red/bot/faq", "one")
    await semantics.obey(section(max_error=0.1))
    assert semantics.learner("red/bot/faq", "one") is learner
    assert semantics.learner("red/bot/faq", "other") is not learner
    assert semantics.learner("red/bot/faq", "one") is learner


async def test_the_record_teaches_what_places_questions_as_it_did(semantics: OpenSemantics) -> None:
    for number in range(3):
        semantics.learn(found(Action.SERVE, embedding="old"))
        assert semantics.standings()[FEATURE].lookups == number + 1
    semantics.learn(found(Action.ASK, embedding="new"))
    assert semantics.standings()[FEATURE].lookups == 1


async def test_an_embedding_that_is_missing_is_said_once_and_another_policy_opens_it(semantics: OpenSemantics) -> None:
    await semantics.obey(section(embedding="none"))
    await semantics.obey(section(embedding="none"))
    assert semantics.cache is None
    assert "not installed" in semantics.trouble
    await semantics.obey(section())
    assert semantics.cache is not None
    assert semantics.trouble == ""


async def test_what_does_not_need_another_cache_leaves_it_open(semantics: OpenSemantics) -> None:
    await semantics.obey(section())
    cache = semantics.cache
    await semantics.obey(section(max_error=0.1, enabled=["bot/triage"], multi_turn="confirmed", ttl="2h"))
    assert semantics.cache is cache


Place = Callable[[str], Awaitable[Placed]]


@asynccontextmanager
async def gateway_that_places(
    folder: Path, monkeypatch: pytest.MonkeyPatch, place: Place
) -> AsyncGenerator[RunningGateway]:
    """Run a gateway whose embedding does what a test says."""

    async def opens(_: Any, answers: AnswerCache, __: Any, wanted: SemanticSection) -> SemanticCache:
        alike = Alike()
        monkeypatch.setattr(alike, "place", place)
        index = MemoryVectors(DIMENSIONS, wanted.max_entries, Random(0))
        return SemanticCache(alike, index, answers, AnswerJudge(alike))

    monkeypatch.setattr(opening, "_open_semantic", opens)
    semantic = {"enabled": ["bot/faq"], "max_error": 0.2, "ttl": "1h"}
    app = {"name": "bot", "headers": ["feature"], "features": [{"name": "faq"}]}
    document = policy(
        cache={"exact": {"ttl": "1h"}, "semantic": semantic}, teams=[{"name": "red", "apps": [app]}], limits={}
    )
    async with running_gateway(folder, document) as gateway:
        await until(lambda: gateway.services.caches.semantics.cache is not None)
        yield gateway


FAQ = {"x-sluice-feature": "faq"}


async def test_an_exact_hit_never_waits_for_the_embedding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    free, placing = asyncio.Event(), list[str]()
    free.set()

    async def place(text: str) -> Placed:
        placing.append(text)
        await free.wait()
        return await AllAlike().place(text)

    async with gateway_that_places(tmp_path, monkeypatch, place) as gateway:
        key = await gateway.key()
        await gateway.chat(key, "When do the shops open?", headers=FAQ)
        free.clear()
        stuck = asyncio.create_task(gateway.chat(key, "How long is a guarantee?", headers=FAQ))
        await until(lambda: len(placing) == 2)
        for _ in range(20):
            hit = await gateway.chat(key, "When do the shops open?", headers=FAQ)
            assert hit.headers["x-sluice-cache"] == "exact"
        assert not stuck.done()
        free.set()
        assert (await stuck).headers["x-sluice-cache"] == "miss"
        assert len(placing) == 2


@pytest.mark.parametrize("error", [EmbeddingBusy("much waits"), EmbeddingUnavailable("it died"), IndexUnavailable("")])
async def test_a_request_goes_on_as_a_miss_when_its_place_cannot_be_had(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    async def place(text: str) -> Placed:
        raise error

    async with gateway_that_places(tmp_path, monkeypatch, place) as gateway:
        key = await gateway.key()
        for text in ("When do the shops open?", "How long is a guarantee?"):
            reply = await gateway.chat(key, text, headers=FAQ)
            assert (reply.status_code, reply.headers["x-sluice-cache"]) == (200, "miss")
        again = await gateway.chat(key, "When do the shops open?", headers=FAQ)
        assert again.headers["x-sluice-cache"] == "exact"


async def test_what_was_placed_in_a_cache_that_is_replaced_is_not_kept_in_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def place(text: str) -> Placed:
        await asyncio.sleep(0)
        semantics.cache = after
        return await AllAlike().place(text)

    async with gateway_that_places(tmp_path, monkeypatch, place) as gateway:
        semantics, index = gateway.services.caches.semantics, MemoryVectors(DIMENSIONS, 100, Random(0))
        alike, before = AllAlike(), semantics.cache
        after = SemanticCache(alike, index, gateway.services.caches.answers, AnswerJudge(alike))
        reply = await gateway.chat(await gateway.key(), "When do the shops open?", headers=FAQ)
        assert reply.status_code == 200
        assert semantics.cache is after
        assert [task for task in asyncio.all_tasks() if task.get_name() == "lesson"] == []
        assert (await index.size()).entries == 0
        assert before is not None
        await before.close()
