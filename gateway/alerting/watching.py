"""Look where budgets stand, and let the steps fire that are due.

Nothing here hangs on a request: a round reads what every budget has settled, so a step fires though the request that
crossed it was cut off, or another process served it. What is settled after the end of its window, or just before it, is
found in the ledger by a slower round that looks back for a quarter of an hour.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Final
from zoneinfo import ZoneInfo

from structlog.typing import FilteringBoundLogger

from gateway.alerting.lateness import LATE, late
from gateway.alerting.messages import Receiver
from gateway.alerting.values import Touch, Values
from governance.alerts.outbox import AT_ONCE, Delivery, fire
from governance.alerts.steps import Alert, Watch, due, used_up
from governance.counters import CounterKey
from governance.database import Database
from governance.errors import StoreUnavailable
from governance.ledger.reading.spending import spent
from governance.limits.scopes import parted
from governance.purse import Purse
from governance.windows import Calendar, Window, WindowKind

KNOWN: Final = 65_536
"""How many steps are remembered to have fired; what is forgotten is found in the database."""

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
        self._values = Values(database)
        self._calendar = Calendar()
        self._known: OrderedDict[str, None] = OrderedDict()

    async def look(self) -> None:
        """Fire what is due in the windows that run now.

        Raises:
            StoreUnavailable: The counters or the database do not answer; the next round finds the same.
        """
        at, tz = self._now(), self._timezone()
        alone, for_each = _parted(self._watches())
        await self._fire(await self._reached(alone, at, tz), at)
        await self._fire(await self._used_up([*alone, *for_each], at, tz), at)
        await self._values.survey(for_each, at, tz, lambda found: self._fire(found, at))
        async for touches in self._values.touched(for_each):
            await self._fire(await self._reached_by(touches, at, tz), at)

    async def look_back(self) -> None:
        """Fire what became due in windows that are over, as the ledger knows them, and what `look` could not see.

        Raises:
            StoreUnavailable: The database does not answer; the next round finds the same.
        """
        at, tz = self._now(), self._timezone()
        alone, for_each = _parted(self._watches())
        before = [(watch, late(watch.budget.window, at, tz)) for watch in alone]
        await self._fire(await self._reached_late([(watch, over) for watch, over in before if over], at), at)
        async for touches in self._values.touched_again(for_each):
            await self._fire(await self._reached_by(touches, at, tz), at)

    async def _reached_by(self, touches: Iterable[Touch], at: datetime, tz: ZoneInfo) -> list[Alert]:
        """Find the steps that values have reached which have just spent, perhaps in a window that is over."""
        arrived = {(watch, self._window_of(watch, arrival, at, tz)) for watch, arrival in touches}
        found = await self._reached([watch for watch, within in arrived if at < within.end], at, tz)
        return found + await self._reached_late(
            [(watch, over) for watch, over in arrived if over.end <= at < over.end + LATE], at
        )

    async def _reached(self, watches: Sequence[Watch], at: datetime, tz: ZoneInfo) -> list[Alert]:
        """Find the steps that are reached in windows that run, as the counters know them."""
        standings = await self._purse.standing([watch.budget for watch in watches], at, tz)
        if len(standings) < len(watches):
            raise StoreUnavailable("the counters are away")
        found: list[Alert] = []
        for watch, standing in zip(watches, standings, strict=True):
            if standing.settled.nanos > 0:
                found += due(watch, self._calendar.window(watch.budget.window, at, tz), standing.settled, at)
        return found

    async def _used_up(self, watches: Sequence[Watch], at: datetime, tz: ZoneInfo) -> list[Alert]:
        """Find the budgets that are used up because they refuse, though what is settled has not come to their end."""
        refused = {(watch, counter.scope) for counter in self._purse.refusing() for watch in _of(watches, counter)}
        found: list[Alert] = []
        for watch, scope in refused:
            mine = watch if watch.budget.each is None else watch.of(parted(scope)[2])
            for standing in await self._purse.standing([mine.budget], at, tz):
                found += used_up(mine, self._calendar.window(mine.budget.window, at, tz), standing.settled, at)
        return found

    async def _reached_late(self, over: Iterable[tuple[Watch, Window]], at: datetime) -> list[Alert]:
        """Find the steps that are reached in windows that are over, as the ledger knows them."""
        found: list[Alert] = []
        for watch, within in over:
            found += due(watch, within, await spent(self._database, watch.budget.scope, within), at)
        return found

    def _window_of(self, watch: Watch, arrival: datetime, at: datetime, tz: ZoneInfo) -> Window:
        """Return where a request counts: in the calendar's window of its arrival, and in a rolling one that runs."""
        span = watch.budget.window
        return self._calendar.window(span, arrival if isinstance(span, WindowKind) else at, tz)

    async def _fire(self, found: Iterable[Alert], at: datetime) -> None:
        unknown = [alert for alert in found if alert.id not in self._known]
        for start in range(0, len(unknown), AT_ONCE):
            await self._fire_some(unknown[start : start + AT_ONCE], at)

    async def _fire_some(self, alerts: Sequence[Alert], at: datetime) -> None:
        begun = [(alert, Delivery.WAITING if self._receivers(alert.team) else Delivery.LOGGED) for alert in alerts]
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
        self._known.update((alert.id, None) for alert in alerts)
        while len(self._known) > KNOWN:
            self._known.popitem(last=False)


def _of(watches: Iterable[Watch], counter: CounterKey) -> list[Watch]:
    window = counter.window
    return [w for w in watches if window and window.kind == w.budget.window and w.watches(counter.scope)]


def _parted(watches: Iterable[Watch]) -> tuple[list[Watch], list[Watch]]:
    """Part the budgets from those for each value of a dimension."""
    alone: list[Watch] = []
    for_each: list[Watch] = []
    for watch in watches:
        (alone if watch.budget.each is None else for_each).append(watch)
    return alone, for_each
