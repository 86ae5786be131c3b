"""So many calls to a store at once, and no more."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from governance.errors import StoreUnavailable


class Turns:
    """Lets callers through in their order; time spent waiting for a turn is our own crowd's and not the store's.

    When the store fails one caller, those who wait already fail with it: they would only wait for the same failure.
    """

    def __init__(self, at_once: int) -> None:
        self._slots = asyncio.Semaphore(at_once)
        self._failures = 0

    @asynccontextmanager
    async def turn(self) -> AsyncGenerator[None]:
        """Wait for a turn and hold it for the length of the block.

        Raises:
            StoreUnavailable: The store failed somebody else meanwhile.
        """
        failures = self._failures
        async with self._slots:
            if self._failures != failures:
                raise StoreUnavailable("it does not answer")
            try:
                yield
            except StoreUnavailable:
                self._failures += 1
                raise
