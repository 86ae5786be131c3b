"""Embeddings for many callers at once, in a thread of their own.

The thread computes one slice of texts after another. A slice is filled from all who wait, in turn: whoever asks for
much gives way after each slice to whoever asks for little. What a caller asked for who has left is not computed, but
for the slice that runs.
"""

from __future__ import annotations

import asyncio
import math
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

import numpy as np

from local_engine.errors import ContextTooLong, EngineStopped, Overloaded
from local_engine.measure.throughput import Throughput, Work

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from local_engine.measure.machine import Machine
    from local_engine.measure.probe import Speeds

_SLICE = 64
_MOST_WAITING = 4096
# A longer text is too long, whatever it holds: only its beginning is counted.
_MOST_CHARACTERS = 1 << 14
_MAX_RETRY_S = 60


class Encoder(Protocol):
    """A model that turns texts into vectors."""

    @property
    def dimensions(self) -> int:
        """Length of a vector."""
        ...

    @property
    def limit(self) -> int:
        """Tokens that a text may have, its special tokens included."""
        ...

    def count(self, texts: Sequence[str]) -> list[int]:
        """Return the tokens of each text, none cut off."""
        ...

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return unit vectors [texts, dimensions]."""
        ...


@dataclass(frozen=True, slots=True)
class Embeddings:
    """Vectors [texts, dimensions] in the order of the texts, and the tokens that were read for them."""

    vectors: NDArray[np.float32]
    tokens: int


@dataclass(slots=True, eq=False)
class _Waiting:
    """A request: its texts, what is computed of it, and how many of the texts were taken for a slice."""

    texts: Sequence[str]
    answer: asyncio.Future[Embeddings]
    vectors: list[NDArray[np.float32]] = field(default_factory=list["NDArray[np.float32]"])
    tokens: int = 0
    taken: int = 0

    @property
    def remaining(self) -> int:
        return 0 if self.answer.done() else len(self.texts) - self.taken


@dataclass(frozen=True, slots=True)
class _Part:
    """A request's texts in one slice."""

    waiting: _Waiting
    texts: Sequence[str]


