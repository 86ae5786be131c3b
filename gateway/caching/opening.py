"""Open the home of stored answers that the settings name."""
# ruff: noqa: PLC0415  what belongs to an extra is imported only where it is used

import secrets
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from datetime import datetime
from functools import partial
from importlib.util import find_spec
from random import SystemRandom
from time import time
from typing import Final

from structlog.typing import FilteringBoundLogger

from cache.answers import AnswerCache
from cache.config import SemanticSection
from cache.embedding import Embedding
from cache.errors import IndexUnavailable
from cache.index import VectorIndex
from cache.semantic.lookup import SemanticCache
from cache.semantic.matching import Matching
from cache.stores.memory import MemoryAnswers
from cache.stores.near import NearAnswers
from gateway.caching.caches import Caches
from gateway.caching.lessons import Teacher
from gateway.caching.purging import Purger
from gateway.caching.recorder import Recorder
from gateway.caching.refreshing import Refreshing
from gateway.caching.semantics import OpenSemantics
from gateway.errors import CannotServe
from gateway.operations.home import Home
from gateway.settings import AnswersHome, Settings
from governance.database import Database
from governance.lookups.records import Lookups

MOST_BYTES: Final[Mapping[AnswersHome, int]] = {"memory": 64 * 2**20, "disk": 2**30, "redis": 256 * 2**20}
"""How much a home takes unless the settings say otherwise."""

NEAR_BYTES: Final = 16 * 2**20


def open_answers(settings: Settings, clock: Callable[[], float], stack: AsyncExitStack) -> AnswerCache:
    """Open the cache of exact answers; it is closed with the stack. `clock` counts seconds since 1970.

    Raises:
        CannotServe: answers are to live in a Redis, and none is named, or there is no client for it.
    """
    name = settings.answers_home
    most_bytes = settings.cache_bytes or MOST_BYTES[name]
    match name:
        case "memory":
            answers = AnswerCache(MemoryAnswers(most_bytes, clock), clock)
        case "disk":
            from cache.stores.disk import DiskAnswers

            disk = DiskAnswers(Home(settings.home).answers, most_bytes, clock)
            answers = AnswerCache(NearAnswers(MemoryAnswers(NEAR_BYTES, clock), disk, clock), clock)
        case "redis":
            if not settings.redis_url:
                raise CannotServe("SLUICE_CACHE=redis, but REDIS_URL names no Redis")
            try:
                from cache.stores.redis import RedisAnswers
            except ModuleNotFoundError as error:
                raise CannotServe(f"SLUICE_CACHE=redis needs {error.name}: pip install 'sluicegate[redis]'") from error
            far = RedisAnswers(settings.redis_url, most_bytes, clock)
            answers = AnswerCache(NearAnswers(MemoryAnswers(NEAR_BYTES, clock), far, clock), clock, fleet=far)
    stack.push_async_callback(answers.close)
    return answers


def open_caches(
    settings: Settings,
    database: Database,
    log: FilteringBoundLogger,
    stack: AsyncExitStack,
    *,
    now: Callable[[], datetime],
    ticks: Callable[[], float],
    new_id: Callable[[], str],
) -> Caches:
    """Open what answers are found in; what is learned is read when they begin to run.

    Args:
        settings: Where answers live.
        database: Where look-ups and orders to forget are.
        log: Is told what the caches cannot do.
        stack: Closes them.
        now: An aware clock.
        ticks: A monotonic clock in seconds.
        new_id: Makes ids of requests.

    Raises:
        CannotServe: as `open_answers`.
    """
    answers = open_answers(settings, time, stack)
    semantics = OpenSemantics(partial(_open_semantic, settings, answers, partial(_say, log)), SystemRandom(), log)
    recorder = Recorder(Lookups(database), secrets.token_hex(8))
    return Caches(
        answers=answers,
        refreshing=Refreshing(now, ticks, new_id, answers.flights.claim),
        semantics=semantics,
        teacher=Teacher(semantics, recorder, database, log),
        recorder=recorder,
        purger=Purger(database, answers, semantics),
        now=now,
        ticks=ticks,
        new_id=new_id,
    )


async def _open_semantic(
    settings: Settings, answers: AnswerCache, say: Callable[[str], None], section: SemanticSection
) -> SemanticCache:
    """Open the semantic cache of a policy, over vectors that live where the answers do.

    Raises:
        CacheError: what it needs is not installed, or cannot be opened.
    """
    from cache.embedding.opening import open_embedding
    from cache.judging import AnswerJudge

    embedding = await open_embedding(section.embedding)
    try:
        index = await _open_index(settings, embedding, section.max_entries, say)
    except IndexUnavailable:
        await embedding.close()
        raise
    return SemanticCache(_matching(embedding), index, answers, AnswerJudge(embedding))


def _matching(embedding: Embedding) -> Matching:
    """Compare by the verifier that comes with us, where it was trained for this embedding."""
    from cache.semantic.matching import Guarded, Verified

    if find_spec("onnxruntime"):
        from cache.embedding.minilm.embedding import MiniLMEmbedding
        from cache.verifying.verifier import open_verifier

        verifier = open_verifier()
        if isinstance(embedding, MiniLMEmbedding) and embedding.name == verifier.embedding:
            return Verified(embedding, verifier)
    return Guarded(embedding)


async def _open_index(settings: Settings, embedding: Embedding, most: int, say: Callable[[str], None]) -> VectorIndex:
    """Open the home of vectors beside that of the answers; what cannot be shared or kept is this process's own."""
    from cache.index.files.records import Origin
    from cache.index.memory import MemoryVectors

    origin = Origin(embedding.name, embedding.dimensions)
    if settings.answers_home == "disk" and settings.workers == 1:
        from cache.index.disk import open_disk

        return await open_disk(Home(settings.home).vectors, origin, most, SystemRandom(), say)
    if settings.answers_home == "redis":
        from cache.index.redis import RedisVectors

        shared = RedisVectors(settings.redis_url, origin, most)
        try:
            await shared.check()
        except IndexUnavailable as error:
            await shared.close()
            say(f"{error}; each process finds only the questions that it was asked itself")
        else:
            return shared
    return MemoryVectors(embedding.dimensions, most, SystemRandom())


def _say(log: FilteringBoundLogger, sentence: str) -> None:
    log.warning("semantic cache", reason=sentence)
