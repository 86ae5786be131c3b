"""What the pages ask of the ledger, as a small protocol; and the ledger's own answer to it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from governance.database import Database
from governance.deferred import batches
from governance.deferred.records import Batch
from governance.ledger.reading import reports, reports_daily
from governance.ledger.reading.reports import RequestRow, SpendReport
from governance.ledger.reading.reports_daily import SpendPoint


class Reports(Protocol):
    """Reads of the ledger, all of it or one team's. Each may raise `StoreUnavailable`."""

    async def spend_by(self, dimension: str, since: datetime, until: datetime, team: str | None = None) -> SpendReport:
        """Return the spend of a span, one row for each value of the dimension, and its total."""
        ...

    async def spend_over(
        self, dimension: str, edges: Sequence[datetime], team: str | None = None
    ) -> tuple[SpendPoint, ...]:
        """Return the spend between each two neighbouring edges, by the dimension; columns without any have no point."""
        ...

    async def recent(self, limit: int, team: str | None = None) -> tuple[RequestRow, ...]:
        """Return the latest requests, newest first."""
        ...

    async def batches(self, limit: int, team: str | None = None) -> tuple[Batch, ...]:
        """Return the latest batches of deferred work, newest first."""
        ...


@dataclass(frozen=True, slots=True)
class LedgerReports:
    """The reports of the ledger in a database."""

    database: Database

    async def spend_by(self, dimension: str, since: datetime, until: datetime, team: str | None = None) -> SpendReport:
        """See `Reports`."""
        return await reports.spend(self.database, dimension, since, until, team)

    async def spend_over(
        self, dimension: str, edges: Sequence[datetime], team: str | None = None
    ) -> tuple[SpendPoint, ...]:
        """See `Reports`."""
        return await reports_daily.spend_over(self.database, dimension, edges, team)

    async def recent(self, limit: int, team: str | None = None) -> tuple[RequestRow, ...]:
        """See `Reports`."""
        return await reports.recent_requests(self.database, limit, team)

    async def batches(self, limit: int, team: str | None = None) -> tuple[Batch, ...]:
        """See `Reports`."""
        return await batches.listed(self.database, limit, team=team)
