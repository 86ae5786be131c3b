"""Look where budgets stand, and let the steps fire that are due.

Nothing here hangs on a request: a round reads what every budget has settled, so a step fires though the request that
crossed it was cut off, or another process served it. What is settled after the end of its window, or just before it, is
found in the ledger by a slower round that looks back for a quarter of an hour.
"""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from structlog.typing import FilteringBoundLogger

from gateway.alerting.messages import Receiver
from governance.alerts.outbox import Delivery, fire
from governance.alerts.steps import Alert, Watch, due
from governance.database import Database
from governance.errors import StoreUnavailable
from governance.ledger.reading.spending import spent
from governance.purse import Purse
from governance.windows import WindowKind, window

LATE: Final = timedelta(minutes=15)
"""How long after the end of a window its spending is still looked at; longer than any request may take."""

Receivers = Callable[[str], Receiver | None]
"""From a team, or the empty text for none, to where its alerts go."""


class Watching:
    """Watches budgets. `watches` and `timezone` are asked for anew each round, for keys and policies change."""

    def __init__(
        self,
        *,
        purse: Purse,
        database: Database,
        watches: Callable[[], Sequence[Watch]],
        receivers: Receivers,
        timezone: Callable[[], ZoneInfo],
        now: Callable[[], datetime],
        log: FilteringBoundLogger,
    ) -> None:
        self._purse = purse
        self._database = database
        self._watches = watches
        self._receivers = receivers
        self._timezone = timezone
        self._now = now
        self._log = log
        self._known: dict[str, datetime] = {}

    async def look(self) -> None:
        """Fire what is due in the windows that run now.

        Raises:
            StoreUnavailable: The counters or the database do not answer; the next round finds the same.
        """
        at, tz, watches = self._now(), self._timezone(), self._with_calendar()
        standings = await self._purse.standing([watch.budget for watch, _ in watches], at, tz)
        if len(standings) < len(watches):
            raise StoreUnavailable("the counters are away")
        found: list[Alert] = []
        for (watch, kind), standing in zip(watches, standings, strict=True):
            if standing.settled.nanos > 0:
                found += due(watch, window(kind, at, tz), standing.settled, at)
        await self._fire(found, at)

    async def look_back(self) -> None:
        """Fire what became due in windows that are over, as the ledger knows them.

        Raises:
            StoreUnavailable: The database does not answer; the next round finds the same.
        """
        at, tz = self._now(), self._timezone()
        found: list[Alert] = []
        for watch, kind in self._with_calendar():
            before = window(kind, window(kind, at, tz).start - timedelta.resolution, tz)
            if at - before.end < LATE:
                found += due(watch, before, await spent(self._database, watch.budget.scope, before), at)
        await self._fire(found, at)

    def _with_calendar(self) -> list[tuple[Watch, WindowKind]]:
        """List the budgets whose windows begin and end: a step fires once a window, and a rolling one is never over.

        Budgets for each value of a dimension are left out too, because their values are not known before they spend.
        """
        found = [(watch, watch.budget.window) for watch in self._watches() if watch.budget.each is None]
        return [(watch, span) for watch, span in found if isinstance(span, WindowKind)]

    async def _fire(self, found: Sequence[Alert], at: datetime) -> None:
        self._known = {known: end for known, end in self._known.items() if at < end + LATE}
        unknown = [alert for alert in found if alert.id not in self._known]
        begun = [(alert, Delivery.WAITING if self._receivers(alert.team) else Delivery.LOGGED) for alert in unknown]
        for alert in await fire(self._database, begun, at):
            self._log.warning(
                "budget step reached",
                alert=alert.id,
                scope=alert.scope,
                percent=alert.percent,
                window=alert.window,
                spent_usd=alert.settled.usd,
                limit_usd=alert.limit.usd,
            )
        self._known |= {alert.id: alert.window_end for alert in unknown}
