"""The ledger for a command that runs beside a gateway, or without one."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from gateway.operations.secrets import make_home
from gateway.settings import Settings
from governance.database import Database, open_database
from migrations import upgrade


@asynccontextmanager
async def open_ledger(settings: Settings) -> AsyncGenerator[Database]:
    """Open the database the gateway would use, brought up to date first.

    Raises:
        StoreUnavailable: It cannot be opened.
        CannotServe: It lies in a home that cannot be made or written.
    """
    if not settings.database_url:  # it lies in the home
        make_home(settings.home)
    await asyncio.to_thread(upgrade, settings.database)
    database = open_database(settings.database)
    try:
        yield database
    finally:
        await database.close()
