"""The schema's history, on a real SQLite file."""

import sqlite3
from concurrent.futures import ThreadPoolExecutor
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
from governance.ledger.tables import Base


def config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(Path(migrations.__file__).parent))
    config.set_main_option("path_separator", "os")
    return config


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
        assert compare_metadata(MigrationContext.configure(connection), Base.metadata) == []
    engine.dispose()


def test_partial_indexes_are_those_declared(url: str, tmp_path: Path) -> None:
    migrations.upgrade(url)
    declared = create_engine(f"sqlite:///{tmp_path / 'declared.db'}")
    Base.metadata.create_all(declared)
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
    engine = create_engine(url)
    prepare_sqlite(engine)
    with writing(engine.connect()) as connection, connection.begin():
        backwards = config()
        backwards.attributes["connection"] = connection
        command.downgrade(backwards, "base")
    engine.dispose()
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
