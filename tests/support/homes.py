"""Every home of the counters, empty, over real servers."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import cache
from uuid import uuid4

import pytest
from sqlalchemy import text

import migrations
from governance.counters import Counters
from governance.counters.memory import MemoryCounters
from governance.counters.postgres import PostgresCounters
from governance.counters.redis import RedisCounters
from tests.support.servers import PostgresServer, RedisServer

NAMES = ("memory", "redis", "postgres")
PATIENT_S = 10.0
"""These tests are about what is counted, on a machine that may be busy; not about how fast."""


@cache
def migrated(server: PostgresServer) -> str:
    """Make one database for all homes of a session."""
    url = server.database()
    migrations.upgrade(url)
    return url


@asynccontextmanager
async def redis_home(server: RedisServer) -> AsyncGenerator[RedisCounters]:
    """Open an empty home in Redis."""
    counters = RedisCounters(server.url, uuid4().hex, quiet_s=0, silence_s=PATIENT_S)
    try:
        await counters.reach()
        await counters.remember()
        yield counters
    finally:
        await counters.close()


@asynccontextmanager
async def postgres_home(server: PostgresServer) -> AsyncGenerator[PostgresCounters]:
    """Open an empty home in PostgreSQL."""
    counters = PostgresCounters(migrated(server), silence_s=PATIENT_S)
    try:
        async with counters._database.transaction() as connection:
            await connection.execute(text("TRUNCATE counter, counter_hold, counter_booked"))
        yield counters
    finally:
        await counters.close()


@asynccontextmanager
async def home(name: str, request: pytest.FixtureRequest) -> AsyncGenerator[Counters]:
    """Open an empty home by its name."""
    if name == "redis":
        async with redis_home(request.getfixturevalue("redis_server")) as counters:
            yield counters
    elif name == "postgres":
        async with postgres_home(request.getfixturevalue("postgres_server")) as counters:
            yield counters
    else:
        yield MemoryCounters()
