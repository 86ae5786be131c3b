"""So many calls to a store at once, and each waits only as long as the store is heard of."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Final, TypeVar

from governance.errors import StoreUnavailable

MOST_SILENCES: Final = 4
"""A call that is not answered while others are waits this many times as long as a silent store is waited for."""

_SLICES: Final = 4
_T = TypeVar("_T")


class Turns:
    """Lets calls through in their order; time spent waiting for a turn is our own crowd's and not the store's.

    When the store fails one caller, those who wait already fail with it: they would only wait for the same failure.
    """

    def __init__(self, store: str, at_once: int, silence_s: float) -> None:
        """Prepare.

        Args:
            store: What the store is called in messages.
            at_once: How many calls it may work on for us.
            silence_s: Seconds that it may answer nobody of us while a call waits, before it counts as away.
        """
        self._store = store
        self._slots = asyncio.Semaphore(at_once)
        self._silence_s = silence_s
        self._failures = 0
        self._answers = 0
        self._abandoned: set[asyncio.Task[Any]] = set()

    async def take(self, call: Callable[[], Coroutine[Any, Any, _T]]) -> _T:
        """Wait for a turn, make the call, and wait for its answer.

        Raises:
            StoreUnavailable: The store does not answer, or failed somebody else while we waited for a turn.
        """
        failures = self._failures
        async with self._slots:
            if self._failures != failures:
                raise StoreUnavailable(f"{self._store} does not answer")
            try:
                return await self._answer(call())
            except StoreUnavailable:
                self._failures += 1
                raise

    async def close(self) -> None:
        """Wait for the end of calls that nobody waited for any more."""
        for task in self._abandoned:
            task.cancel()
        if self._abandoned:
            await asyncio.wait(self._abandoned)

    async def _answer(self, call: Coroutine[Any, Any, _T]) -> _T:
        """Wait for an answer while there are any.

        Silence is counted in slices. One that took far longer than it should does not count: then it was our own loop
        that was late, and the answer may be waiting to be read. Nor does one in which another call was answered: a
        store that is only busy, or kept waiting for a processor, is not away.
        """
        task = asyncio.create_task(call)
        loop, slice_s, silent = asyncio.get_running_loop(), self._silence_s / _SLICES, 0
        try:
            for _ in range(MOST_SILENCES * _SLICES):
                began, answers = loop.time(), self._answers
                done, _ = await asyncio.wait({task}, timeout=slice_s)
                if done:
                    answer = task.result()
                    self._answers += 1
                    return answer
                if self._answers != answers:
                    silent = 0
                elif loop.time() - began < 1.5 * slice_s:
                    silent += 1
                if silent == _SLICES:
                    break
            raise StoreUnavailable(f"{self._store} does not answer within {self._silence_s * 1000:.0f} ms")
        finally:
            if not task.done():
                self._abandon(task)

    def _abandon(self, task: asyncio.Task[Any]) -> None:
        """Give a call up without waiting for its end, which a driver may put off until the store is back."""
        task.cancel()
        self._abandoned.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._abandoned.discard(task)
        if not task.cancelled():
            task.exception()  # nobody else asks for it
