"""The writer: beside the requests, in batches, through failures, each entry once."""

import os
import sqlite3
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from msgspec.structs import replace
from sqlalchemy import text

from governance.database import Database
from governance.errors import LedgerBehind, StoreUnavailable
from governance.ledger.events import EventKind, LedgerAttempt, LedgerEvent
from governance.ledger.outage import WhenAway
from governance.ledger.writer import LedgerWriter
from governance.money import Nanodollars
from governance.prices import RATES, Price, Usage
from tests.support.clocks import HandClock
from tests.support.databases import fresh_database, locked
from tests.support.disks import full_disk
from tests.support.requests import attempt, opening, settlement, usd
from tests.support.waiting import until

anywhere = pytest.mark.usefixtures("any_database")
"""For what holds over PostgreSQL too; the other tests take a SQLite file away from under the writer."""


def held(request_id: str, amount: str = "0.40") -> LedgerEvent:
    return LedgerEvent(kind=EventKind.HELD, opening=opening(request_id), held=usd(amount))


def settled(request_id: str, cost: str = "0.10") -> LedgerEvent:
    ended = settlement(cost, Usage(fresh_input=7, cache_read=2, output=3))
    return LedgerEvent(
        kind=EventKind.SETTLED, opening=opening(request_id), cost=usd(cost), settlement=ended, status=200
    )


def refused(request_id: str) -> LedgerEvent:
    return LedgerEvent(kind=EventKind.REFUSED, opening=opening(request_id), code="insufficient_quota", status=429)


async def count(database: Database, table: str = "ledger_event") -> int:
    async with database.reading() as connection:
        return (await connection.execute(text(f"SELECT count(*) FROM {table}"))).scalar_one()  # noqa: S608  a constant


async def requests_in_order(database: Database, kind: str = "held") -> list[str]:
    query = text("SELECT request_id FROM ledger_event WHERE kind = :kind ORDER BY id")
    async with database.reading() as connection:
        return list((await connection.execute(query, {"kind": kind})).scalars())


@contextmanager
def failing(folder: Path) -> Generator[None]:
    """Take a table away, so that every batch fails at once, and bring it back."""
    connection = sqlite3.connect(folder / "sluice.db", isolation_level=None)
    try:
        connection.execute("ALTER TABLE ledger_event RENAME TO away")
        yield
        connection.execute("ALTER TABLE away RENAME TO ledger_event")
    finally:
        connection.close()


def die(writer: LedgerWriter) -> None:
    """Do to a writer what the death of its process does."""
    for task in writer._tasks:
        task.cancel()
    writer._tasks = ()
    writer._backlog.journal.close(keep=True)


def behind(writer: LedgerWriter) -> bool:
    return bool(writer.health.reasons)


@anywhere
async def test_what_is_queued_is_written_within_moments(tmp_path: Path) -> None:
    async with fresh_database(tmp_path) as database, LedgerWriter(database, tmp_path / "spool") as writer:
        writer.append(held("r1"))
        await until(lambda: writer.health.queued == 0)
        assert await count(database) == 1


@anywhere
async def test_every_fact_of_an_event_and_an_attempt_is_stored(tmp_path: Path) -> None:
    async with fresh_database(tmp_path) as database:
        async with LedgerWriter(database, tmp_path / "spool") as writer:
            writer.append(settled("r1"), LedgerAttempt("r1", 1, attempt(usd("0.10"))))
        async with database.reading() as connection:
            event = (await connection.execute(text("SELECT * FROM ledger_event"))).mappings().one()
            made = (await connection.execute(text("SELECT * FROM ledger_attempt"))).mappings().one()
    assert (event["kind"], event["team"], event["feature"], event["model"]) == (
        "settled",
        "support",
        "unattributed",
        "gpt",
    )
    assert (event["at"], event["cost_nanos"], event["cache_read"], event["attempts"]) == (1795953600000000, 10**8, 2, 1)
    assert (made["request_id"], made["n"], made["upstream_model"], made["fresh_input"]) == ("r1", 1, "gpt-4.1", None)
    assert (made["price_input_nanos"], made["price_cached_input_nanos"], made["cost_nanos"]) == (10**9, None, 10**8)


