"""The log of decisions in a real database: what it proves beside the ledger, and what it notices."""

import asyncio
from collections.abc import AsyncGenerator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace
from sqlalchemy import text

from governance.confinement.decisions import Act, Decision, DecisionLog, strays
from governance.confinement.proving import prove
from governance.confinement.sessions import SessionLabels
from governance.database import Database
from governance.errors import StoreUnavailable
from governance.ledger.batches import store
from governance.ledger.events import EventKind, LedgerAttempt, LedgerEvent
from governance.money import Nanodollars
from tests.support.databases import absent_database, fresh_database
from tests.support.requests import attempt, opening

pytestmark = pytest.mark.usefixtures("any_database")

NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)


@pytest.fixture
async def database(tmp_path: Path) -> AsyncGenerator[Database]:
    async with fresh_database(tmp_path) as database:
        yield database


def entry(act: Act, request_id: str, zone: str = "") -> Decision:
    zones, labels = (("onprem",), ("card",)) if act == "decided" else ((), ())
    provider = "house" if act == "called" else ""
    return Decision(at=NOW, act=act, request_id=request_id, zones=zones, labels=labels, provider=provider, zone=zone)


async def told(database: Database) -> DecisionLog:
    log = DecisionLog(database)
    for number in range(3):
        await log.write(entry("decided", f"r{number}"))
        await log.write(entry("called", f"r{number}", "onprem"))
    await log.write(entry("refused", "r9"))
    return log


async def called(database: Database, request_id: str, zone: str) -> None:
    """Have the ledger tell of a call."""
    made = replace(attempt(Nanodollars(5)), zone=zone)
    await store(database, [LedgerAttempt(request_id, 1, made)])


async def test_a_log_and_a_ledger_that_agree_hold(database: Database) -> None:
    await told(database)
    await called(database, "r1", "onprem")
    proof = await prove(database)
    assert (proof.entries, proof.confined, proof.calls, proof.refused, proof.breach) == (7, 3, 3, 1, None)


async def test_entries_that_come_at_once_are_one_chain(database: Database) -> None:
    logs = DecisionLog(database), DecisionLog(database)
    await asyncio.gather(*(logs[n % 2].write(entry("decided", f"r{n}")) for n in range(40)))
    proof = await prove(database)
    assert (proof.entries, proof.breach) == (40, None)


@pytest.mark.parametrize(
    ("statement", "why"),
    [
        ("UPDATE zone_decision SET zones = 'cloud' WHERE n = 3", "changed"),
        ("UPDATE zone_decision SET zone = 'cloud' WHERE n = 4", "changed"),
        ("DELETE FROM zone_decision WHERE n = 2", "missing"),
        ("DELETE FROM zone_decision WHERE n = 7", "missing"),
        ("UPDATE zone_decision SET n = n + 100 WHERE n = 5", "missing"),
        ("UPDATE zone_decision_head SET n = 6", "recorded as the newest"),
        ("DELETE FROM zone_decision_head", "newest entry is missing"),
    ],
)
async def test_what_was_tampered_with_is_noticed(database: Database, statement: str, why: str) -> None:
    await told(database)
    async with database.transaction() as connection:
        await connection.execute(text(statement))
    breach = (await prove(database)).breach
    assert breach is not None
    assert why in breach.why


async def test_a_call_outside_its_zones_is_a_breach(database: Database) -> None:
    await (await told(database)).write(entry("called", "r1", "cloud"))
    breach = (await prove(database)).breach
    assert breach is not None
    assert (breach.n, breach.request_id, "outside onprem" in breach.why) == (8, "r1", True)


async def test_a_call_that_only_the_ledger_knows_is_a_breach(database: Database) -> None:
    await told(database)
    await called(database, "r2", "cloud")
    breach = (await prove(database)).breach
    assert breach is not None
    assert "'cloud', outside onprem" in breach.why


async def test_more_calls_in_the_ledger_than_in_the_log_are_a_breach(database: Database) -> None:
    await DecisionLog(database).write(entry("decided", "r1"))
    await called(database, "r1", "onprem")
    breach = (await prove(database)).breach
    assert breach is not None
    assert "more calls" in breach.why


async def test_entries_that_changed_places_are_noticed(database: Database) -> None:
    await told(database)
    async with database.transaction() as connection:
        for was, becomes in ((3, 100), (5, 3), (100, 5)):
            await connection.execute(text("UPDATE zone_decision SET n = :b WHERE n = :a"), {"a": was, "b": becomes})
    breach = (await prove(database)).breach
    assert breach is not None
    assert (breach.n, breach.why) == (3, "the entry does not follow the one before it")


async def test_a_call_of_which_nothing_was_decided_is_a_breach(database: Database) -> None:
    await DecisionLog(database).write(entry("called", "r1", "onprem"))
    breach = (await prove(database)).breach
    assert breach is not None
    assert "nothing was decided" in breach.why


async def test_a_confined_request_that_only_the_ledger_knows_is_a_breach(database: Database) -> None:
    asked = replace(opening("r1"), zone="onprem")
    await store(database, [LedgerEvent(kind=EventKind.HELD, opening=asked)])
    breach = (await prove(database)).breach
    assert breach is not None
    assert (breach.request_id, "nothing was decided" in breach.why) == ("r1", True)


async def test_requests_that_may_not_go_to_a_zone_are_told_from_those_that_may(database: Database) -> None:
    log = await told(database)
    await log.write(Decision(at=NOW, act="decided", request_id="labelled", labels=("email",)))
    names = ["r0", "r1", "labelled", "never seen"]
    assert await strays(database, names, "cloud") == {"r0", "r1"}
    assert await strays(database, names, "onprem") == set()


async def test_without_its_database_nothing_is_known_and_nothing_is_written(tmp_path: Path) -> None:
    async with absent_database(tmp_path) as database:
        log = DecisionLog(database)
        for _ in range(2):
            with pytest.raises(StoreUnavailable):
                await log.write(entry("called", "r1", "onprem"))
        with pytest.raises(StoreUnavailable):
            await SessionLabels(database).raised("k", "s", [], NOW)
        with pytest.raises(StoreUnavailable):
            await strays(database, ["r1"], "onprem")


async def test_labels_of_a_session_only_rise_and_are_its_keys_own(database: Database) -> None:
    one, other = SessionLabels(database), SessionLabels(database)
    assert await one.raised("k", "s", ["card"], NOW) == {"card"}
    assert await other.raised("k", "s", ["email"], NOW) == {"card", "email"}
    assert await one.raised("k", "s", [], NOW) == {"card", "email"}
    assert await one.raised("k2", "s", [], NOW) == set()


async def test_a_label_that_is_seen_again_lives_on(database: Database) -> None:
    sessions, month = SessionLabels(database), timedelta(days=30)
    await sessions.raised("k", "s", ["card"], NOW)
    await sessions.raised("k", "s", [], NOW + month)
    assert await sessions.sweep(NOW + month) == 0
    assert await sessions.sweep(NOW + 2 * month) == 1
    assert await sessions.raised("k", "s", [], NOW + 2 * month) == set()
