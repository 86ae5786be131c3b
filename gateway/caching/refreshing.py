"""Stale-while-revalidate (RFC 5861): an old answer is given at once, and made anew beside that, once.

A refresh is an ordinary request that nobody waits for: it is admitted, held for, settled and written to the ledger
under the key that was given the old answer. One that is refused, by a budget or otherwise, simply does not happen.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

from gateway.governing.in_force import InForce
from gateway.providers.upstream import Chunk
from gateway.steps.admission import Asked
from gateway.wire.departure import Departure
from gateway.wire.headers import Facts

MOST: Final = 16
"""How many refreshes run at the same time; an old answer beyond that is made anew when it is next asked for."""

PAUSE_S: Final = 5.0
"""How long after a refresh that came to nothing the same answer is left as it is."""


class Refreshing:
    """Runs refreshes, for as long as the block of `running` lasts; before it and after it none begins."""

    def __init__(
        self,
        now: Callable[[], datetime],
        ticks: Callable[[], float],
        new_id: Callable[[], str],
        claim: Callable[[bytes], Awaitable[bool]],
        most: int = MOST,
        pause_s: float = PAUSE_S,
    ) -> None:
        """Begin with none.

        Args:
            now: An aware clock.
            ticks: A monotonic clock in seconds.
            new_id: Makes ids of requests.
            claim: Says whether it is up to this process to make an answer anew.
            most: How many may run at the same time.
            pause_s: How long an answer is left alone that could not be made anew, in seconds.
        """
        self._now = now
        self._ticks = ticks
        self._new_id = new_id
        self._claim = claim
        self._most = most
        self._pause_s = pause_s
        self._in_force: InForce | None = None
        self._running: dict[bytes, asyncio.Task[None]] = {}

    @asynccontextmanager
    async def running(self, in_force: InForce) -> AsyncGenerator[None]:
        """Run refreshes under what is in force; those that still run at the end are cut off, and settled as such."""
        self._in_force = in_force
        try:
            yield
        finally:
            self._in_force = None
            tasks = list(self._running.values())
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def begin(self, asked: Asked[Any], key: bytes) -> None:
        """Have the answer to a request made anew, unless that is being done, or too much else is."""
        in_force = self._in_force
        if in_force is not None and key not in self._running and len(self._running) < self._most:
            task = asyncio.create_task(self._refresh(in_force, asked, key), name="refresh")
            self._running[key] = task
            task.add_done_callback(lambda _: self._running.pop(key))

    async def _refresh(self, in_force: InForce, asked: Asked[Any], key: bytes) -> None:
        if not await self._claim(key):
            return
        controls = replace(asked.controls, cache_control="no-cache", idempotency_key=None)
        again = replace(
            asked,
            request_id=self._new_id(),
            at=self._now(),
            tick=self._ticks(),
            controls=controls,
            stream=False,
        )
        try:
            with in_force.governing() as governed:
                if asked.endpoint == "embeddings":
                    await governed.embeddings.answer(again)
                else:
                    await governed.chat.answer(again, _Unheard())
        except Exception:  # noqa: BLE001  the ledger and the log have it; the old answer stays as long as it may
            await asyncio.sleep(self._pause_s)


class _Unheard:
    """A reply that goes nowhere: what counts is that the answer is kept."""

    def __init__(self) -> None:
        self.departure = Departure(_never)
        self.spoken = False

    async def begin(self, facts: Facts) -> None:
        """Say nothing."""

    async def piece(self, chunk: Chunk) -> None:
        """Say nothing."""

    async def told(self, completion: dict[str, Any]) -> None:
        """Say nothing."""

    async def finish(self, completion: dict[str, Any], facts: Facts) -> None:
        """Say nothing."""


async def _never() -> dict[str, Any]:
    await asyncio.Event().wait()
    return {}
