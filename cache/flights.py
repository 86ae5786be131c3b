"""One answer at a time: of many who ask the same at once, one makes the answer and the others wait for it.

Known as single-flight, and as the cure of the cache stampede (the dog pile). Who makes the answer leads. When a leader
fails or leaves, the next one leads and the others go on waiting. When its answer turns out to be for nobody else, each
makes its own: waiting in line would serve nobody.
"""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final, Protocol

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable
    from contextlib import AsyncExitStack

    from cache.stores import Stored

LEASE_S: Final = 10.0
"""How long another process is waited for that makes the same answer; a leader that died holds nobody up for longer."""

_FIRST_LOOK_S: Final = 0.02
_LONGEST_LOOK_S: Final = 0.25


class Fleet(Protocol):
    """Lets one process at a time lead, where several share a home of answers."""

    async def claim(self, key: bytes, seconds: float) -> bool:
        """Become the one process that makes this answer, for so long; True as well when nobody can tell."""
        ...

    async def release(self, key: bytes) -> None:
        """Let another process lead."""
        ...


@dataclass(frozen=True, slots=True)
class _Landing:
    """How a flight ended; one that `failed` is flown again by the next who wants it."""

    stored: Stored | None
    failed: bool = False


class Flight:
    """An answer in the making. It ends once; whatever is said of its end later is not heard."""

    def __init__(self, ended: Callable[[], None]) -> None:
        """Take off; `ended` is told at the end, before those who wait."""
        self._ended = ended
        self._landing: asyncio.Future[_Landing] = asyncio.get_running_loop().create_future()

    def land(self, stored: Stored | None) -> None:
        """Give the answer to all who wait; None says that it is for nobody else."""
        self._end(_Landing(stored))

    def fail(self) -> None:
        """Let the next one lead."""
        self._end(_Landing(None, failed=True))

    async def landing(self) -> _Landing:
        """Wait for its end; who waits no longer takes nothing from the others."""
        return await asyncio.shield(self._landing)

    def _end(self, landing: _Landing) -> None:
        if not self._landing.done():
            self._ended()
            self._landing.set_result(landing)


class Flights:
    """The answers that are being made in this process."""

    def __init__(
        self,
        find: Callable[[bytes], Awaitable[Stored | None]],
        fleet: Fleet | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        """Begin with none.

        Args:
            find: Looks an answer up that another process may have made.
            fleet: The other processes; None where there are none.
            sleep: Passes seconds.
        """
        self._find = find
        self._fleet = fleet
        self._sleep = sleep
        self._flights: dict[bytes, Flight] = {}

    async def join(self, key: bytes, stack: AsyncExitStack) -> Stored | Flight | None:
        """Lead, or wait for who does; for how long is the caller's business.

        Args:
            key: The fingerprint of the request.
            stack: What ends with the request: a flight that has not landed by then has failed.

        Returns:
            The answer of another; the flight, when this request is to make the answer and `land` it; or None when it
            is to make an answer for itself alone.
        """
        while True:
            flight = self._flights.get(key)
            if flight is None:
                flight = await stack.enter_async_context(self._led(key))
                found = await self._elsewhere(key, stack)
                if found is None:
                    return flight
                flight.land(found)
                return found
            landing = await flight.landing()
            if not landing.failed:
                return landing.stored

    async def claim(self, key: bytes) -> bool:
        """Say whether to make an answer that nobody waits for: True for one process in `LEASE_S` seconds."""
        return self._fleet is None or await self._fleet.claim(key, LEASE_S)

    @asynccontextmanager
    async def _led(self, key: bytes) -> AsyncGenerator[Flight]:
        flight = self._flights[key] = Flight(partial(self._flights.__delitem__, key))
        try:
            yield flight
        finally:
            flight.fail()

    async def _elsewhere(self, key: bytes, stack: AsyncExitStack) -> Stored | None:
        """Wait for the answer of another process, no longer than a lease; None when it is up to this one."""
        if self._fleet is None:
            return None
        waited, pause = 0.0, _FIRST_LOOK_S
        while not await self._fleet.claim(key, LEASE_S):
            if waited >= LEASE_S:
                return None
            await self._sleep(pause)
            waited, pause = waited + pause, min(2 * pause, _LONGEST_LOOK_S)
            found = await self._find(key)
            if found is not None:
                return found
        stack.push_async_callback(self._fleet.release, key)
        return None