@anywhere
async def test_every_class_of_a_usage_and_every_rate_it_was_billed_at_is_stored(tmp_path: Path) -> None:
    usage = Usage(*range(1, len(Usage.__struct_fields__) + 1))
    price = Price(**{name: Nanodollars(n) for n, name in enumerate(RATES)}, source="policy above 5", above=5)  # pyright: ignore[reportArgumentType]
    async with fresh_database(tmp_path) as database:
        async with LedgerWriter(database, tmp_path / "spool") as writer:
            event = replace(settled("r1"), settlement=settlement("0.10", usage))
            writer.append(event, LedgerAttempt("r1", 1, replace(attempt(usd("0.10"), usage), price=price)))
        async with database.reading() as connection:
            stored, made, rolled = [
                (await connection.execute(text(f"SELECT * FROM {table} LIMIT 1"))).mappings().one()  # noqa: S608  constants
                for table in ("ledger_event", "ledger_attempt", "ledger_rollup")
            ]
    for row in (stored, made, rolled):
        assert Usage(*[row[name] for name in Usage.__struct_fields__]) == usage
    assert [made[f"price_{name}_nanos"] for name in RATES] == list(range(len(RATES)))
    assert made["price_source"] == "policy above 5"


@anywhere
async def test_leaving_the_block_drains_the_queue(tmp_path: Path) -> None:
    async with fresh_database(tmp_path) as database:
        async with LedgerWriter(database, tmp_path / "spool", linger_s=60) as writer:
            for number in range(1000):
                writer.append(held(f"r{number}"))
        assert await count(database) == 1000


async def test_flushing_waits_for_what_is_queued_and_says_when_that_takes_too_long(tmp_path: Path) -> None:
    async with fresh_database(tmp_path) as database, LedgerWriter(database, tmp_path / "spool") as writer:
        writer.append(held("r1"))
        await writer.flush()
        assert await count(database) == 1
        with failing(tmp_path):
            writer.append(held("r2"))
            with pytest.raises(StoreUnavailable, match="behind"):
                await writer.flush(within_s=0.1)


@anywhere
async def test_a_full_batch_does_not_linger(tmp_path: Path) -> None:
    async with (
        fresh_database(tmp_path) as database,
        LedgerWriter(database, tmp_path / "spool", batch=10, linger_s=60) as writer,
    ):
        for number in range(10):
            writer.append(held(f"r{number}"))
        await until(lambda: writer.health.queued == 0)


@anywhere
async def test_writing_again_changes_nothing(tmp_path: Path) -> None:
    async with fresh_database(tmp_path) as database:
        for _ in range(2):
            async with LedgerWriter(database, tmp_path / "spool") as writer:
                writer.append(held("r1"), settled("r1"), LedgerAttempt("r1", 1, attempt(usd("0.10"))))
        assert (await count(database), await count(database, "ledger_attempt")) == (2, 1)


@anywhere
async def test_the_first_terminal_event_of_a_request_stands(tmp_path: Path) -> None:
    async with fresh_database(tmp_path) as database:
        async with LedgerWriter(database, tmp_path / "spool") as writer:
            writer.append(settled("r1", "0.10"), refused("r1"), settled("r1", "0.90"))
        async with database.reading() as connection:
            assert (await connection.execute(text("SELECT cost_nanos FROM ledger_event"))).scalars().all() == [10**8]


async def test_entries_wait_while_the_database_is_away_and_are_stored_in_order_when_it_is_back(tmp_path: Path) -> None:
    async with fresh_database(tmp_path) as database:
        async with LedgerWriter(database, tmp_path / "spool", memory=20) as writer:
            with failing(tmp_path):
                for number in range(700):
                    writer.append(held(f"r{number}"))
                    writer.append(LedgerAttempt(f"r{number}", 1, attempt(usd("0.10"))), settled(f"r{number}"))
                await until(lambda: behind(writer))
                assert "no such table" in writer.health.reasons[0]
                assert writer.health.queued == 2100
                assert len(writer._backlog._near) <= 20
                assert writer.health.oldest_s > 0
            await until(lambda: writer.health.queued == 0)
            await until(lambda: not behind(writer))
        assert await requests_in_order(database) == [f"r{number}" for number in range(700)]
        assert (await count(database), await count(database, "ledger_attempt")) == (1400, 700)


async def test_what_a_dead_process_had_not_stored_is_stored_by_the_next(tmp_path: Path) -> None:
    async with fresh_database(tmp_path) as database:
        async with LedgerWriter(database, tmp_path / "spool") as writer:
            writer.append(held("stored"))
            await until(lambda: writer.health.queued == 0)
            with failing(tmp_path):
                for number in range(600):
                    writer.append(held(f"r{number}"))
                await until(lambda: behind(writer))
                die(writer)
        async with LedgerWriter(database, tmp_path / "spool") as heir:
            assert heir.health.reasons == ()
            assert await requests_in_order(database) == ["stored", *(f"r{number}" for number in range(600))]
    assert not any((tmp_path / "spool").iterdir())


