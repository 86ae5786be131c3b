"""The database speaks governance's words."""

from pathlib import Path

import anyio
import pytest
from sqlalchemy import text
from sqlalchemy.exc import OperationalError

from governance.database import driver_url, open_database, store_errors
from governance.errors import StoreUnavailable
from tests.support.databases import absent_database, fresh_database


@pytest.mark.parametrize(
    ("url", "asynchronous", "synchronous"),
    [
        ("sqlite:////var/x.db", "sqlite+aiosqlite:////var/x.db", "sqlite:////var/x.db"),
        ("postgresql://u:p@h/x", "postgresql+psycopg://u:p@h/x", "postgresql+psycopg://u:p@h/x"),
        ("postgres://h/x", "postgresql+psycopg://h/x", "postgresql+psycopg://h/x"),
        ("postgresql+asyncpg://h/x", "postgresql+psycopg://h/x", "postgresql+psycopg://h/x"),
    ],
)
def test_an_address_needs_no_driver(url: str, asynchronous: str, synchronous: str) -> None:
    assert driver_url(url, asynchronous=True).render_as_string(hide_password=False) == asynchronous
    assert driver_url(url, asynchronous=False).render_as_string(hide_password=False) == synchronous


@pytest.mark.parametrize(
    "url", ["", "mysql://root:hunter2@h/x", "hunter2", "host=db password=hunter2", "postgresql://u:hunter2@h:port/x"]
)
def test_another_address_is_refused_without_being_repeated(url: str) -> None:
    with pytest.raises(StoreUnavailable) as refused:
        open_database(url)
    assert "hunter2" not in str(refused.value)


@pytest.mark.parametrize(
    "url",
    ["sqlite://", "sqlite:///:memory:", "sqlite:///file::memory:?uri=true", "sqlite:///file:x?mode=memory&uri=true"],
)
def test_a_database_in_memory_is_refused_with_the_reason(url: str) -> None:
    with pytest.raises(StoreUnavailable, match="a new, empty database for every connection: name a file"):
        open_database(url)


async def test_the_file_of_a_database_is_its_owners_alone(tmp_path: Path) -> None:
    async with fresh_database(tmp_path) as database, database.reading() as connection:
        await connection.execute(text("SELECT 1"))
        modes = {path.name: (await path.stat()).st_mode & 0o777 async for path in anyio.Path(tmp_path).iterdir()}
    assert "sluice.db-wal" in modes
    assert set(modes.values()) == {0o600}


class Refused(Exception):
    """What psycopg raises, as far as it is looked at."""

    def __init__(self, said: str, sqlstate: str | None = None) -> None:
        super().__init__(said)
        self.sqlstate = sqlstate


SERVER = 'connection failed: connection to server at "db.internal", port 5432 failed: '


@pytest.mark.parametrize(
    ("said", "sqlstate", "reason"),
    [
        (SERVER + 'FATAL:  password authentication failed for user "hunter2"', None, "authentication failed"),
        (SERVER + "fe_sendauth: no password supplied", None, "authentication failed"),
        (SERVER + 'FATAL:  database "hunter2" does not exist', None, "no such database"),
        (SERVER + "Connection refused\n\tIs the server running?", None, "cannot connect: nobody listens there"),
        ("failed to resolve host 'hunter2': [Errno -2]", None, "cannot connect: its host has no address"),
        ("connection timeout expired", None, "cannot connect: no answer in time"),
        ("something of hunter2", None, "cannot connect"),
        ("hunter2", "28P01", "authentication failed"),
        ("hunter2", "3D000", "no such database"),
        ("hunter2", "57P01", "it is shutting down"),
        ("hunter2", "XX000", "SQLSTATE XX000"),
    ],
)
def test_the_trouble_of_a_server_is_told_without_naming_host_or_user(
    said: str, sqlstate: str | None, reason: str
) -> None:
    with pytest.raises(StoreUnavailable) as refused, store_errors():
        raise OperationalError("SELECT 1", {}, Refused(said, sqlstate))
    assert refused.value.reason == reason


async def test_sqlite_is_set_up_for_readers_beside_a_writer(tmp_path: Path) -> None:
    async with fresh_database(tmp_path) as database, database.reading() as connection:
        found = [
            (await connection.execute(text(f"PRAGMA {name}"))).scalar_one()
            for name in ("journal_mode", "synchronous", "foreign_keys", "busy_timeout")
        ]
    assert found == ["wal", 1, 1, 10_000]


async def test_a_transaction_rolls_back_on_an_error(tmp_path: Path) -> None:
    async with fresh_database(tmp_path) as database:

        async def fail() -> None:
            async with database.transaction() as connection:
                await connection.execute(text("UPDATE key_revision SET revision = 9"))
                raise RuntimeError("stop")

        with pytest.raises(RuntimeError, match="stop"):
            await fail()
        async with database.reading() as connection:
            assert (await connection.execute(text("SELECT revision FROM key_revision"))).scalar_one() == 0


async def test_a_reader_sees_the_state_before_a_transaction_that_runs(tmp_path: Path) -> None:
    async with fresh_database(tmp_path) as database, database.transaction() as writer:
        await writer.execute(text("UPDATE key_revision SET revision = 9"))
        with anyio.fail_after(5):
            async with database.reading() as reader:
                assert (await reader.execute(text("SELECT revision FROM key_revision"))).scalar_one() == 0


async def test_read_then_write_transactions_at_once_lose_nothing(tmp_path: Path) -> None:
    async with fresh_database(tmp_path) as database:

        async def add_one() -> None:
            async with database.transaction() as connection:
                found = (await connection.execute(text("SELECT revision FROM key_revision"))).scalar_one()
                await connection.execute(text("UPDATE key_revision SET revision = :next"), {"next": found + 1})

        async with anyio.create_task_group() as group:
            for _ in range(10):
                group.start_soon(add_one)
        async with database.reading() as connection:
            assert (await connection.execute(text("SELECT revision FROM key_revision"))).scalar_one() == 10


async def test_a_database_that_cannot_be_opened_is_unavailable(tmp_path: Path) -> None:
    async with absent_database(tmp_path) as database:
        with pytest.raises(StoreUnavailable, match="unable to open"):
            async with database.reading():
                pytest.fail("it was opened")
