"""A bounded queue of texts before one worker, which takes what waits together.

Nobody waits long: who would wait too long is refused at once, by how much waits and how fast it went of late, and who
has waited too long nevertheless is let go. An embedding serves only to save a call, so a late one is worth nothing.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from cache.errors import EmbeddingBusy, EmbeddingUnavailable

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

T = TypeVar("T")

_NEWEST = 0.2
"""How much the newest batch counts in the pace."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What an embedding takes on.

    Attributes:
        waiting: The most texts that wait for the worker.
        batch: The most texts it takes at a time; a larger request goes alone.
        patience_s: The longest that a request waits for its vectors, in seconds; infinite for work that has time.
    """

    waiting: int = 256
    batch: int = 8
    patience_s: float = 0.25


@dataclass(frozen=True, slots=True)
class _Job(Generic[T]):
    texts: tuple[str, ...]
    done: asyncio.Future[Sequence[T]]


@dataclass(slots=True)
class _Pace:
    """How fast texts are computed, by the latest batches."""

    text_s: float = 0.0
    _texts: int = 0
    _began: float = 0.0

    def begin(self, texts: int, now: float) -> None:
        self._texts, self._began = texts, now

    def end(self, now: float) -> None:
        self.text_s += _NEWEST * ((now - self._began) / self._texts - self.text_s)
        self._texts = 0

    def wait_s(self, ahead: int, now: float) -> float:
        """Return how long a text would wait for its turn behind so many, and behind the batch that is computed.

        A batch that takes longer than it should is taken to need as long again.
        """
        if not self._texts:
            return ahead * self.text_s
        gone = now - self._began
        return ahead * self.text_s + max(self._texts * self.text_s - gone, gone)


class Batches(Generic[T]):
    """Requests of some texts each, computed a batch at a time.

    Args:
        compute: Returns one result for each text; awaited on the event loop, never twice at a time. What it raises is
            what every request of the batch ends with.
        limits: How much may wait, and how long.
        clock: Seconds that only go forward.
    """

    def __init__(
        self,
        compute: Callable[[Sequence[str]], Awaitable[Sequence[T]]],
        limits: Limits,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._compute = compute
        self._limits = limits
        self._clock = clock
        self._waiting: deque[_Job[T]] = deque()
        self._texts = 0
        self._pace = _Pace()
        self._worker: asyncio.Task[None] | None = None
        self._is_closed = False

    async def run(self, texts: Sequence[str]) -> Sequence[T]:
        """Return a result for each text.

        Raises:
            EmbeddingBusy: Too many wait, or the results took too long.
            EmbeddingUnavailable: It is closed; or what `compute` raised.
        """
        if self._is_closed:
            raise EmbeddingUnavailable("it is closed")
        if not texts:
            return ()
        if self._texts + len(texts) > self._limits.waiting:
            raise EmbeddingBusy("too many texts wait")
        if self._pace.wait_s(self._texts, self._clock()) > self._limits.patience_s:
            raise EmbeddingBusy("the vectors would take too long")
        job: _Job[T] = _Job(tuple(texts), asyncio.get_running_loop().create_future())
        self._waiting.append(job)
        self._texts += len(job.texts)
        if self._worker is None:
            self._worker = asyncio.create_task(self._work())
        try:
            patience_s = self._limits.patience_s
            async with asyncio.timeout(patience_s if patience_s < math.inf else None):
                return await job.done
        except TimeoutError:
            raise EmbeddingBusy("the vectors took too long") from None

    async def close(self) -> None:
        """End every request that waits, and wait for the worker to let go."""
        self._is_closed = True
        if self._worker is not None:
            self._worker.cancel()
            await asyncio.gather(self._worker, return_exceptions=True)
        for job in self._waiting:
            _fail(job, EmbeddingUnavailable("it is closed"))
        self._waiting.clear()
        self._texts = 0

    async def _work(self) -> None:
        while self._waiting:
            if batch := self._take():
                await self._serve(batch)
        self._worker = None

    def _take(self) -> list[_Job[T]]:
        """Take the oldest requests that fit in a batch, without those whose callers have left."""
        batch, size = list[_Job[T]](), 0
        while self._waiting and (not batch or size + len(self._waiting[0].texts) <= self._limits.batch):
            job = self._waiting.popleft()
            self._texts -= len(job.texts)
            if not job.done.done():
                batch.append(job)
                size += len(job.texts)
        return batch

    async def _serve(self, batch: Sequence[_Job[T]]) -> None:
        texts = [text for job in batch for text in job.texts]
        self._pace.begin(len(texts), self._clock())
        try:
            results = await self._compute(texts)
        except asyncio.CancelledError:
            for job in batch:
                _fail(job, EmbeddingUnavailable("it is closed"))
            raise
        except Exception as error:  # noqa: BLE001  the worker goes on; the callers hear of it
            for job in batch:
                _fail(job, error)
            return
        finally:
            self._pace.end(self._clock())
        start = 0
        for job in batch:
            if not job.done.done():
                job.done.set_result(results[start : start + len(job.texts)])
            start += len(job.texts)


def _fail(job: _Job[T], error: Exception) -> None:
    if not job.done.done():
        job.done.set_exception(error)


def readable(text: str, most: int) -> str:
    """Cut what will not be read, and replace what UTF-8 cannot say: half a surrogate pair, as JSON may hold."""
    return text[:most].encode(errors="replace").decode()
