"""The table of what governed when."""

import asyncio
from collections.abc import AsyncGenerator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from governance.audit import log
from governance.audit.chain import Actor
from governance.database import Database
from governance.policy import history
from governance.policy.history import Applied, Mode, Written
from tests.support.databases import fresh_database

ADA = Actor("Ada", "platform")
NOON = datetime(2026, 11, 29, 12, tzinfo=UTC)


@pytest.fixture
async def database(tmp_path: Path, any_database: None) -> AsyncGenerator[Database]:
    async with fresh_database(tmp_path) as opened:
        yield opened


def written(version: str) -> Written:
    return Written(version, f"the text of {version}", "policy.yaml")


async def decide(database: Database, mode: Mode, version: str, over: int | None = None) -> Applied | None:
    seen = await history.newest_id(database) if over is None else over
    return await history.apply(database, mode, written(version), over=seen, by=ADA, at=NOON, note="why not")


async def test_a_decision_is_remembered_whole_with_who_and_when(database: Database) -> None:
    applied = await decide(database, Mode.ACTIVE, "0123abcd0123")
    assert applied == await history.newest(database, Mode.ACTIVE)
    assert applied is not None
    assert (applied.by, applied.at, applied.note, applied.policy) == (ADA, NOON, "why not", written("0123abcd0123"))
    (entry,) = await log.entries(database, 10)
    assert (entry.actor, entry.act, entry.subject) == (ADA, "policy.applied", "0123abcd0123")
    assert entry.facts == {"source": "policy.yaml", "note": "why not"}


async def test_a_decision_that_has_not_seen_the_newest_one_is_not_made(database: Database) -> None:
    await decide(database, Mode.ACTIVE, "a" * 12)
    assert await decide(database, Mode.ACTIVE, "b" * 12, over=0) is None
    assert [applied.policy.version for applied in await history.listed(database, 10)] == ["a" * 12]
    assert (await log.verify(database)).entries == 1


async def test_of_decisions_made_at_once_one_is_made(database: Database) -> None:
    made = await asyncio.gather(*(decide(database, Mode.ACTIVE, f"{n:012}", over=0) for n in range(8)))
    assert len([applied for applied in made if applied is not None]) == 1
    assert (await log.verify(database)).entries == 1


async def test_the_newest_active_decision_governs_and_the_newest_shadow_is_tried(database: Database) -> None:
    assert await history.newest(database, Mode.ACTIVE) is None
    assert await history.shadow(database) is None
    for mode, version in ((Mode.ACTIVE, "a" * 12), (Mode.SHADOW, "b" * 12), (Mode.ACTIVE, "c" * 12)):
        await decide(database, mode, version)
    governs, tried = await history.newest(database, Mode.ACTIVE), await history.shadow(database)
    assert governs is not None
    assert tried is not None
    assert (governs.policy.version, tried.policy.version) == ("c" * 12, "b" * 12)
    await decide(database, Mode.UNSHADOWED, "b" * 12)
    assert await history.shadow(database) is None


async def test_a_version_is_found_by_its_first_digits_and_each_is_named_once(database: Database) -> None:
    for version in ("abcd11112222", "abcd33334444", "abcd11112222"):
        await decide(database, Mode.ACTIVE, version)
    assert [applied.id for applied in await history.of_version(database, "abcd1")] == [3]
    assert [applied.id for applied in await history.of_version(database, "abcd")] == [2, 3]
    assert await history.of_version(database, "%") == ()
    assert [applied.policy.text for applied in await history.every_version(database)] == [
        "the text of abcd33334444",
        "the text of abcd11112222",
    ]


async def test_a_list_goes_back_page_by_page_and_leaves_the_texts_out(database: Database) -> None:
    for n in range(5):
        await decide(database, Mode.ACTIVE, f"{n:012}")
    page = await history.listed(database, 2)
    assert [applied.id for applied in page] == [5, 4]
    assert [applied.id for applied in await history.listed(database, 2, before=4)] == [3, 2]
    assert {applied.policy.text for applied in page} == {""}
