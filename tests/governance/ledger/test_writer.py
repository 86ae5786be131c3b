"""The writer: beside the requests, in batches, through failures, each entry once."""

from pathlib import Path

import anyio
import pytest
from sqlalchemy import text

import migrations
from governance.database import Database, open_database
from governance.errors import LedgerBehind, StoreUnavailable
from governance.ledger.events import EventKind, LedgerAttempt, LedgerEvent
from governance.ledger.writer import LedgerWriter
from governance.prices import Usage
from tests.support.databases import fresh_database
from tests.support.requests import attempt, opening, settlement, usd
from tests.support.waiting import until

pytestmark = pytest.mark.usefixtures("any_database")


def held(request_id: str) -> LedgerEvent:
    return LedgerEvent(kind=EventKind.HELD, opening=opening(request_id), held=usd("0.40"))


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


async def test_what_is_queued_is_written_within_moments(tmp_path: Path) -> None:
    async with fresh_database(tmp_path) as database, LedgerWriter(database) as writer:
        writer.append(held("r1"))
        await until(lambda: writer.health.queued == 0)
        assert await count(database) == 1


async def test_every_fact_of_an_event_and_an_attempt_is_stored(tmp_path: Path) -> None:
    async with fresh_database(tmp_path) as database:
        async with LedgerWriter(database) as writer:
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


async def test_leaving_the_block_drains_the_queue(tmp_path: Path) -> None:
    async with fresh_database(tmp_path) as database:
        async with LedgerWriter(database, linger_s=60) as writer:
            for number in range(1000):
                writer.append(held(f"r{number}"))
        assert await count(database) == 1000


async def test_a_full_batch_does_not_linger(tmp_path: Path) -> None:
    async with fresh_database(tmp_path) as database, LedgerWriter(database, batch=10, linger_s=60) as writer:
        for number in range(10):
            writer.append(held(f"r{number}"))
        await until(lambda: writer.health.queued == 0)


async def test_writing_again_changes_nothing(tmp_path: Path) -> None:
    async with fresh_database(tmp_path) as database:
        for _ in range(2):
            async with LedgerWriter(database) as writer:
                writer.append(held("r1"), settled("r1"), LedgerAttempt("r1", 1, attempt(usd("0.10"))))
        assert (await count(database), await count(database, "ledger_attempt")) == (2, 1)


async def test_the_first_terminal_event_of_a_request_stands(tmp_path: Path) -> None:
    async with fresh_database(tmp_path) as database:
        async with LedgerWriter(database) as writer:
            writer.append(settled("r1", "0.10"), refused("r1"), settled("r1", "0.90"))
        async with database.reading() as connection:
            assert (await connection.execute(text("SELECT cost_nanos FROM ledger_event"))).scalars().all() == [10**8]


async def test_entries_wait_while_the_database_is_away_and_are_written_when_it_is_back(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'sluice.db'}"
    database = open_database(url)  # without tables yet
    async with LedgerWriter(database) as writer:
        writer.append(held("r1"), settled("r1"))
        await until(lambda: writer.behind)
        failure = writer.health.failure
        assert failure is not None
        assert "no such table" in failure
        await anyio.to_thread.run_sync(migrations.upgrade, url)
        await until(lambda: not writer.behind)
        assert writer.health.queued == 0
        assert await count(database) == 2
    await database.close()


async def test_a_full_queue_lets_nothing_in_but_takes_what_was_admitted(tmp_path: Path) -> None:
    database = open_database(f"sqlite:///{tmp_path / 'sluice.db'}")
    writer = LedgerWriter(database, limit=2)
    writer.admit()
    writer.append(held("r1"), held("r2"))
    with pytest.raises(LedgerBehind) as behind:
        writer.admit()
    assert (behind.value.queued, behind.value.limit, writer.behind) == (2, 2, True)
    writer.append(settled("r1"), refused("r3"))
    assert (writer.health.queued, writer.health.refusals_dropped) == (3, 1)
    await database.close()


async def test_closing_without_a_database_says_what_is_lost(tmp_path: Path) -> None:
    database = open_database(f"sqlite:///{tmp_path / 'sluice.db'}")
    writer = await LedgerWriter(database, drain_s=0.2).__aenter__()
    writer.append(held("r1"), settled("r1"))
    await until(lambda: writer.behind)
    with pytest.raises(StoreUnavailable, match="2 ledger entries could not be written: no such table"):
        await writer.close()
    await database.close()


async def test_an_entry_the_database_rejects_holds_up_no_other(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with fresh_database(tmp_path) as database:
        async with LedgerWriter(database) as writer:
            writer.append(*[held(f"r{number}") for number in range(50)])
            writer.append(LedgerEvent(kind=EventKind.HELD, opening=opening("bad", workflow="\ud800")))
            writer.append(*[settled(f"r{number}") for number in range(50)])
        assert await count(database) == 100
        assert writer.health.rejected == 1
    assert "bad" in caplog.text
