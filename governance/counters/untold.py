"""How holds ended that their home does not know of: kept until it has been told."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from governance.counters import Draw, Home

AT_ONCE: Final = 64


@dataclass(frozen=True, slots=True)
class End:
    """How a hold ended.

    `known` tells that the home may have the hold open, with just these draws; `actuals` is None for a hold that is to
    leave no trace.
    """

    draws: tuple[Draw, ...]
    actuals: tuple[int, ...] | None
    known: bool


class Untold:
    """Ends by the names of their holds."""

    def __init__(self, home: Home) -> None:
        self.ends: dict[str, End] = {}
        self._home = home

    def doubt(self) -> None:
        """Take none of the holds to be known any more: the home has forgotten, or has another's account."""
        self.ends = {hold_id: replace(end, known=False) for hold_id, end in self.ends.items()}

    async def tell(self) -> None:
        """Tell the home.

        Raises:
            StoreUnavailable: It does not answer. What it was not told is kept.
        """
        await together([partial(self._tell_one, hold_id, end) for hold_id, end in self.ends.items()])

    async def _tell_one(self, hold_id: str, end: End) -> None:
        if end.actuals is None:
            await self._home.cancel(hold_id)
        elif end.known:
            await self._home.settle(hold_id, end.actuals)
        else:
            await self._home.book(hold_id, end.draws, end.actuals)
        if self.ends.get(hold_id) is end:
            del self.ends[hold_id]


async def together(calls: Sequence[Callable[[], Awaitable[None]]]) -> None:
    """Make calls that do not depend on each other, many at a time, so that they outrun the requests that go on.

    Raises:
        StoreUnavailable: One of them failed; those beside it have ended too.
    """
    for start in range(0, len(calls), AT_ONCE):
        ends = await asyncio.gather(*[call() for call in calls[start : start + AT_ONCE]], return_exceptions=True)
        for end in ends:
            if end is not None:
                raise end
