"""Budgets for each value of a dimension: which values have spent is known only from the ledger.

It is asked once which values stand at a step already, and from then on followed request by request, whoever served
them. A PostgreSQL that several processes write may show rows out of their order, so a second, slower reading goes over
the same rows again. Only one batch is ever in memory.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Sequence
from contextlib import aclosing
from datetime import datetime
from typing import Final
from zoneinfo import ZoneInfo

from gateway.alerting.lateness import late
from governance.alerts.steps import Alert, Watch, due
from governance.attribution import UNATTRIBUTED
from governance.database import Database
from governance.ledger.reading.endings import Ending, Endings, newest
from governance.ledger.reading.spending import spent_by_value
from governance.limits import column_of, dimensions_of
from governance.windows import Window, covers

OUT_OF_ORDER: Final = 2_000
"""How many rows may be visible before one that was numbered earlier."""

Fire = Callable[[Sequence[Alert]], Awaitable[None]]
Touch = tuple[Watch, datetime]
"""The budget of a value, and when a request arrived that spent from it."""


class Values:
    """Finds the values that spend; one for each process."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._surveyed: frozenset[tuple[Watch, ZoneInfo]] = frozenset()
        self._first: Endings | None = None
        self._second: Endings | None = None
        self._second_upto = 0

    async def survey(self, watches: Sequence[Watch], at: datetime, tz: ZoneInfo, fire: Fire) -> None:
        """Fire the steps that values have reached of budgets that are new here, or on another calendar.

        Raises:
            StoreUnavailable: The database does not answer; the next survey begins anew.
        """
        if not watches:
            self._first = self._second = None
        elif self._first is None:
            # Before the survey, so that nothing falls between it and what is followed.
            place = await newest(self._database)
            self._first = Endings(self._database, place)
            self._second = Endings(self._database, max(0, place - OUT_OF_ORDER))
            self._second_upto = place
        for watch in watches:
            if (watch, tz) not in self._surveyed:
                span = watch.budget.window
                for window in filter(None, (covers(span, at, tz)[0], late(span, at, tz))):
                    await self._survey(watch, window, at, fire)
        self._surveyed = frozenset((watch, tz) for watch in watches)

    async def touched(self, watches: Sequence[Watch]) -> AsyncGenerator[set[Touch]]:
        """Find the values that spent since the last time, batch by batch.

        Raises:
            StoreUnavailable: The database does not answer.
        """
        if watches and self._first is not None:
            async for endings in self._first.follow():
                yield set(_touches(watches, endings))

    async def touched_again(self, watches: Sequence[Watch]) -> AsyncGenerator[set[Touch]]:
        """Find what `touched` has found until the last call of this, and what was not visible then.

        Raises:
            StoreUnavailable: The database does not answer.
        """
        if watches and self._first is not None and self._second is not None:
            next_upto = self._first.after
            async for endings in self._second.follow(self._second_upto):
                yield set(_touches(watches, endings))
            self._second_upto = next_upto

    async def _survey(self, watch: Watch, window: Window, at: datetime, fire: Fire) -> None:
        budget = watch.budget
        if budget.each is not None:
            async with aclosing(
                spent_by_value(self._database, budget.scope, budget.each, window, watch.lowest)
            ) as batches:
                async for batch in batches:
                    await fire([alert for value, spent in batch for alert in due(watch.of(value), window, spent, at)])


def _touches(watches: Sequence[Watch], endings: Sequence[Ending]) -> Iterator[Touch]:
    """Name the budgets that requests spent from; of the requests of one minute for one value the last is enough."""
    for watch in watches:
        within, each = dimensions_of(watch.budget.scope).items(), watch.budget.each
        column = "" if each is None else column_of(each)
        found: dict[tuple[str, datetime], datetime] = {}
        for ending in endings:
            value = ending.values.get(column)
            if value and value != UNATTRIBUTED and all(ending.values[name] == of for name, of in within):
                found[value, ending.at.replace(second=0, microsecond=0)] = ending.at
        for (value, _), at in found.items():
            yield watch.of(value), at
