"""The schema's history, on a real PostgreSQL."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from sqlalchemy import create_engine, inspect, text

import governance.counters.tables  # noqa: F401  # pyright: ignore[reportUnusedImport]  declares its tables
import migrations
from governance.database import driver_url, open_database
from governance.ledger.batches import store
from governance.ledger.events import EventKind, LedgerAttempt, LedgerEvent
from governance.ledger.tables import Base
from governance.prices import Usage
from tests.migrations.test_upgrade import config
from tests.support.requests import attempt, opening, settlement, usd
from tests.support.servers import PostgresServer


@pytest.fixture
def url(postgres_server: PostgresServer) -> str:
    return postgres_server.database()


def test_the_newest_revision_builds_exactly_the_declared_tables(url: str) -> None:
    migrations.upgrade(url)
    engine = create_engine(driver_url(url, asynchronous=False))
    with engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), Base.metadata) == []
    engine.dispose()


def test_every_revision_goes_up_and_down_and_up_again(url: str) -> None:
    migrations.upgrade(url)
    engine = create_engine(driver_url(url, asynchronous=False))
    built = set(inspect(engine).get_table_names())
    backwards: Config = config()
    with engine.begin() as connection:
        backwards.attributes["connection"] = connection
        command.downgrade(backwards, "base")
    assert set(inspect(engine).get_table_names()) == {"alembic_version"}
    migrations.upgrade(url)
    assert set(inspect(engine).get_table_names()) == built
    engine.dispose()


async def test_going_back_puts_each_class_where_it_was_counted_before(url: str) -> None:
    migrations.upgrade(url)
    usage, database = Usage(*range(1, len(Usage.__struct_fields__) + 1)), open_database(url)
    event = LedgerEvent(kind=EventKind.SETTLED, opening=opening(), settlement=settlement("0.10", usage))
    await store(database, [event, LedgerAttempt("r1", 1, attempt(usd("0.10"), usage))])
    await database.close()
    engine = create_engine(driver_url(url, asynchronous=False))
    backwards = config()
    with engine.begin() as connection:
        backwards.attributes["connection"] = connection
        command.downgrade(backwards, "0006")
        for table in ("ledger_event", "ledger_attempt", "ledger_rollup"):
            query = text(f"SELECT fresh_input + cache_read + cache_write, output + reasoning FROM {table} LIMIT 1")  # noqa: S608  constants
            assert tuple(connection.execute(query).one()) == (usage.input_tokens, usage.output_tokens)
    engine.dispose()


def test_starters_at_the_same_moment_all_succeed(url: str) -> None:
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(migrations.upgrade, [url] * 4))
    engine = create_engine(driver_url(url, asynchronous=False))
    assert "ledger_event" in inspect(engine).get_table_names()
    engine.dispose()
