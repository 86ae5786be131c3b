"""The ledger read back: spend by a dimension, and single requests.

Spend comes from the roll-ups (`spans.py`). The rows of a report add up to its total, whichever dimension is asked for,
because each request has a value in every dimension, `unattributed` at the least.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import select

from governance.database import Database
from governance.ledger.reading.spans import ENDED, Figures, figures
from governance.ledger.rollups import SAVINGS
from governance.ledger.tables import LedgerAttemptRow, LedgerEventRow, instant
from governance.money import Nanodollars
from governance.prices import INPUT, OUTPUT

_E: Final = LedgerEventRow


@dataclass(frozen=True, slots=True)
class SpendRow:
    """What one value of a dimension used.

    `requests` counts every request that has ended, the `refused` and the `cached` ones included. Savings are by lever:
    answers from our cache, prefixes from the caches of providers (less what it cost to write them, so that it may be
    negative), the choice of the model, and what was cut of prompts; `saved` is all of them together.
    """

    name: str
    requests: int
    refused: int
    cached: int
    input_tokens: int
    output_tokens: int
    cost: Nanodollars
    saved_cache: Nanodollars
    saved_prefix: Nanodollars
    saved_routing: Nanodollars
    saved_context: Nanodollars

    @property
    def saved(self) -> Nanodollars:
        """What was saved, over all levers."""
        return self.saved_cache + self.saved_prefix + self.saved_routing + self.saved_context


@dataclass(frozen=True, slots=True)
class SpendReport:
    """Spend by one dimension, dearest first, of the requests that arrived in `since <= at < until`."""

    by: str
    since: datetime
    until: datetime
    rows: tuple[SpendRow, ...]
    total: SpendRow


@dataclass(frozen=True, slots=True)
class RequestRow:
    """One request as the ledger has it; `kind` is `held` while it runs. Token counts are None when none were told."""

    request_id: str
    kind: str
    at: datetime
    team: str
    app: str
    feature: str
    workflow: str
    model: str
    segment: str
    environment: str
    session: str
    key_id: str
    end_user: str | None
    endpoint: str
    stream: bool
    provider: str
    route: str
    cache: str
    context: str
    outcome: str
    code: str
    status: int | None
    input_tokens: int | None
    output_tokens: int | None
    estimated: bool
    attempts: int
    held: Nanodollars
    cost: Nanodollars
    saved: Nanodollars
    policy_version: str
    duration_ms: float | None
    first_token_ms: float | None


@dataclass(frozen=True, slots=True)
class AttemptRow:
    """One upstream call of a request, at the price it was billed by."""

    n: int
    at: datetime
    purpose: str
    provider: str
    model: str
    upstream_model: str
    outcome: str
    status: int | None
    input_tokens: int | None
    output_tokens: int | None
    price_source: str
    cost: Nanodollars
    duration_ms: float


@dataclass(frozen=True, slots=True)
class RequestDetail:
    """A request and every upstream call made for it."""

    request: RequestRow
    attempts: tuple[AttemptRow, ...]


async def spend(database: Database, by: str, since: datetime, until: datetime, team: str | None = None) -> SpendReport:
    """Add up what was spent by each value of a dimension, `unattributed` among them, perhaps of one team.

    Raises:
        ValueError: `by` is not one of the eight dimensions.
        StoreUnavailable: The database does not answer.
    """
    async with database.reading() as connection:
        found = await figures(connection, by, (since, until), team)
    dearest = sorted(found.items(), key=lambda item: (-item[1].cost, item[0][1]))
    rows = tuple(_spend_row(name, used) for (_, name), used in dearest)
    return SpendReport(by, since, until, rows, _spend_row("total", sum(found.values(), Figures())))


async def recent_requests(database: Database, limit: int, team: str | None = None) -> tuple[RequestRow, ...]:
    """List the requests that arrived last among those that have ended, perhaps of one team.

    Raises:
        StoreUnavailable: The database does not answer.
    """
    query = select(*_E.__table__.columns).where(ENDED).order_by(_E.at.desc(), _E.id.desc()).limit(limit)
    if team is not None:
        query = query.where(_E.team == team)
    async with database.reading() as connection:
        return tuple(_request_row(row) for row in await connection.execute(query))


async def request(database: Database, request_id: str) -> RequestDetail | None:
    """Tell the story of one request, or None when the ledger has not heard of it.

    Raises:
        StoreUnavailable: The database does not answer.
    """
    events = select(*_E.__table__.columns).where(_E.request_id == request_id).order_by(ENDED.desc()).limit(1)
    attempts = select(*LedgerAttemptRow.__table__.columns).where(LedgerAttemptRow.request_id == request_id)
    async with database.reading() as connection:
        row = (await connection.execute(events)).one_or_none()
        if row is None:
            return None
        made = await connection.execute(attempts.order_by(LedgerAttemptRow.n))
        return RequestDetail(_request_row(row), tuple(_attempt_row(attempt) for attempt in made))


def _spend_row(name: str, used: Figures) -> SpendRow:
    return SpendRow(
        name=name,
        requests=used.requests,
        refused=used.refused,
        cached=used.cached,
        input_tokens=used.input_tokens,
        output_tokens=used.output_tokens,
        cost=Nanodollars(used.cost),
        saved_cache=Nanodollars(used.saved_cache),
        saved_prefix=Nanodollars(used.saved_prefix),
        saved_routing=Nanodollars(used.saved_routing),
        saved_context=Nanodollars(used.saved_context),
    )


def _request_row(row: Any) -> RequestRow:
    return RequestRow(
        request_id=row.request_id,
        kind=row.kind,
        at=instant(row.at),
        team=row.team,
        app=row.app,
        feature=row.feature,
        workflow=row.workflow,
        model=row.model,
        segment=row.segment,
        environment=row.environment,
        session=row.session,
        key_id=row.key_id,
        end_user=row.end_user,
        endpoint=row.endpoint,
        stream=row.stream,
        provider=row.provider,
        route=row.route,
        cache=row.cache,
        context=row.context,
        outcome=row.outcome,
        code=row.code,
        status=row.status,
        input_tokens=_tokens(row, INPUT),
        output_tokens=_tokens(row, OUTPUT),
        estimated=row.estimated,
        attempts=row.attempts,
        held=Nanodollars(row.held_nanos),
        cost=Nanodollars(row.cost_nanos),
        saved=Nanodollars(sum(getattr(row, name) for name in SAVINGS)),
        policy_version=row.policy_version,
        duration_ms=row.duration_ms,
        first_token_ms=row.first_token_ms,
    )


def _attempt_row(row: Any) -> AttemptRow:
    return AttemptRow(
        n=row.n,
        at=instant(row.at),
        purpose=row.purpose,
        provider=row.provider,
        model=row.model,
        upstream_model=row.upstream_model,
        outcome=row.outcome,
        status=row.status,
        input_tokens=_tokens(row, INPUT),
        output_tokens=_tokens(row, OUTPUT),
        price_source=row.price_source,
        cost=Nanodollars(row.cost_nanos),
        duration_ms=row.duration_ms,
    )


def _tokens(row: Any, classes: Sequence[str]) -> int | None:
    told = [tokens for name in classes if (tokens := getattr(row, name)) is not None]
    return sum(told) if told else None
