"""Open the home of stored answers that the settings name."""

from collections.abc import Callable
from contextlib import AsyncExitStack

from cache.answers import AnswerCache
from cache.stores.memory import MemoryAnswers
from gateway.settings import Settings

MEMORY_BYTES = 64 * 2**20


def open_answers(settings: Settings, clock: Callable[[], float], stack: AsyncExitStack) -> AnswerCache:
    """Open the cache of exact answers; it is closed with the stack. `clock` counts seconds since 1970."""
    del settings
    answers = AnswerCache(MemoryAnswers(MEMORY_BYTES, clock), clock)
    stack.push_async_callback(answers.close)
    return answers
