"""Databases for tests at the newest revision: a fresh SQLite file, or a PostgreSQL where a folder says so."""

import sqlite3
import threading
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import migrations
from governance.database import Database, open_database
from governance.ledger.events import Entry
from governance.ledger.writer import LedgerWriter
from tests.support.servers import PostgresServer
from tests.support.waiting import until

ELSEWHERE = "database.url"
"""The file of a folder that says where its database is, when it is not in the folder."""


@cache
def _template(server: PostgresServer) -> str:
    url = server.database()
    migrations.upgrade(url)
    return url.partition("?")[0].rpartition("/")[2]


def move_to_postgres(folder: Path, server: PostgresServer) -> None:
    """Give a folder a PostgreSQL database at the newest revision."""
    (folder / ELSEWHERE).write_text(server.database(_template(server)))


@asynccontextmanager
async def fresh_database(folder: Path) -> AsyncGenerator[Database]:
    """Open a migrated database in a folder, which may hold one already, and close it afterwards."""
    elsewhere = folder / ELSEWHERE
    url = elsewhere.read_text() if elsewhere.exists() else f"sqlite:///{folder / 'sluice.db'}"
    migrations.upgrade(url)
    database = open_database(url)
    try:
        yield database
    finally:
        await database.close()


async def write(database: Database, *entries: Entry) -> None:
    """Store entries the way a gateway does."""
    with TemporaryDirectory() as spool:
        async with LedgerWriter(database, Path(spool), linger_s=0) as writer:
            writer.append(*entries)


@contextmanager
def locked(folder: Path) -> Generator[None]:
    """Keep every writer out of the SQLite database in a folder."""
    connection = sqlite3.connect(folder / "sluice.db", isolation_level=None)
    try:
        connection.execute("BEGIN IMMEDIATE")
        yield
    finally:
        connection.close()


@asynccontextmanager
async def absent_database(folder: Path) -> AsyncGenerator[Database]:
    """Open a database in a folder that does not exist, so that every use of it fails.

    The driver answers for a failed connection from a thread of its own, and once more after that; its last word must
    come while there is a loop to hear it.
    """
    before = set(threading.enumerate())
    database = open_database(f"sqlite:///{folder / 'no such folder' / 'sluice.db'}")
    try:
        yield database
    finally:
        await database.close()
        await until(lambda: set(threading.enumerate()) <= before)
