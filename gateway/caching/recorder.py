"""Write down what the caches did, a little later and many at a time, and read what other processes wrote."""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Final

from governance.lookups.records import Lookup, Lookups

MOST_WAITING: Final = 20_000
"""Look-ups that wait for a database that is away; of more, the oldest are forgotten: they are lessons, not money."""

REMEMBERED: Final = 50_000
"""Look-ups on record that a process learns from when it starts."""

_AT_ONCE: Final = 1_000


class Recorder:
    """This process's pen and its eye on the record. `writer` names the process, so that it skips its own words."""

    def __init__(self, lookups: Lookups, writer: str) -> None:
        self.lookups = lookups
        self.writer = writer
        self._waiting: deque[Lookup] = deque(maxlen=MOST_WAITING)
        self._writing = asyncio.Lock()
        self._read = 0

    def note(self, lookup: Lookup) -> None:
        """Have a look-up written down within a second or so."""
        self._waiting.append(lookup)

    async def write(self) -> None:
        """Write down what waits; at the end all that was noted before is on record, whoever wrote it.

        Raises:
            StoreUnavailable: The database does not answer; what waits goes on waiting.
        """
        async with self._writing:
            while self._waiting:
                part = [self._waiting.popleft() for _ in range(min(len(self._waiting), _AT_ONCE))]
                try:
                    await self.lookups.write(part)
                except BaseException:  # a write that is cut off at the end of a process as well
                    room = MOST_WAITING - len(self._waiting)
                    self._waiting.extendleft(reversed(part[max(0, len(part) - room) :]))
                    raise

    async def begin(self, learn: Callable[[Lookup], object]) -> None:
        """Read the newest rows that teach, whoever wrote them.

        Raises:
            StoreUnavailable: The database does not answer.
        """
        self._read = await self.lookups.start_of(REMEMBERED)
        await self._follow(learn, mine_too=True)

    async def follow(self, learn: Callable[[Lookup], object]) -> None:
        """Read what others wrote since the last time.

        Raises:
            StoreUnavailable: The database does not answer.
        """
        await self._follow(learn, mine_too=False)

    async def _follow(self, learn: Callable[[Lookup], object], *, mine_too: bool) -> None:
        newest = await self.lookups.newest()
        while self._read < newest:
            found = await self.lookups.after(self._read, _AT_ONCE)
            for lookup in found:
                if mine_too or lookup.writer != self.writer:
                    learn(lookup)
            # Rows that teach nothing are passed over once, not again at every look.
            self._read = found[-1].n if len(found) == _AT_ONCE else max([newest, *(lookup.n for lookup in found)])
