"""Reports with figures of the test's choosing, behind the dashboard's own protocol."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from governance.deferred.records import Batch
from governance.errors import StoreUnavailable
from governance.ledger.reading.reports import RequestRow, SpendReport, SpendRow
from governance.ledger.reading.reports_daily import SpendPoint
from governance.money import ZERO, Nanodollars


def spend_row(
    name: str, cost: int = 0, requests: int = 0, refused: int = 0, cached: int = 0, saved: int = 0
) -> SpendRow:
    """Build a row; money in whole dollars."""
    return SpendRow(
        name=name,
        requests=requests,
        refused=refused,
        cached=cached,
        input_tokens=requests * 100,
        output_tokens=requests * 10,
        cost=Nanodollars(cost * 10**9),
        saved_cache=Nanodollars(saved * 10**9),
        saved_prefix=ZERO,
        saved_routing=ZERO,
        saved_context=ZERO,
    )


def request_row(team: str = "support", **facts: object) -> RequestRow:
    """Build an answered request."""
    plain = RequestRow(
        request_id="req-1",
        kind="settled",
        at=datetime(2026, 11, 26, 9, 30, tzinfo=UTC),
        team=team,
        app="bot",
        feature="unattributed",
        workflow="unattributed",
        model="smollm2",
        segment="unattributed",
        environment="unattributed",
        session="unattributed",
        key_id="abc",
        end_user=None,
        endpoint="chat",
        stream=False,
        provider="engine",
        route="weak",
        cache="miss",
        context="",
        outcome="ok",
        code="",
        status=200,
        input_tokens=1200,
        output_tokens=30,
        estimated=False,
        attempts=1,
        held=ZERO,
        cost=Nanodollars(1_234_567),
        saved=ZERO,
        policy_version="0123456789ab",
        duration_ms=300.0,
        first_token_ms=None,
    )
    return replace(plain, **facts)  # pyright: ignore[reportArgumentType]  (the test names real fields)


@dataclass
class ScriptedReports:
    """Answers every question from the same rows; `broken` makes the store unavailable."""

    rows: Sequence[SpendRow] = ()
    latest: Sequence[RequestRow] = ()
    broken: bool = False
    deferred: Sequence[Batch] = ()

    async def spend_by(self, dimension: str, since: datetime, until: datetime, team: str | None = None) -> SpendReport:
        """Return the rows and their sum."""
        if self.broken:
            raise StoreUnavailable("unable to open database file")
        dollars = sum(row.cost.nanos for row in self.rows) // 10**9
        saved = sum(row.saved.nanos for row in self.rows) // 10**9
        total = spend_row(
            "total",
            cost=dollars,
            requests=sum(row.requests for row in self.rows),
            refused=sum(row.refused for row in self.rows),
            cached=sum(row.cached for row in self.rows),
            saved=saved,
        )
        return SpendReport(by=dimension, since=since, until=until, rows=tuple(self.rows), total=total)

    async def spend_over(
        self, dimension: str, edges: Sequence[datetime], team: str | None = None
    ) -> tuple[SpendPoint, ...]:
        """Return all of it in the first column."""
        return tuple(
            SpendPoint(0, row.name, row.requests, row.refused, row.cached, row.cost, row.saved) for row in self.rows
        )

    async def recent(self, limit: int, team: str | None = None) -> tuple[RequestRow, ...]:
        """Return the latest requests."""
        return tuple(self.latest[:limit])

    async def batches(self, limit: int, team: str | None = None) -> tuple[Batch, ...]:
        """Return the batches."""
        if self.broken:
            raise StoreUnavailable("unable to open database file")
        return tuple(self.deferred[:limit])
