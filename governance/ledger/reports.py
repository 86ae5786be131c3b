"""The ledger read back: spend by a dimension, and single requests.

A report and its total are two queries of one moment's state; that the rows add up to the total is a property of the
ledger, not of the arithmetic here.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import ColumnElement, SQLColumnExpression, and_, case, func, or_, select

from governance.attribution import DIMENSIONS
from governance.database import Database
from governance.ledger.events import EventKind
from governance.ledger.tables import LedgerAttemptRow, LedgerEventRow, instant, micros
from governance.money import Nanodollars

_E: Final = LedgerEventRow
_ENDED: Final = _E.kind != EventKind.HELD.value


@dataclass(frozen=True, slots=True)
class SpendRow:
    """What one value of a dimension used.

    `requests` counts every request that has ended, the `refused` and the `cached` ones included; `saved` is what caches
    and routing saved together.
    """

    name: str
    requests: int
    refused: int
    cached: int
    input_tokens: int
    output_tokens: int
    cost: Nanodollars
    saved: Nanodollars


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
    """Add up what was spent by each value of a dimension, `unattributed` among them, perhaps of one team alone.

    Raises:
        ValueError: `by` is not one of the eight dimensions.
        StoreUnavailable: The database does not answer.
    """
    name, within = dimension(by), ended_between(since, until, team)
    async with database.reading() as connection:
        cost = func.sum(_E.cost_nanos)
        rows = await connection.execute(
            select(name.label("name"), *SUMS).where(within).group_by(name).order_by(cost.desc(), name)
        )
        total = await connection.execute(select(*SUMS).where(within))
        spent = tuple(_spend_row(row.name, row) for row in rows)
        return SpendReport(by, since, until, spent, _spend_row("total", total.one()))


async def recent_requests(database: Database, limit: int, team: str | None = None) -> tuple[RequestRow, ...]:
    """List the requests that arrived last among those that have ended, perhaps of one team.

    Raises:
        StoreUnavailable: The database does not answer.
    """
    query = select(*_E.__table__.columns).where(_ENDED).order_by(_E.at.desc(), _E.id.desc()).limit(limit)
    if team is not None:
        query = query.where(_E.team == team)
    async with database.reading() as connection:
        return tuple(_request_row(row) for row in await connection.execute(query))


async def request(database: Database, request_id: str) -> RequestDetail | None:
    """Tell the story of one request, or None when the ledger has not heard of it.

    Raises:
        StoreUnavailable: The database does not answer.
    """
    events = select(*_E.__table__.columns).where(_E.request_id == request_id).order_by(_ENDED.desc()).limit(1)
    attempts = select(*LedgerAttemptRow.__table__.columns).where(LedgerAttemptRow.request_id == request_id)
    async with database.reading() as connection:
        row = (await connection.execute(events)).one_or_none()
        if row is None:
            return None
        made = await connection.execute(attempts.order_by(LedgerAttemptRow.n))
        return RequestDetail(_request_row(row), tuple(_attempt_row(attempt) for attempt in made))


def dimension(by: str) -> ColumnElement[str]:
    """Return the column of a dimension.

    Raises:
        ValueError: It is not one of the eight.
    """
    if by not in DIMENSIONS:
        raise ValueError(f"{by!r} is no dimension; the dimensions are {', '.join(DIMENSIONS)}")
    return _E.__table__.columns[by]


def ended_between(since: datetime, until: datetime, team: str | None = None) -> ColumnElement[bool]:
    """Return the condition for requests, perhaps of one team, that have ended and arrived in `since <= at < until`."""
    of_team = () if team is None else (_E.team == team,)
    return and_(_ENDED, _E.at >= micros(since), _E.at < micros(until), *of_team)


def _sum(value: SQLColumnExpression[int], label: str) -> ColumnElement[Any]:
    return func.coalesce(func.sum(value), 0).label(label)


def _share(condition: ColumnElement[bool], label: str) -> ColumnElement[Any]:
    return _sum(case((condition, 1), else_=0), label)


SUMS: Final = (
    func.count().label("requests"),
    _share(_E.kind == EventKind.REFUSED.value, "refused"),
    _share(or_(_E.cache == "exact", _E.cache.startswith("semantic")), "cached"),
    _sum(_E.fresh_input + _E.cache_read + _E.cache_write, "input_tokens"),
    _sum(_E.output + _E.reasoning, "output_tokens"),
    _sum(_E.cost_nanos, "cost"),
    _sum(_E.saved_cache_nanos + _E.saved_routing_nanos, "saved"),
)


def _spend_row(name: str, row: Any) -> SpendRow:
    """PostgreSQL sums 64-bit integers to its exact decimals; they are whole."""
    return SpendRow(
        name=name,
        requests=int(row.requests),
        refused=int(row.refused),
        cached=int(row.cached),
        input_tokens=int(row.input_tokens),
        output_tokens=int(row.output_tokens),
        cost=Nanodollars(int(row.cost)),
        saved=Nanodollars(int(row.saved)),
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
        outcome=row.outcome,
        code=row.code,
        status=row.status,
        input_tokens=_tokens(row.fresh_input, row.cache_read, row.cache_write),
        output_tokens=_tokens(row.output, row.reasoning),
        estimated=row.estimated,
        attempts=row.attempts,
        held=Nanodollars(row.held_nanos),
        cost=Nanodollars(row.cost_nanos),
        saved=Nanodollars(row.saved_cache_nanos + row.saved_routing_nanos),
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
        input_tokens=_tokens(row.fresh_input, row.cache_read, row.cache_write),
        output_tokens=_tokens(row.output, row.reasoning),
        price_source=row.price_source,
        cost=Nanodollars(row.cost_nanos),
        duration_ms=row.duration_ms,
    )


def _tokens(*classes: int | None) -> int | None:
    told = [tokens for tokens in classes if tokens is not None]
    return sum(told) if told else None
