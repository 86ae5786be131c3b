"""What an exact hit costs: the look-up in each home of the answers, the cache's own part, and the whole request."""

from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import time
from typing import Final
from uuid import uuid4

from cache.stores import AnswerStore
from cache.stores.disk import DiskAnswers
from cache.stores.memory import MemoryAnswers
from cache.stores.near import FarAnswers, NearAnswers
from gateway.bench.hits import Hits, open_hits
from gateway.bench.rounds import Figure, Work, measure
from governance.errors import StoreUnfit

_ROOM: Final = 64 * 2**20
_WARM_UP: Final = 50
_PATIENT_S: Final = 10.0
"""How long Redis may take: a gateway would not wait so long, but here a busy machine must not end the bench."""

Opened = Callable[[], AbstractAsyncContextManager[AnswerStore]]


@dataclass(frozen=True, slots=True)
class Row:
    """What one hit costs in one setting.

    Attributes:
        part: `look-up` (fingerprint, partition, store), `cache` (and the ledger's record, and headers) or `whole`.
        home: Where the answers are; with `near`, behind a little memory.
        figure: What it takes of this process's CPU.
    """

    part: str
    home: str
    figure: Figure


async def rows(*, rounds: int, requests: int, redis_url: str = "") -> AsyncGenerator[Row]:
    """Measure every part in memory, and the look-up in the other homes, with and without memory in front of them."""
    for part in ("look-up", "cache", "whole"):
        yield Row(part, "memory", await _figure(_memory, part, rounds, requests))
    far = {"disk": _disk} | ({"redis": partial(_redis, redis_url)} if redis_url else {})
    for name, opened in far.items():
        yield Row("look-up", name, await _figure(opened, "look-up", rounds, requests))
        yield Row("look-up", f"near, {name}", await _figure(partial(_near, opened), "look-up", rounds, requests))


async def _figure(opened: Opened, part: str, rounds: int, requests: int) -> Figure:
    async with opened() as store:
        return await measure(partial(_round, store, part), rounds=rounds, warm_up=_WARM_UP, size=requests)


@asynccontextmanager
async def _round(store: AnswerStore, part: str, _: int) -> AsyncGenerator[Work]:
    async with open_hits(store) as hits:
        yield _work(hits, part)


def _work(hits: Hits, part: str) -> Work:
    if part == "whole":
        return hits.whole
    return partial(hits.look_up if part == "look-up" else hits.take, hits.prepared())


@asynccontextmanager
async def _memory() -> AsyncGenerator[AnswerStore]:
    yield MemoryAnswers(_ROOM, time)


@asynccontextmanager
async def _disk() -> AsyncGenerator[FarAnswers]:
    with TemporaryDirectory(prefix="sluice-bench-") as name:
        store = DiskAnswers(Path(name) / "answers.db", _ROOM, time)
        try:
            yield store
        finally:
            await store.close()


@asynccontextmanager
async def _redis(url: str) -> AsyncGenerator[FarAnswers]:
    """Open a home of our own in a Redis, and take away all that it leaves there."""
    try:
        from cache.stores.redis import RedisAnswers  # noqa: PLC0415  an extra that others do without
    except ModuleNotFoundError as error:
        raise StoreUnfit(f"REDIS_URL needs {error.name}: pip install 'sluicegate[redis]'") from error
    store = RedisAnswers(url, _ROOM, time, f"bench-{uuid4().hex}", budget_s=_PATIENT_S)
    try:
        yield store
    finally:
        await store.erase()
        await store.close()


@asynccontextmanager
async def _near(opened: Callable[[], AbstractAsyncContextManager[FarAnswers]]) -> AsyncGenerator[AnswerStore]:
    async with opened() as home:
        yield NearAnswers(MemoryAnswers(_ROOM, time), home, time)
