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
from governance.ledger.events import EventKind, LedgerEvent
from governance.prices import Usage
from migrations.schema import METADATA
from tests.support.databases import fresh_database
from tests.support.requests import NOON, opening, settlement, usd


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
