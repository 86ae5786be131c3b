"""`/admin/api/audit`, `/admin/api/alerts` and `/admin/api/spend`: what has happened, for reading only."""

from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from pydantic import AwareDatetime, BaseModel

from gateway.endpoints.admin.desk import Asking, Desk, Plain
from gateway.errors import BadRequest
from governance.alerts.outbox import Delivery, listed
from governance.alerts.steps import Alert
from governance.audit import log
from governance.audit.chain import Entry
from governance.ledger.reading.reports import SpendRow, spend
from governance.people.roles import Right

Limit = Annotated[int, Query(ge=1, le=1000)]
Before = Annotated[int, Query(ge=1, le=2**63 - 1)]
Dimension = Literal["team", "app", "feature", "workflow", "model", "segment", "environment", "session"]
_WEEK = timedelta(days=7)
_FIRST = datetime(1, 1, 8, tzinfo=UTC)


class AuditEntry(BaseModel):
    """One act; `hash` is over the entry and `previous`, the hash of the one before it."""

    n: int
    at: datetime
    actor: str
    role: str
    act: str
    subject: str
    team: str | None
    facts: dict[str, Any]
    previous: str
    hash: str


class AuditProof(BaseModel):
    """Whether the chain holds: how many entries do, and where and why it breaks."""

    ok: bool
    entries: int
    broken_at: int | None = None
    why: str | None = None


class AlertFacts(BaseModel):
    """A step that has fired, and how far its delivery has come."""

    id: str
    scope: str
    team: str | None
    window: str
    window_start: datetime
    resets_at: datetime
    percent: int
    limit_usd: str
    spent_usd: str
    fired_at: datetime
    delivery: Delivery


class Spent(BaseModel):
    """What one value of a dimension used; `saved_usd` is what the four levers saved together."""

    name: str
    requests: int
    refused: int
    cached: int
    input_tokens: int
    output_tokens: int
    cost_usd: str
    saved_usd: str
    saved_cache_usd: str
    saved_prefix_usd: str
    saved_routing_usd: str
    saved_context_usd: str


class SpendFacts(BaseModel):
    """Spend by one dimension, dearest first, and its total."""

    by: str
    since: datetime
    until: datetime
    rows: list[Spent]
    total: Spent


def records_router(desk: Desk) -> APIRouter:
    """Return the routes."""
    router = APIRouter(tags=["records"])

    @router.get("/audit", summary="List what was done, the newest first.")
    async def audit(person: Asking, limit: Limit = 100, before: Before | None = None) -> list[AuditEntry]:
        person.require(Right.SEE_AUDIT)
        return [_entry(one) for one in await log.entries(desk.database, limit, before=before, team=person.team)]

    @router.get("/audit/proof", summary="Prove that the audit log is as it was written.")
    async def proof(person: Asking) -> AuditProof:
        person.require(Right.SEE_AUDIT)
        found = await log.verify(desk.database)
        if found.broken is None:
            return AuditProof(ok=True, entries=found.entries)
        return AuditProof(ok=False, entries=found.entries, broken_at=found.broken.n, why=found.broken.why)

    @router.get("/alerts", summary="List the steps of budgets that fired last.")
    async def alerts(person: Asking, limit: Limit = 100) -> list[AlertFacts]:
        person.require(Right.SEE_SPEND)
        return [_alert(*one) for one in await listed(desk.database, limit, person.team)]

    @router.get("/spend", summary="Say who spent what; the last seven days unless told otherwise.")
    async def spend_(
        person: Asking,
        by: Dimension = "team",
        since: AwareDatetime | None = None,
        until: AwareDatetime | None = None,
        team: Plain | None = None,
    ) -> SpendFacts:
        person.require(Right.SEE_SPEND, team)
        end = until or desk.now()
        begin = since or max(end, _FIRST) - _WEEK
        if begin >= end:
            raise BadRequest("since should be before until", "since")
        report = await spend(desk.database, by, begin, end, team or person.team)
        rows = [_spent(row) for row in report.rows]
        return SpendFacts(by=by, since=begin, until=end, rows=rows, total=_spent(report.total))

    return router


def _entry(entry: Entry) -> AuditEntry:
    return AuditEntry(
        n=entry.n,
        at=entry.at,
        actor=entry.actor.name,
        role=entry.actor.role,
        act=entry.act,
        subject=entry.subject,
        team=entry.team or None,
        facts=dict(entry.facts),
        previous=entry.previous,
        hash=entry.hash,
    )


def _alert(alert: Alert, delivery: Delivery) -> AlertFacts:
    return AlertFacts(
        id=alert.id,
        scope=alert.scope,
        team=alert.team or None,
        window=alert.window,
        window_start=alert.window_start,
        resets_at=alert.window_end,
        percent=alert.percent,
        limit_usd=alert.limit.usd,
        spent_usd=alert.settled.usd,
        fired_at=alert.fired_at,
        delivery=delivery,
    )


def _spent(row: SpendRow) -> Spent:
    return Spent(
        name=row.name,
        requests=row.requests,
        refused=row.refused,
        cached=row.cached,
        input_tokens=row.input_tokens,
        output_tokens=row.output_tokens,
        cost_usd=row.cost.usd,
        saved_usd=row.saved.usd,
        saved_cache_usd=row.saved_cache.usd,
        saved_prefix_usd=row.saved_prefix.usd,
        saved_routing_usd=row.saved_routing.usd,
        saved_context_usd=row.saved_context.usd,
    )
