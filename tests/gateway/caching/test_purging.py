"""Orders to forget are followed in every process, at its start as well, and as soon as they can be."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any, cast

import pytest
import structlog

from cache.answers import AnswerCache
from cache.errors import IndexUnavailable
from cache.semantic.lookup import SemanticCache
from cache.stores import Stored
from cache.stores.memory import MemoryAnswers
from cache.tags import tags_of
from gateway.caching.purging import Purger
from gateway.caching.semantics import OpenSemantics
from governance.database import Database
from governance.lookups import purges
from governance.lookups.purges import Purge, PurgeKind
from tests.support.databases import fresh_database
from tests.support.requests import NOON

NOW = NOON.timestamp()
ONE, COPY, OTHER = (bytes([n] * 32) for n in range(3))


@dataclass
class Near:
    """A semantic cache that finds what a test says, or cannot look."""

    keys: tuple[bytes, ...] = ()
    away: bool = False
    asked: list[tuple[str, float]] = field(default_factory=list[tuple[str, float]])

    async def like(self, question: str, similarity: float) -> tuple[bytes, ...]:
        self.asked.append((question, similarity))
        if self.away:
            raise IndexUnavailable("away")
        return self.keys


class Fickle(MemoryAnswers):
    """A home that does nothing while it is away, and says that it cannot tell."""

    away = False

    @property
    def sure(self) -> bool:
        return not self.away

    async def get(self, key: bytes) -> Stored | None:
        return None if self.away else await super().get(key)

    async def purge(self, tag: str, before: float) -> int:
        return 0 if self.away else await super().purge(tag, before)


@dataclass(frozen=True)
class Desk:
    """A process with three answers, two of which were bought by one request."""

    database: Database
    home: Fickle
    answers: AnswerCache
    semantics: OpenSemantics

    def purger(self) -> Purger:
        return Purger(self.database, self.answers, self.semantics)

    async def order(self, kind: PurgeKind, value: str = "", **more: Any) -> None:
        await purges.order(self.database, Purge(at=NOON, kind=kind, value=value, by="cli:ann", **more))

    async def kept(self) -> list[bytes]:
        return [key for key in (ONE, COPY, OTHER) if await self.answers.get(key) is not None]

    def see(self, near: Near) -> None:
        self.semantics.cache = cast("SemanticCache", near)


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncGenerator[Desk]:
    home = Fickle(2**20, lambda: NOW)
    answers = AnswerCache(home, lambda: NOW)
    await answers.put(ONE, stored("req_1", "doc-17"), 3600)
    await answers.put(COPY, stored("req_1", "doc-17"), 3600)
    await answers.put(OTHER, stored("req_2", "request:req_1x", feature="triage"), 3600)
    async with fresh_database(tmp_path) as database:
        yield Desk(database, home, answers, OpenSemantics(never, Random(0), structlog.get_logger()))


async def never(_: object) -> SemanticCache:
    raise AssertionError


def stored(request_id: str, *own: str, feature: str = "faq") -> Stored:
    whose = {"team": "red", "app": "bot", "model": "small", "key_id": "k", "request_id": request_id}
    tags = tags_of(own, feature=feature, **whose)
    return Stored(body=b"{}", model="small", cost_nanos=1, usage={}, created=NOW - 60, tags=tags)


@pytest.mark.parametrize(
    ("kind", "value", "kept"),
    [
        ("all", "", []),
        ("tag", "doc-17", [OTHER]),
        ("tag", "feature:bot/triage", [ONE, COPY]),
        ("tag", "team:red", []),
        ("tag", "team:blue", [ONE, COPY, OTHER]),
        ("key", ONE.hex(), [OTHER]),
        ("key", OTHER.hex(), [ONE, COPY]),
        ("key", bytes(31).hex() + "09", [ONE, COPY, OTHER]),
    ],
)
async def test_an_order_given_while_no_gateway_ran_is_followed_at_the_start(
    desk: Desk, kind: PurgeKind, value: str, kept: list[bytes]
) -> None:
    await desk.order(kind, value)
    assert await desk.purger().follow() == 3 - len(kept)
    assert await desk.kept() == kept


async def test_an_order_is_followed_once_and_by_every_process(desk: Desk) -> None:
    one, other = desk.purger(), desk.purger()
    await desk.order("tag", "doc-17")
    assert [await one.follow(), await one.follow(), await other.follow()] == [2, 0, 0]
    assert one.done == other.done == 1
    await desk.order("all")
    assert await one.follow() == 1


async def test_what_was_stored_after_the_order_stays(desk: Desk) -> None:
    await purges.order(desk.database, Purge(at=NOON - timedelta(seconds=61), kind="all", value="", by="cli:ann"))
    await purges.order(desk.database, Purge(at=NOON - timedelta(seconds=61), kind="key", value=ONE.hex(), by="cli:ann"))
    assert await desk.purger().follow() == 0


async def test_a_question_waits_until_there_is_something_to_find_it_with(desk: Desk) -> None:
    purger, near = desk.purger(), Near((ONE,), away=True)
    await desk.order("like", "where is it?", similarity=0.9)
    assert await purger.follow() == 0
    desk.see(near)
    assert await purger.follow() == 0
    near.away = False
    assert await purger.follow() == 2
    assert await desk.kept() == [OTHER]
    assert near.asked == [("where is it?", 0.9)] * 2
    assert await purger.follow() == 0
    assert len(near.asked) == 2


@pytest.mark.parametrize(("kind", "value"), [("all", ""), ("tag", "doc-17"), ("key", ONE.hex()), ("like", "where?")])
async def test_an_order_waits_for_a_home_that_is_away(desk: Desk, kind: PurgeKind, value: str) -> None:
    purger = desk.purger()
    desk.see(Near((OTHER, ONE)))
    await desk.order(kind, value)
    desk.home.away = True
    assert [await purger.follow(), await purger.follow()] == [0, 0]
    desk.home.away = False
    assert await purger.follow() >= 2
    assert ONE not in await desk.kept()
    assert await purger.follow() == 0
