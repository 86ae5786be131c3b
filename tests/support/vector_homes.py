"""Every home of vectors, empty, over a real disk and a real server."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from uuid import uuid4

import pytest

from cache.index import VectorIndex
from cache.index.disk import open_disk
from cache.index.files.records import Origin
from cache.index.memory import MemoryVectors
from cache.index.redis import RedisVectors
from tests.support.servers import RedisServer

NAMES = ("memory", "disk", "redis")
DIMENSIONS = 16
PATIENT_S = 10.0
"""These tests are about what is found, on a machine that may be busy; not about how fast."""


@asynccontextmanager
async def vector_home(
    name: str, redis: Callable[[], RedisServer], max_entries: int = 1_000
) -> AsyncGenerator[VectorIndex]:
    """Open an empty home by its name."""
    with TemporaryDirectory() as folder:
        index: VectorIndex
        origin = Origin("e", DIMENSIONS)
        if name == "disk":
            index = await open_disk(Path(folder), origin, max_entries, Random(0), pytest.fail, large=8)
        elif name == "redis":
            index = RedisVectors(redis().url, origin, max_entries, uuid4().hex, budget_s=PATIENT_S)
        else:
            index = MemoryVectors(DIMENSIONS, max_entries, Random(0), large=8)
        try:
            yield index
        finally:
            await index.close()


def vector_redis_of(request: pytest.FixtureRequest) -> Callable[[], RedisServer]:
    """Return how to get at the session's Redis that has vector sets, for who may not need it."""
    return lambda: request.getfixturevalue("vector_redis_server")
