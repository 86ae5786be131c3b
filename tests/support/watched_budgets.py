"""Budgets that requests really spend from, in counters and a ledger, at a time that tests move; and their watchers."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from gateway.alerting.watching import Watching
from gateway.operations.logs import open_log
from governance.alerts.outbox import listed
from governance.alerts.steps import Alert, Watch
from governance.counters.memory import MemoryCounters
from governance.database import Database
from governance.ledger.events import Settlement
from governance.limits import WorstCase, dimensions_of, resolve
from governance.money import Nanodollars
from governance.purse import Purse
from tests.support.databases import write
from tests.support.ledgers import RecordingLedger
from tests.support.requests import attempt, opening

NOON = datetime(2026, 11, 29, 12, tzinfo=UTC)


@dataclass
class WatchedBudgets:
    """A gateway's purse and ledger without the gateway; several workers may watch the same."""

    database: Database
    watches: Sequence[Watch]
    timezone: ZoneInfo = field(default_factory=lambda: ZoneInfo("UTC"))
    now: datetime = NOON
    counters: MemoryCounters = field(default_factory=MemoryCounters)
    requests: int = 0

    def worker(self, database: Database | None = None) -> Watching:
        """Return the watching of one process."""
        return Watching(
            purse=Purse(self.counters, RecordingLedger(), self.now.timestamp),
            database=database or self.database,
            watches=lambda: self.watches,
            receivers=lambda _: None,
            timezone=lambda: self.timezone,
            now=lambda: self.now,
            log=open_log("error"),
        )

    async def spend(self, nanos: int, *, at: datetime | None = None, **dimensions: str) -> None:
        """Let one request spend, in the counters and in the ledger."""
        self.requests += 1
        asked = opening(f"r{self.requests}", at or self.now, **dimensions)
        values = asked.values
        budgets = resolve([watch.budget for watch in self.watches], values)
        mine = [budget for budget in budgets if dimensions_of(budget.scope).items() <= values.items()]
        ledger, cost = RecordingLedger(), Nanodollars(nanos)
        purse = Purse(self.counters, ledger, asked.at.timestamp)
        async with purse.hold(asked, mine, [], WorstCase(cost, 1), tz=self.timezone, lease_s=60) as hold:
            await hold.settle(Settlement(outcome="ok", status=200, attempts=(attempt(cost),)))
        await write(self.database, *ledger.entries)

    async def restart(self) -> None:
        """Forget every counter, and learn them from the ledger."""
        self.counters = MemoryCounters()
        purse = Purse(self.counters, RecordingLedger(), self.now.timestamp)
        await purse.rebuild(self.database, [watch.budget for watch in self.watches], self.now, self.timezone)

    async def alerts(self) -> tuple[Alert, ...]:
        """Return what fired, in order."""
        return tuple(alert for alert, _ in reversed(await listed(self.database, 100)))

    async def fired(self) -> list[tuple[str, int]]:
        """Return which scopes fired which steps, sorted."""
        return sorted((alert.scope, alert.percent) for alert in await self.alerts())
