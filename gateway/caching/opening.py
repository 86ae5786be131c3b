"""Open the home of stored answers that the settings name."""
# ruff: noqa: PLC0415  redis is an extra that others do without

from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from typing import Final

from cache.answers import AnswerCache
from cache.stores.memory import MemoryAnswers
from cache.stores.near import NearAnswers
from gateway.errors import CannotServe
from gateway.operations.home import Home
from gateway.settings import AnswersHome, Settings

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
