"""What an embedding takes, and what its work does to the event loop beside it."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncGenerator, Awaitable
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from cache.embedding import Embedding

SHORT: Final = "I have been waiting for over a week, number {}. Is the card still coming?"
LONG: Final = " ".join([SHORT, *["It was sent by post, and the app says that it arrived long ago."] * 12])

_WARM_UP: Final = 5
_TICK_S: Final = 0.001


@dataclass(frozen=True, slots=True)
class Row:
    """How long something took, in milliseconds of the clock.

    Attributes:
        what: What was timed.
        median: The middle one.
        p95: What all but one in 20 stayed below.
        p99: What all but one in 100 stayed below.
    """

    what: str
    median: float
    p95: float
    p99: float


async def rows(*, texts: int, threads: int = 1) -> AsyncGenerator[Row]:
    """Measure the bundled embedding, one text after the other, and how late the event loop wakes meanwhile.

    Raises:
        EmbeddingMissing: It is not installed.
    """
    from cache.embedding.batching import Limits  # noqa: PLC0415  an extra that others do without
    from cache.embedding.opening import open_embedding  # noqa: PLC0415

    embedding = await open_embedding(threads=threads, limits=Limits(patience_s=math.inf))
    try:
        yield row("embed a text of 21 tokens", await _each(embedding, SHORT, texts))
        yield row("embed a text of 213 tokens", await _each(embedding, LONG, max(1, texts // 4)))
        yield row("event loop late, at rest", await lateness(asyncio.sleep(texts * _TICK_S)))
        yield row("event loop late, while embedding", await lateness(_each(embedding, LONG, max(1, texts // 4))))
    finally:
        await embedding.close()


async def _each(embedding: Embedding, text: str, times: int) -> list[float]:
    """Embed a text again and again, never quite the same; return the seconds of each."""
    seconds = list[float]()
    for number in range(_WARM_UP + times):
        began = perf_counter()
        await embedding.embed([text.format(number)])
        seconds.append(perf_counter() - began)
    return seconds[_WARM_UP:]


async def lateness(work: Awaitable[object]) -> list[float]:
    """Wake every millisecond until the work is done; return how late each time."""
    late = list[float]()
    task = asyncio.ensure_future(work)
    while not task.done():
        due = perf_counter() + _TICK_S
        await asyncio.sleep(_TICK_S)
        late.append(max(0.0, perf_counter() - due))
    await task
    return late


def row(what: str, seconds: list[float]) -> Row:
    """Say how seconds spread."""
    ranked = sorted(seconds) or [math.nan]

    def share(part: float) -> float:
        return ranked[min(len(ranked) - 1, int(part * len(ranked)))] * 1e3

    return Row(what, share(0.5), share(0.95), share(0.99))
