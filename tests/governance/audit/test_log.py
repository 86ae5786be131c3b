"""The chain in a real database: what it proves, and what it notices."""

from collections.abc import AsyncGenerator
from datetime import UTC, datetime
from pathlib import Path

import anyio
import pytest
from sqlalchemy import text

from governance.audit.chain import GENESIS, Act, Actor
from governance.audit.log import Broken, append, entries, verify
from governance.database import Database
from tests.support.databases import fresh_database

pytestmark = pytest.mark.usefixtures("any_database")

NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)
ADA = Actor("Ada (abc)", "platform")


@pytest.fixture
async def database(tmp_path: Path) -> AsyncGenerator[Database]:
    async with fresh_database(tmp_path) as database:
        yield database


async def act(database: Database, subject: str, team: str = "") -> None:
    async with database.transaction() as connection:
        await append(connection, ADA, Act.KEY_CREATED, subject, at=NOW, team=team, facts={"n": 1, "list": ["ü", "b"]})


async def tamper(database: Database, statement: str) -> None:
    async with database.transaction() as connection:
        await connection.execute(text(statement))


async def test_a_new_log_is_whole(database: Database) -> None:
    proof = await verify(database)
    assert (proof.entries, proof.broken) == (0, None)


async def test_entries_follow_one_another_and_are_listed_newest_first(database: Database) -> None:
    for subject in ("k1", "k2", "k3"):
        await act(database, subject)
    newest, middle, oldest = await entries(database, 10)
    assert [entry.subject for entry in (newest, middle, oldest)] == ["k3", "k2", "k1"]
    assert (oldest.previous, middle.previous, newest.previous) == (GENESIS, oldest.hash, middle.hash)
    assert (newest.actor, newest.facts, newest.at) == (ADA, {"n": 1, "list": ["ü", "b"]}, NOW)
    assert [entry.n for entry in await entries(database, 10, before=3)] == [2, 1]
    assert (await verify(database)).broken is None


async def test_a_team_sees_its_own_entries(database: Database) -> None:
    await act(database, "k1", "red")
    await act(database, "k2", "blue")
    assert [entry.subject for entry in await entries(database, 10, team="blue")] == ["k2"]


async def test_an_act_that_fails_leaves_no_entry(database: Database) -> None:
    async def fail() -> None:
        async with database.transaction() as connection:
            await append(connection, ADA, Act.KEY_CREATED, "k1", at=NOW)
            raise LookupError

    with pytest.raises(LookupError):
        await fail()
    assert await entries(database, 10) == ()
    await act(database, "k2")
    assert (await verify(database)).entries == 1


async def test_writers_at_the_same_time_keep_one_chain(database: Database) -> None:
    async with anyio.create_task_group() as group:
        for n in range(20):
            group.start_soon(act, database, f"k{n}")
    proof = await verify(database)
    assert (proof.entries, proof.broken) == (20, None)


@pytest.mark.parametrize(
    ("statement", "found"),
    [
        ("UPDATE audit_entry SET actor = 'Eve' WHERE n = 2", Broken(2, "the entry was changed")),
        ("UPDATE audit_entry SET facts = '{}' WHERE n = 2", Broken(2, "the entry was changed")),
        ("UPDATE audit_entry SET at = at + 1 WHERE n = 3", Broken(3, "the entry was changed")),
        ("DELETE FROM audit_entry WHERE n = 2", Broken(2, "the entry is missing")),
        ("DELETE FROM audit_entry WHERE n = 3", Broken(3, "the entry is missing")),
        ("DELETE FROM audit_entry", Broken(1, "the entry is missing")),
        ("UPDATE audit_entry SET hash = previous WHERE n = 1", Broken(1, "the entry was changed")),
        ("UPDATE audit_head SET n = 2", Broken(2, "the entry is not the one that was recorded as the newest")),
        ("DELETE FROM audit_head", Broken(0, "the record of the newest entry is missing")),
        (
            "INSERT INTO audit_entry SELECT 4, at, actor, role, act, '', '', '', '', '' FROM audit_entry WHERE n=3",
            Broken(4, "the entry is beyond the newest"),
        ),
    ],
)
async def test_a_change_behind_the_back_of_the_log_is_noticed(
    database: Database, statement: str, found: Broken
) -> None:
    for subject in ("k1", "k2", "k3"):
        await act(database, subject)
    await tamper(database, statement)
    assert (await verify(database)).broken == found


async def test_a_long_chain_is_proven_in_pages(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("governance.audit.log._PAGE", 2)
    for n in range(7):
        await act(database, f"k{n}")
    assert (await verify(database)).entries == 7
