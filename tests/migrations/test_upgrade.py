"""The schema's history, on a real SQLite file."""

import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine, inspect

import governance.counters.tables  # noqa: F401  # pyright: ignore[reportUnusedImport]  declares its tables
import migrations
from governance.database import prepare_sqlite, writing
from governance.errors import StoreUnavailable
from governance.ledger.batches import store
from governance.ledger.events import EventKind, LedgerAttempt, LedgerEvent
from governance.ledger.reading.reports import recent_requests, spend
from governance.ledger.tables import EPOCH
from governance.prices import Usage
from migrations.schema import METADATA
from tests.support.databases import fresh_database
from tests.support.requests import NOON, attempt, opening, settlement, usd


def config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(Path(migrations.__file__).parent))
    config.set_main_option("path_separator", "os")
    return config


def migrate(url: str, act: Callable[[Config], None]) -> None:
    engine = create_engine(url)
    prepare_sqlite(engine)
    with writing(engine.connect()) as connection, connection.begin():
        given = config()
        given.attributes["connection"] = connection
        act(given)
    engine.dispose()


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'sluice.db'}"


def tables(url: str) -> set[str]:
    engine = create_engine(url)
    try:
        return set(inspect(engine).get_table_names())
    finally:
        engine.dispose()


def test_the_named_head_is_the_newest_revision() -> None:
    assert ScriptDirectory.from_config(config()).get_heads() == [migrations.HEAD]


def test_the_newest_revision_builds_exactly_the_declared_tables(url: str) -> None:
    migrations.upgrade(url)
    engine = create_engine(url)
    with engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), METADATA) == []
    engine.dispose()


def test_partial_indexes_are_those_declared(url: str, tmp_path: Path) -> None:
    migrations.upgrade(url)
    declared = create_engine(f"sqlite:///{tmp_path / 'declared.db'}")
    METADATA.create_all(declared)
    declared.dispose()

    def indexes(file: str) -> list[tuple[str, str]]:
        connection = sqlite3.connect(tmp_path / file)
        try:
            query = "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL ORDER BY name"
            return connection.execute(query).fetchall()
        finally:
            connection.close()

    assert indexes("sluice.db") == indexes("declared.db")


def test_every_revision_goes_up_and_down_and_up_again(url: str) -> None:
    migrations.upgrade(url)
    built = tables(url)
    migrate(url, lambda backwards: command.downgrade(backwards, "base"))
    assert tables(url) == {"alembic_version"}
    migrations.upgrade(url)
    assert tables(url) == built


def test_upgrading_again_changes_nothing(url: str) -> None:
    migrations.upgrade(url)
    before = tables(url)
    migrations.upgrade(url)
    assert tables(url) == before


def test_starters_at_the_same_moment_all_succeed(url: str) -> None:
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(migrations.upgrade, [url] * 4))
    assert "ledger_event" in tables(url)


def test_a_database_from_the_future_is_left_alone(url: str, tmp_path: Path) -> None:
    migrations.upgrade(url)
    connection = sqlite3.connect(tmp_path / "sluice.db")
    connection.execute("UPDATE alembic_version SET version_num = '9999'")
    connection.commit()
    connection.close()
    with pytest.raises(StoreUnavailable, match="9999"):
        migrations.upgrade(url)


def test_a_database_that_cannot_be_opened_is_unavailable(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable, match="unable to open"):
        migrations.upgrade(f"sqlite:///{tmp_path / 'no such folder' / 'x.db'}")


@pytest.mark.parametrize("url", ["mysql://localhost/x", "not a url"])
def test_an_address_of_another_kind_is_refused(url: str) -> None:
    with pytest.raises(StoreUnavailable):
        migrations.upgrade(url)


async def test_a_ledger_from_before_the_classes_were_told_apart_is_read_as_it_was(url: str, tmp_path: Path) -> None:
    migrate(url, lambda forwards: command.upgrade(forwards, "0006"))
    with closing(sqlite3.connect(tmp_path / "sluice.db")) as connection:
        for table in ("ledger_event", "ledger_rollup"):
            columns = connection.execute("SELECT name, type FROM pragma_table_info(?)", (table,)).fetchall()
            values = dict.fromkeys((name for name, kind in columns if kind in {"BIGINT", "INTEGER"}), 5)
            values |= {name: "x" for name, kind in columns if kind == "VARCHAR"} | {"kind": "settled", "at": 0}
            values |= {"estimated": 0, "stream": 0, "dimension": "team", "hour": 0, "team": "a", "value": "a"}
            kept = {name: values[name] for name, _ in columns if name in values}
            names, marks = ", ".join(kept), ", ".join("?" * len(kept))
            connection.execute(f"INSERT INTO {table} ({names}) VALUES ({marks})", list(kept.values()))  # noqa: S608
        connection.commit()
    migrations.upgrade(url)
    async with fresh_database(tmp_path) as database:
        (row,) = await recent_requests(database, 5)
        hours = await spend(database, "team", EPOCH, EPOCH + timedelta(hours=1))
        minutes = await spend(database, "session", EPOCH, EPOCH + timedelta(minutes=1))
    assert (row.input_tokens, row.output_tokens) == (15, 10)
    assert (hours.total.input_tokens, hours.total.output_tokens) == (15, 10)
    assert (minutes.total.input_tokens, minutes.total.output_tokens) == (15, 10)


async def test_going_back_puts_each_class_where_it_was_counted_before(url: str, tmp_path: Path) -> None:
    usage = Usage(*range(1, len(Usage.__struct_fields__) + 1))
    async with fresh_database(tmp_path) as database:
        ended = settlement("0.10", usage)
        await store(database, [LedgerEvent(kind=EventKind.SETTLED, opening=opening(), settlement=ended)])
        await store(database, [LedgerAttempt("r1", 1, attempt(usd("0.10"), usage))])
    migrate(url, lambda backwards: command.downgrade(backwards, "0006"))
    query = "SELECT fresh_input, cache_read, cache_write, output, reasoning FROM {} LIMIT 1"
    with closing(sqlite3.connect(tmp_path / "sluice.db")) as connection:
        for table in ("ledger_event", "ledger_attempt", "ledger_rollup"):
            row = connection.execute(query.format(table)).fetchone()
            assert (sum(row[:3]), sum(row[3:])) == (usage.input_tokens, usage.output_tokens)
            assert (row[1], row[4]) == (usage.cache_read + usage.audio_read, usage.reasoning)


async def test_roll_ups_are_made_for_the_events_of_an_older_ledger(url: str, tmp_path: Path) -> None:
    def rollups() -> list[tuple[object, ...]]:
        with closing(sqlite3.connect(tmp_path / "sluice.db")) as connection:
            return sorted(connection.execute("SELECT * FROM ledger_rollup").fetchall())

    async with fresh_database(tmp_path) as database:
        asked = [opening(f"r{n}", NOON + timedelta(minutes=7 * n), team="ab"[n % 2]) for n in range(30)]
        ends = [settlement("0.10", Usage(n, 1, 2, output=n, reasoning=3)) if n % 3 else None for n in range(30)]
        kinds = [EventKind.SETTLED if end else EventKind.REFUSED for end in ends]
        told = zip(asked, ends, kinds, strict=True)
        await store(database, [LedgerEvent(kind=k, opening=a, cost=usd("0.10"), settlement=e) for a, e, k in told])
    written = rollups()
    migrate(url, lambda backwards: command.downgrade(backwards, "0001"))
    migrations.upgrade(url)
    assert rollups() == written