@anywhere
async def test_a_locked_database_is_away_though_it_has_not_failed_yet(tmp_path: Path) -> None:
    clock = HandClock()
    async with fresh_database(tmp_path) as database, LedgerWriter(database, tmp_path / "spool", clock=clock) as writer:
        with locked(tmp_path):
            writer.append(held("r1"), settled("r1"))
            writer.admit()
            await until(lambda: clock.pass_on(3) > 0 and behind(writer))
            with pytest.raises(LedgerBehind, match=r"away for \d+ s"):
                writer.admit()
            assert writer.health.reasons[0].startswith("The ledger cannot be written: no answer for ")
            assert writer.health.oldest_s >= 3
        await until(lambda: writer.health.queued == 0)
        writer.admit()
        assert await count(database) == 2


@pytest.mark.parametrize(("rule", "taken"), [("closed", 0), ("open", 5), (usd("1.00"), 2)])
async def test_the_policy_says_what_is_let_in_meanwhile(tmp_path: Path, rule: WhenAway, taken: int) -> None:
    clock = HandClock()
    async with (
        fresh_database(tmp_path) as database,
        LedgerWriter(database, tmp_path / "spool", when_away=rule, clock=clock) as writer,
    ):
        with failing(tmp_path):
            writer.append(refused("r"))
            await until(lambda: behind(writer))
            clock.now += 3
            held_now = 0
            for number in range(5):
                try:
                    writer.admit()
                    writer.append(held(f"r{number}"))
                except LedgerBehind:
                    continue
                held_now += 1
            assert held_now == taken
        await until(lambda: writer.health.queued == 0)
        assert await count(database) == taken + 1


async def test_a_database_whose_file_is_gone_is_noticed_while_nothing_happens(tmp_path: Path) -> None:
    file, away = tmp_path / "sluice.db", tmp_path / "elsewhere.db"
    async with fresh_database(tmp_path) as database, LedgerWriter(database, tmp_path / "spool") as writer:
        file.rename(away)
        await until(lambda: behind(writer))
        assert writer.health.reasons == ("The ledger cannot be written: the database's file is gone.",)
        writer.append(held("r1"))
        file.write_bytes(b"")
        await until(lambda: "not the one" in (writer.health.failure or ""))
        assert writer.health.queued == 1
        away.replace(file)
        await until(lambda: writer.health.queued == 0)
        assert await count(database) == 1


async def test_a_corrupt_database_takes_nothing_and_loses_nothing(tmp_path: Path) -> None:
    file = tmp_path / "sluice.db"
    async with fresh_database(tmp_path) as database:
        writer = await LedgerWriter(database, tmp_path / "spool", drain_s=0.1).__aenter__()
        with closing(sqlite3.connect(file, isolation_level=None)) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        whole = file.read_bytes()
        with file.open("r+b") as handle:
            handle.write(b"\xaa" * len(whole))
        for number in range(20):
            writer.append(held(f"r{number}"), settled(f"r{number}"))
        await until(lambda: behind(writer))
        assert (writer.health.queued, writer.health.rejected) == (40, 0)
        await writer.close()
    for name in ("sluice.db-wal", "sluice.db-shm"):
        (tmp_path / name).unlink(missing_ok=True)
    file.write_bytes(whole)
    async with fresh_database(tmp_path) as database, LedgerWriter(database, tmp_path / "spool"):
        assert await count(database) == 40


@anywhere
async def test_a_spool_that_is_deleted_is_noticed(tmp_path: Path) -> None:
    async with fresh_database(tmp_path) as database, LedgerWriter(database, tmp_path / "spool") as writer:
        folder = writer._backlog.journal.folder
        folder.rename(tmp_path / "elsewhere")
        await until(lambda: behind(writer))
        with pytest.raises(LedgerBehind, match="its folder is gone"):
            writer.admit()
        (tmp_path / "elsewhere").rename(folder)
        writer.admit()
        assert writer.health.reasons == ()


@anywhere
async def test_a_full_disk_lets_nothing_in_but_takes_what_was_admitted(tmp_path: Path) -> None:
    segment = 64 * 1024
    async with fresh_database(tmp_path) as database:
        async with LedgerWriter(database, tmp_path / "spool", segment_bytes=segment) as writer:
            writer.admit()
            admitted = 0
            with full_disk(segment - 1):
                with pytest.raises(LedgerBehind, match="journal cannot be written: File too large"):  # noqa: PT012
                    while True:
                        writer.admit()
                        writer.append(held(f"r{admitted}"))
                        admitted += 1
                for number in range(admitted):
                    if number < 30:
                        writer.append(settled(f"r{number}"))
                writer.append(refused("no"))
                assert writer.health.refusals_dropped == 1
                assert "The ledger's journal cannot be written: File too large." in writer.health.reasons
                assert writer._backlog.kept == 0
            writer.admit()
            for number in range(30, admitted):
                writer.append(settled(f"r{number}"))
        assert await count(database) == 2 * admitted


