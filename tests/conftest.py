"""What every test of this repository shares."""

from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.support import databases, servers

# Any call may take a second on a busy machine, and a first call into torch on any.
settings.register_profile("unhurried", settings(), deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("unhurried")


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """Run async tests on asyncio, the loop the gateway runs on."""
    return "asyncio"


@pytest.fixture(scope="session")
def redis_server() -> Generator[servers.RedisServer]:
    """Run one Redis for the whole session; who stops or kills a server starts one of its own."""
    with servers.redis_server() as server:
        yield server


@pytest.fixture(scope="session")
def vector_redis_server() -> Generator[servers.RedisServer]:
    """Run one Redis that has vector sets for the whole session."""
    with servers.redis_server(program=servers.vector_redis()) as server:
        yield server


@pytest.fixture(scope="session")
def postgres_server() -> Generator[servers.PostgresServer]:
    """Run one PostgreSQL for the whole session; each user makes a database of its own."""
    with servers.postgres_server() as server:
        yield server


@pytest.fixture(params=["sqlite", "postgres"])
def any_database(request: pytest.FixtureRequest, tmp_path: Path) -> None:
    """Let the databases of a test be SQLite's, and then PostgreSQL's."""
    if request.param == "postgres":
        databases.move_to_postgres(tmp_path, request.getfixturevalue("postgres_server"))
