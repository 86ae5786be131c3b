"""Work for callers who may leave: done in a few threads, and given up when nobody waits for it any more."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, TypeVar

from local_engine.errors import CallerGone, EngineStopped

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine

T = TypeVar("T")


class Workers:
    """A few threads for what would hold up the event loop.

    They are not the loop's own executor: nothing waits for them when the process is to end.

    Args:
        threads: Calls that run at the same time; others wait for their turn.
    """

    def __init__(self, threads: int) -> None:
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="worker")
        self._work: set[asyncio.Future[Any]] = set()
        self._is_closed = False

    async def run(self, call: Callable[[], T]) -> T:
        """Await a call. When this is cancelled before the call's turn came, it is never made.

        Raises:
            EngineStopped: The workers are closed, or were while the call waited or ran.
        """
        if self._is_closed:
            raise EngineStopped
        work = asyncio.wrap_future(self._pool.submit(call))
        self._work.add(work)
        try:
            await asyncio.wait({work})
        finally:
            work.cancel()
            self._work.discard(work)
        if work.cancelled():
            raise EngineStopped
        return work.result()

    def close(self) -> None:
        """End every call for those who await it; one that runs goes on unheard. Doing so twice is harmless."""
        self._is_closed = True
        for work in self._work:
            work.cancel()
        self._pool.shutdown(wait=False, cancel_futures=True)


async def unless_gone(gone: Callable[[], Awaitable[object]], work: Coroutine[object, object, T]) -> T:
    """Await `work`, and cancel it when `gone()` returns first.

    Raises:
        CallerGone: It did.
    """

    async def until_gone() -> None:
        await gone()

    tasks = (working := asyncio.create_task(work)), (watching := asyncio.create_task(until_gone()))
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise CallerGone
        return working.result()
    finally:
        working.cancel()
        watching.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
