"""Every home of stored answers, empty, over a real disk and a real server."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from uuid import uuid4

import pytest

from cache.stores import AnswerStore
from cache.stores.disk import DiskAnswers
from cache.stores.memory import MemoryAnswers
from cache.stores.near import NearAnswers
from cache.stores.redis import RedisAnswers
from tests.support.servers import RedisServer

NAMES = ("memory", "disk", "redis", "near")
ROOM = 1_000_000
PATIENT_S = 10.0
"""These tests are about what is kept, on a machine that may be busy; not about how fast."""


@asynccontextmanager
async def answer_home(
    name: str, clock: Callable[[], float], folder: Path, redis: Callable[[], RedisServer], room: int = ROOM
) -> AsyncGenerator[AnswerStore]:
    """Open an empty home by its name; `near` is memory before a disk."""
    store: AnswerStore
    if name == "memory":
        store = MemoryAnswers(room, clock)
    elif name == "redis":
        store = RedisAnswers(redis().url, room, clock, uuid4().hex, budget_s=PATIENT_S)
    else:
        store = home = DiskAnswers(folder / f"{uuid4().hex}.db", room, clock)
        if name == "near":
            store = NearAnswers(MemoryAnswers(room, clock), home, clock)
    try:
        yield store
    finally:
        await store.close()


def redis_of(request: pytest.FixtureRequest) -> Callable[[], RedisServer]:
    """Return how to get at the session's Redis, for who may not need it."""
    return lambda: request.getfixturevalue("redis_server")
