"""The database: one address, two drivers, transactions that say what went wrong in governance's own words.

SQLite serves one machine and PostgreSQL many. Readers and the writer do not wait for each other on SQLite (WAL), and a
transaction that writes says so at its start, so that it never fails half-way on a lock it could not upgrade.
"""

import os
import re
import sqlite3
from collections.abc import AsyncGenerator, Callable, Generator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from time import monotonic, sleep
from typing import Any, Final

from sqlalchemy import URL, Connection, event, func, make_url, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine.interfaces import DBAPIConnection, DBAPICursor
from sqlalchemy.exc import ArgumentError, DataError, DBAPIError, IntegrityError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine
from sqlalchemy.orm import DeclarativeBase
from sqlalchemy.pool import ConnectionPoolEntry

from governance.errors import StoreUnavailable

BUSY_MS: Final = 10_000
_WRITES: Final = "sluice_writes"
_ASYNC_DRIVERS: Final = {"sqlite": "sqlite+aiosqlite", "postgresql": "postgresql+psycopg"}
_SYNC_DRIVERS: Final = {"sqlite": "sqlite", "postgresql": "postgresql+psycopg"}

Insertion = sqlite.Insert | postgresql.Insert
INSERTS: Final[Mapping[str, Callable[[Any], Insertion]]] = {"sqlite": sqlite.insert, "postgresql": postgresql.insert}
"""Both can say what becomes of a row that is there already, which SQL itself cannot."""


class Database:
    """An open database. Made by `open_database`; connects when first used."""

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine
        self._file: tuple[int, int] | None = None

    @property
    def dialect(self) -> str:
        """`sqlite` or `postgresql`."""
        return self._engine.dialect.name

    @asynccontextmanager
    async def transaction(self) -> AsyncGenerator[AsyncConnection]:
        """Open a transaction that may write; it commits at the end of the block and rolls back on any error.

        Raises:
            StoreUnavailable: The database does not answer, is locked or has no tables.
        """
        with store_errors():
            async with self._engine.connect() as connection:
                await connection.execution_options(**{_WRITES: True})
                async with connection.begin():
                    yield connection

    @asynccontextmanager
    async def turn(self, lock: int) -> AsyncGenerator[AsyncConnection]:
        """Open a transaction beside which no other of the same `lock` runs, in any process. SQLite has one writer.

        Raises:
            StoreUnavailable: As `transaction` does.
        """
        async with self.transaction() as connection:
            if self.dialect == "postgresql":
                await connection.execute(select(func.pg_advisory_xact_lock(lock)))
            yield connection

    def insert(self, into: type[DeclarativeBase]) -> Insertion:
        """Begin to insert rows that may be there already, in the database's own words."""
        return INSERTS[self.dialect](into)

    @asynccontextmanager
    async def reading(self) -> AsyncGenerator[AsyncConnection]:
        """Open a transaction that only reads, all of it one moment's state on SQLite.

        Raises:
            StoreUnavailable: The database does not answer or has no tables.
        """
        with store_errors():
            async with self._engine.connect() as connection:
                yield connection

    async def check(self) -> None:
        """Ask whether the database is there.

        Raises:
            StoreUnavailable: It is not.
        """
        self.check_file()
        async with self.reading() as connection:
            await connection.exec_driver_sql("SELECT 1")

    def check_file(self) -> None:
        """Look whether the file of a SQLite database is the one that it was at the first look.

        A file that was deleted or replaced can still be written by those who have it open, and nobody would ever read
        what they write.

        Raises:
            StoreUnavailable: It is gone, or another one.
        """
        if self.dialect != "sqlite":
            return
        try:
            found = os.stat(self._engine.url.database or "")  # noqa: PTH116  a microsecond instead of ten
        except OSError as error:
            raise StoreUnavailable("the database's file is gone") from error
        self._file = self._file or (found.st_dev, found.st_ino)
        if self._file != (found.st_dev, found.st_ino):
            raise StoreUnavailable("the database's file is not the one that was opened")

    async def close(self) -> None:
        """Close every connection."""
        await self._engine.dispose()


def open_database(url: str, *, connections: int = 5) -> Database:
    """Open the database at `sqlite:///<path>` or `postgresql://<user>:<password>@<host>/<name>`.

    Args:
        url: The address.
        connections: How many are kept open when nobody uses them; a few more are opened in a rush.

    Raises:
        StoreUnavailable: The address is neither, or its driver is not installed.
    """
    address = driver_url(url, asynchronous=True)
    try:
        postgres = address.get_backend_name() == "postgresql"
        engine = create_async_engine(address, pool_pre_ping=postgres, pool_size=connections)
    except ModuleNotFoundError as error:
        raise missing_driver(error) from error
    if engine.dialect.name == "sqlite":
        prepare_sqlite(engine.sync_engine)
    return Database(engine)


