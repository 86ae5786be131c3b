"""Databases for tests: a fresh SQLite file at the newest revision."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import migrations
from governance.database import Database, open_database


@asynccontextmanager
async def fresh_database(folder: Path) -> AsyncGenerator[Database]:
    """Open a migrated database in a folder, which may hold one already, and close it afterwards."""
    url = f"sqlite:///{folder / 'sluice.db'}"
    migrations.upgrade(url)
    database = open_database(url)
    try:
        yield database
    finally:
        await database.close()