@anywhere
async def test_what_a_failing_journal_does_not_take_is_kept_and_journalled_when_it_works_again(tmp_path: Path) -> None:
    async with fresh_database(tmp_path) as database:
        async with LedgerWriter(database, tmp_path / "spool") as writer:
            writer.append(held("r1"))
            segment = writer._backlog.journal._segments[-1]
            good, segment._descriptor = segment._descriptor, os.open("/dev/full", os.O_WRONLY)
            writer.append(settled("r1"))
            with pytest.raises(LedgerBehind, match="No space left"):
                writer.append(held("r2"))
            assert writer._backlog.kept == 1
            with pytest.raises(LedgerBehind):
                writer.admit()
            os.close(segment._descriptor)
            segment._descriptor = good
            writer.admit()
            assert writer._backlog.kept == 0
            die(writer)
        async with LedgerWriter(database, tmp_path / "spool"):
            assert await count(database) == 2


async def test_closing_without_a_database_leaves_the_rest_to_the_next_start(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with fresh_database(tmp_path) as database:
        caplog.set_level("WARNING")
        writer = await LedgerWriter(database, tmp_path / "spool", drain_s=0.2).__aenter__()
        with failing(tmp_path):
            writer.append(held("r1"), settled("r1"))
            await writer.close()
        assert "2 ledger entries stay in" in caplog.text
        async with LedgerWriter(database, tmp_path / "spool"):
            assert await count(database) == 2


async def test_a_start_without_a_database_fails_and_leaves_the_spool_as_it_was(tmp_path: Path) -> None:
    async with fresh_database(tmp_path) as database:
        with failing(tmp_path), pytest.raises(StoreUnavailable, match="no such table"):
            await LedgerWriter(database, tmp_path / "spool").__aenter__()
    assert not any((tmp_path / "spool").iterdir())


@anywhere
async def test_stored_files_of_the_journal_go(tmp_path: Path) -> None:
    async with (
        fresh_database(tmp_path) as database,
        LedgerWriter(database, tmp_path / "spool", segment_bytes=8192) as writer,
    ):
        for number in range(300):
            writer.append(held(f"r{number}"))
        assert writer.health.journal_bytes > 10 * 8192
        await until(lambda: writer.health.journal_bytes <= 3 * 8192)
        assert len(list(writer._backlog.journal.folder.iterdir())) <= 3


async def test_damage_in_a_dead_process_s_journal_is_told_and_costs_one_record(tmp_path: Path) -> None:
    async with fresh_database(tmp_path) as database:
        async with LedgerWriter(database, tmp_path / "spool") as writer:
            with failing(tmp_path):
                writer.append(held("first"))
                writer.append(held("second"))
                writer.append(held("third"))
                die(writer)
        (file,) = (tmp_path / "spool").glob("*/*.journal")
        file.write_bytes(file.read_bytes().replace(b"second", b"sEcond"))
        async with LedgerWriter(database, tmp_path / "spool") as heir:
            assert await requests_in_order(database) == ["first", "third"]
            assert (heir.health.damaged, heir.health.reasons) == (1, ())
        assert len(list((tmp_path / "spool").glob("*/*.damaged"))) == 1


@anywhere
async def test_what_no_journal_can_write_is_rejected_and_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async with fresh_database(tmp_path) as database, LedgerWriter(database, tmp_path / "spool") as writer:
        writer.append(LedgerEvent(kind=EventKind.CANCELLED, opening=opening("bad", workflow="\ud800")))
        assert writer.health.rejected == 1
        assert "lacks 1 entries" in writer.health.reasons[0]
    assert "bad" in caplog.text


@anywhere
async def test_an_entry_the_database_rejects_holds_up_no_other(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with fresh_database(tmp_path) as database:
        async with LedgerWriter(database, tmp_path / "spool") as writer:
            writer.append(*[held(f"r{number}") for number in range(50)])
            writer.append(LedgerEvent(kind=EventKind.HELD, opening=opening("bad"), held=Nanodollars(2**63)))
            writer.append(*[settled(f"r{number}") for number in range(50)])
        assert await count(database) == 100
        assert writer.health.rejected == 1
    assert "bad" in caplog.text