def driver_url(url: str, *, asynchronous: bool) -> URL:
    """Name the driver in a database's address.

    Raises:
        StoreUnavailable: The address is for neither SQLite nor PostgreSQL, or for a database that no two share.
    """
    try:
        address = make_url(url)
    except (ArgumentError, ValueError):  # ValueError: a port that is no number
        raise StoreUnavailable("DATABASE_URL is not a URL: write postgresql://… or sqlite:///…") from None
    backend = "postgresql" if address.drivername == "postgres" else address.drivername.partition("+")[0]
    drivers = _ASYNC_DRIVERS if asynchronous else _SYNC_DRIVERS
    if backend not in drivers:
        raise StoreUnavailable(f"{backend} is neither sqlite nor postgresql")
    if backend == "sqlite" and _in_memory(address):
        raise StoreUnavailable("SQLite in memory is a new, empty database for every connection: name a file")
    return address.set(drivername=drivers[backend])


def missing_driver(error: ModuleNotFoundError) -> StoreUnavailable:
    """Return what to raise when a driver is not installed, with the way to get it."""
    return StoreUnavailable(f"the driver {error.name} is not installed: pip install -e '.[postgres]' in the checkout")


def prepare_sqlite(engine: Any) -> None:
    """Set up each SQLite connection, and let transactions begin when and how we say.

    The driver would begin one at the first INSERT, without telling, and not around DDL at all. A new file is its
    owner's alone, and so is what SQLite keeps beside it, which takes on its mode.
    """
    _make_private(engine.url)

    def connected(connection: DBAPIConnection, _record: ConnectionPoolEntry) -> None:
        connection.isolation_level = None
        cursor = connection.cursor()
        cursor.execute(f"PRAGMA busy_timeout = {BUSY_MS}")
        _write_ahead(cursor)
        cursor.execute("PRAGMA synchronous = NORMAL")
        cursor.execute("PRAGMA foreign_keys = ON")
        cursor.close()

    def begun(connection: Connection) -> None:
        writes = connection.get_execution_options().get(_WRITES, False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    event.listen(engine, "connect", connected)
    event.listen(engine, "begin", begun)


def _write_ahead(cursor: DBAPICursor) -> None:
    """Turn on the write-ahead log. Of first connections that do so at once SQLite lets none wait for the other."""
    until = monotonic() + BUSY_MS / 1000
    while True:
        try:
            cursor.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or monotonic() >= until:
                raise
            sleep(0.01)
        else:
            return


def _make_private(address: URL) -> None:
    """Make the file before SQLite does; one that cannot be made is the first connection's to tell.

    A file that is there is not touched: to close it would end the locks of every connection this process has to it.
    """
    if address.database and "uri" not in address.query:
        with suppress(OSError):
            os.close(os.open(address.database, os.O_RDONLY | os.O_CREAT | os.O_EXCL, 0o600))


def _in_memory(address: URL) -> bool:
    name = address.database or ":memory:"
    return ":memory:" in name or "mode=memory" in name or address.query.get("mode") == "memory"


def writing(connection: Connection) -> Connection:
    """Mark a synchronous connection as one whose transactions write."""
    return connection.execution_options(**{_WRITES: True})


@contextmanager
def store_errors() -> Generator[None]:
    """Raise `StoreUnavailable` for whatever a database says, unless it finds fault with what it was given."""
    try:
        yield
    except DBAPIError as error:
        if isinstance(error, IntegrityError | DataError) and not error.connection_invalidated:
            raise
        raise StoreUnavailable(_reason(error)) from error
    except (PoolTimeout, OSError) as error:
        raise StoreUnavailable(type(error).__name__) from error


def _reason(error: DBAPIError) -> str:
    """The driver's own words only from SQLite: PostgreSQL's name hosts and users."""
    cause = error.orig
    if isinstance(cause, sqlite3.Error):
        return str(cause)
    code = getattr(cause, "sqlstate", None)
    if code:
        return _CLASSES.get(code[:2], f"SQLSTATE {code}")
    # A refused connection has no SQLSTATE: libpq hands on the server's words alone.
    said = str(cause)
    return next((meaning for words, meaning in _REFUSALS.items() if re.search(words, said)), "cannot connect")


_CLASSES: Final = {
    "08": "the connection was lost",
    "25": "it may only be read",
    "28": "authentication failed",
    "3D": "no such database",
    "40": "it was busy with a change that conflicts",
    "53": "it is out of memory, disk or connections",
    "57": "it is shutting down",
    "58": "its disk failed",
}
"""SQLSTATE classes, as PostgreSQL's manual lists them in its appendix A, in plain words."""

_REFUSALS: Final = {
    r"authentication failed|no password supplied|role .* does not exist|no pg_hba": "authentication failed",
    r"database .* does not exist": "no such database",
    r"too many|remaining connection slots": "it has no connection left",
    r"starting up|shutting down": "it is starting or shutting down",
    r"resolve host|translate host name": "cannot connect: its host has no address",
    r"refused": "cannot connect: nobody listens there",
    r"time": "cannot connect: no answer in time",
}
