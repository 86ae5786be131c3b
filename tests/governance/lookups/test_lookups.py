"""Look-ups, purges and feedback on record, on a real SQLite and a real PostgreSQL."""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import select

from governance.audit import log
from governance.audit.chain import Actor
from governance.database import Database
from governance.lookups import feedback, purges
from governance.lookups.feedback import Feedback
from governance.lookups.purges import KEPT, Purge
from governance.lookups.records import Lookup, LookupKind, Lookups
from governance.lookups.tables import FeedbackRow
from tests.support.databases import fresh_database
from tests.support.requests import NOON

pytestmark = pytest.mark.usefixtures("any_database")

KEY = bytes(range(32))
OPERATOR = Actor("cli:ann", "operator")


@pytest.fixture
async def database(tmp_path: Path) -> AsyncGenerator[Database]:
    async with fresh_database(tmp_path) as opened:
        yield opened


def lookup(request_id: str, kind: LookupKind = "asked") -> Lookup:
    return Lookup(request_id=request_id, at=NOON, feature="t/a/f", kind=kind, entry=KEY, evidence=b"seen", writer="one")


def purge(kind: purges.PurgeKind = "tag", value: str = "doc-17") -> Purge:
    return Purge(at=NOON, kind=kind, value=value, by="cli:ann")


async def test_what_was_written_is_read_in_order_and_once(database: Database) -> None:
    lookups = Lookups(database)
    await lookups.write([lookup("req_1"), lookup("req_2", "semantic")])
    first, second = await lookups.after(0, 10)
    assert replace(first, n=0) == lookup("req_1")
    assert second.request_id == "req_2"
    assert await lookups.after(first.n, 10) == (second,)
    assert await lookups.after(second.n, 10) == ()


async def test_hits_of_the_exact_cache_teach_nothing_and_are_found_by_their_request(database: Database) -> None:
    lookups = Lookups(database)
    await lookups.write([lookup("req_1", "exact"), lookup("req_2")])
    assert [each.request_id for each in await lookups.after(0, 10)] == ["req_2"]
    assert [each.kind for each in await lookups.of_request("req_1")] == ["exact"]


async def test_the_newest_lessons_begin_where_it_is_said(database: Database) -> None:
    lookups = Lookups(database)
    await lookups.write([lookup(f"req_{n}") for n in range(5)])
    begin = await lookups.start_of(2)
    assert [each.request_id for each in await lookups.after(begin, 10)] == ["req_3", "req_4"]
    assert await lookups.start_of(5) == 0


async def test_whoever_follows_misses_nothing_that_many_write_at_once(database: Database) -> None:
    lookups, seen, last = Lookups(database), set[str](), 0
    writing = [asyncio.create_task(lookups.write([lookup(f"req_{n}")])) for n in range(20)]
    while not all(task.done() for task in writing) or await lookups.after(last, 1):
        for each in await lookups.after(last, 100):
            seen.add(each.request_id)
            last = each.n
    await asyncio.gather(*writing)
    assert seen == {f"req_{n}" for n in range(20)}


async def test_old_lookups_are_forgotten(database: Database) -> None:
    lookups = Lookups(database)
    await lookups.write([lookup("req_1"), replace(lookup("req_2"), at=NOON + timedelta(days=1))])
    assert await lookups.sweep(NOON + timedelta(hours=1)) == 1
    assert [each.request_id for each in await lookups.after(0, 10)] == ["req_2"]


async def test_an_order_to_forget_is_followed_once_and_is_on_the_audit_log(database: Database) -> None:
    await purges.order(database, purge(), OPERATOR)
    (found,) = await purges.after(database, 0)
    assert replace(found, n=0) == purge()
    assert await purges.after(database, found.n) == ()
    entries = await log.entries(database, 10)
    assert [(entry.act, entry.subject) for entry in entries] == [("cache.purged", "doc-17")]


async def test_the_words_of_a_question_are_kept_out_of_the_audit_log(database: Database) -> None:
    await purges.order(database, replace(purge("like", "where is my parcel?"), similarity=0.9), OPERATOR)
    (entry,) = await log.entries(database, 10)
    assert "parcel" not in repr(entry)


async def test_orders_stand_longer_than_any_answer_and_not_for_ever(database: Database) -> None:
    await purges.order(database, purge(value="old"), OPERATOR)
    await purges.order(database, replace(purge(value="new"), at=NOON + KEPT + timedelta(seconds=1)), OPERATOR)
    assert [each.value for each in await purges.after(database, 0)] == ["new"]


async def test_feedback_is_believed_the_last_time(database: Database) -> None:
    said = Feedback(request_id="req_1", at=NOON, key_id="k", score=1, comment="")
    await feedback.keep(database, said)
    await feedback.keep(database, replace(said, score=-1, comment="that was the other branch"))
    async with database.reading() as connection:
        rows = (await connection.execute(select(FeedbackRow.score, FeedbackRow.comment))).all()
    assert [tuple(row) for row in rows] == [(-1.0, "that was the other branch")]
