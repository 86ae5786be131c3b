"""What each past day has cost a scope, remembered until the day is over: yesterday does not change."""

from collections import OrderedDict
from datetime import date, datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from governance.database import Database
from governance.ledger.reading.spending import spent_over
from governance.limits.forecast import WEEKS
from governance.money import Nanodollars
from governance.windows import WindowKind, window

Days = tuple[tuple[date, Nanodollars], ...]

_MOST_SCOPES: Final = 1_000


class DailySpend:
    """The days of the last weeks before today, of each scope that is asked about."""

    def __init__(self, database: Database, tz: ZoneInfo) -> None:
        """Read from a database, on the calendar of a zone."""
        self._database = database
        self._tz = tz
        self._known: OrderedDict[tuple[str, datetime], Days] = OrderedDict()

    async def days(self, scope: str, at: datetime) -> Days:
        """Return each day's cost from the first that had one, the oldest first; today is not among them.

        Raises:
            StoreUnavailable: The database does not answer.
        """
        today = window(WindowKind.DAY, at, self._tz)
        name = (scope, today.start)
        if name not in self._known:
            self._known[name] = await self._read(scope, today.start)
            if len(self._known) > _MOST_SCOPES:
                self._known.popitem(last=False)
        return self._known[name]

    async def _read(self, scope: str, today: datetime) -> Days:
        cuts = [today]
        for _ in range(WEEKS * 7):
            cuts.append(window(WindowKind.DAY, cuts[-1] - timedelta.resolution, self._tz).start)
        cuts.reverse()
        costs = await spent_over(self._database, scope, cuts)
        days = [(cut.astimezone(self._tz).date(), cost) for cut, cost in zip(cuts, costs, strict=False)]
        first = next((n for n, (_, cost) in enumerate(days) if cost.nanos > 0), len(days))
        return tuple(days[first:])