class Embedder:
    """Serves embeddings on one event loop.

    Args:
        name: The name the model answers to.
        encoder: The model; only this embedder's thread touches it.
        probed: How fast it reads as long as nothing else is known of it.
        machine: What it shares with other models; its clock also tells a stall.
        stall_after_s: Seconds for one slice after which `is_healthy` is false.
    """

    def __init__(self, name: str, encoder: Encoder, probed: Speeds, machine: Machine, *, stall_after_s: float) -> None:
        self.name = name
        self.dimensions = encoder.dimensions
        self.limit = encoder.limit
        self.throughput = Throughput.probed(probed)
        self._encoder = encoder
        self._stall_after_s = stall_after_s
        self._machine = machine
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="embedding")
        self._waiting: deque[_Waiting] = deque()
        self._slice: list[_Part] = []
        self._pump: asyncio.Task[None] | None = None
        self._is_closed = False
        self._progress_s = self._machine.clock()
        self._pace_s = 1.0

    @property
    def speeds(self) -> Speeds:
        """How fast it reads of late."""
        return self.throughput.speeds

    @property
    def is_healthy(self) -> bool:
        """Whether slices get done, if there are any."""
        return not self._is_closed and (
            not self._slice or self._machine.clock() - self._progress_s < self._stall_after_s
        )

    async def embed(self, texts: Sequence[str]) -> Embeddings:
        """Return the vectors of texts.

        Raises:
            ContextTooLong: One of them is longer than the model reads; nothing is cut off in silence.
            Overloaded: Too many texts wait already.
            EngineStopped: The embedder is closed.
        """
        if self._is_closed:
            raise EngineStopped
        ahead = sum(each.remaining for each in self._waiting)
        if ahead and ahead + len(texts) > _MOST_WAITING:
            raise Overloaded(min(_MAX_RETRY_S, math.ceil(self._pace_s * ahead / _SLICE)))
        waiting = _Waiting(texts, asyncio.get_running_loop().create_future())
        self._waiting.append(waiting)
        if self._pump is None or self._pump.done():
            self._pump = asyncio.create_task(self._serve_waiting())
        return await waiting.answer

    async def close(self, grace_s: float) -> None:
        """Refuse what waits and give the slice that runs `grace_s` seconds. Doing so twice is harmless."""
        self._is_closed = True
        while self._waiting:
            _refuse(self._waiting.popleft())
        if self._pump is not None:
            await asyncio.wait({self._pump}, timeout=grace_s)
            self._pump.cancel()  # does nothing to one that is done
        for part in self._slice:
            _refuse(part.waiting)
        self._thread.shutdown(wait=False)

    async def _serve_waiting(self) -> None:
        loop = asyncio.get_running_loop()
        while parts := self._next_slice():
            self._slice, began_s = parts, self._machine.clock()
            self._progress_s = began_s
            try:
                counts, vectors = await loop.run_in_executor(
                    self._thread, self._compute, [each.texts for each in parts]
                )
            except Exception as error:  # noqa: BLE001  handed to those who asked
                for part in parts:
                    if not part.waiting.answer.done():
                        part.waiting.answer.set_exception(error)
            else:
                self._hand_out(parts, counts, vectors)
            self._pace_s = 0.8 * self._pace_s + 0.2 * (self._machine.clock() - began_s)
            self._slice = []

    def _next_slice(self) -> list[_Part]:
        """Take texts from those who wait, in turn; who has more to come goes to the end of the queue."""
        parts: list[_Part] = []
        room = _SLICE
        unfinished: list[_Waiting] = []
        while self._waiting and room:
            waiting = self._waiting.popleft()
            count = min(waiting.remaining, room)
            if count:
                parts.append(_Part(waiting, waiting.texts[waiting.taken : waiting.taken + count]))
                waiting.taken += count
                room -= count
            if waiting.remaining:
                unfinished.append(waiting)
        self._waiting.extend(unfinished)
        return parts

    def _compute(self, parts: Sequence[Sequence[str]]) -> tuple[list[list[int]], NDArray[np.float32]]:
        """Count all texts and encode those of the parts that fit; runs in the thread."""
        with self._machine.at_work() as turn:
            counts = [self._count(texts) for texts in parts]
            fitting = [each for each in zip(parts, counts, strict=True) if max(each[1]) <= self.limit]
            texts = [text for part, _ in fitting for text in part]
            vectors = self._encoder.encode(texts) if texts else np.empty((0, self.dimensions), np.float32)
        if fitting:
            read = sum(sum(tokens) for _, tokens in fitting)
            self.throughput = self.throughput.after(Work(read), turn.seconds)
        return counts, vectors

    def _count(self, texts: Sequence[str]) -> list[int]:
        counts = self._encoder.count([text[:_MOST_CHARACTERS] for text in texts])
        return [
            count if len(text) <= _MOST_CHARACTERS else max(count, self.limit + 1)
            for text, count in zip(texts, counts, strict=True)
        ]

    def _hand_out(self, parts: Sequence[_Part], counts: Sequence[list[int]], vectors: NDArray[np.float32]) -> None:
        start = 0
        for part, tokens in zip(parts, counts, strict=True):
            waiting, fits = part.waiting, max(tokens) <= self.limit
            end = start + len(tokens) if fits else start
            if not waiting.answer.done():  # else its caller has gone
                waiting.vectors.append(vectors[start:end])
                waiting.tokens += sum(tokens)
                if not fits:
                    is_cut = any(len(text) > _MOST_CHARACTERS for text in part.texts)
                    error = ContextTooLong(max(tokens), 0, self.limit, "input", is_at_least=is_cut)
                    waiting.answer.set_exception(error)
                elif sum(map(len, waiting.vectors)) == len(waiting.texts):
                    waiting.answer.set_result(Embeddings(np.concatenate(waiting.vectors), waiting.tokens))
            start = end


def _refuse(waiting: _Waiting) -> None:
    if not waiting.answer.done():
        waiting.answer.set_exception(EngineStopped())
