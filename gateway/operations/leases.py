"""The rounds of the purse: end what has outlived its lease, and what dead processes left open."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Final

from governance.database import Database
from governance.purse import Purse

BACK_S: Final = 60.0
"""By how much a clock is set back that may have run ahead for long enough to make counters forget their windows."""


class Leases:
    """Looks after open holds.

    Args:
        purse: whose holds they are.
        database: the ledger's.
        teach: raises the counters to what the ledger knows.
        clock: seconds since the epoch.
    """

    def __init__(
        self, purse: Purse, database: Database, teach: Callable[[], Awaitable[None]], clock: Callable[[], float]
    ) -> None:
        self._purse = purse
        self._database = database
        self._teach = teach
        self._clock = clock
        self._latest = 0.0

    async def end(self) -> None:
        """End holds past their lease. Where the clock has been set back, its windows run again, and are taught anew."""
        now = self._clock()
        await self._purse.expire(now)
        await self._purse.bury(self._database)
        if self._latest - now > BACK_S:
            await self._teach()
        self._latest = now

    async def sweep(self) -> None:
        """End requests that other processes left open and can end no more."""
        await self._purse.sweep(self._database, datetime.fromtimestamp(self._clock(), UTC))
