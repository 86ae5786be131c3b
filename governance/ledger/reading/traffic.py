"""Past traffic as the ledger has it, for those who ask what another policy would have made of it.

Requests are read in the order in which they arrived and in batches, so that a month of them fits in any memory.
"""

from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, NamedTuple

from sqlalchemy import and_, func, select

from governance.attribution import UNATTRIBUTED
from governance.database import Database
from governance.ledger.events import JUDGE, EventKind
from governance.ledger.reading.spans import ended_between
from governance.ledger.tables import LedgerAttemptRow, LedgerEventRow, micros
from governance.money import Nanodollars
from governance.prices import RATES, Price

BATCH: Final = 5_000
SAMPLE: Final = 101
"""How many of an app's latest calls of a model say what one more would be like."""

_E: Final = LedgerEventRow


class Past(NamedTuple):
    """A request of the past, as its terminal event tells it; see `LedgerEventRow`.

    Those who read a million of them go by place, so what belongs together stands together.
    """

    at: int
    held_nanos: int
    cost_nanos: int
    duration_ms: float | None
    kind: str
    policy_version: str
    team: str
    app: str
    feature: str
    key_id: str
    endpoint: str
    model: str
    provider: str
    route: str
    fresh_input: int | None
    cache_read: int | None
    cache_write: int | None
    cache_write_1h: int | None
    audio_input: int | None
    audio_read: int | None
    image_input: int | None
    output: int | None
    reasoning: int | None
    audio_output: int | None
    tool_runs: int | None
    workflow: str
    segment: str
    environment: str
    session: str
    end_user: str | None
    code: str
    cache: str

    @property
    def met(self) -> tuple[str, ...]:
        """From the kind of event to the route: who asked, under which policy, and what the answer was."""
        return self[4:14]

    @property
    def tokens(self) -> int:
        """Every token once."""
        return sum(filter(None, self[14:24]))

    @property
    def counts(self) -> tuple[int | None, ...]:
        """Its usage, in the order of `Usage`."""
        return self[14:25]


_ADMITTED: Final = (EventKind.SETTLED.value, EventKind.EXPIRED.value)
_COLUMNS: Final = tuple(_E.__table__.columns[name] for name in Past._fields)


@dataclass(frozen=True, slots=True)
class Used:
    """What the settled requests of one caller for one model came to; `route` says why that model answered."""

    team: str
    app: str
    feature: str
    key_id: str
    model: str
    route: str
    requests: int
    cost: Nanodollars


async def traffic(database: Database, since: datetime, until: datetime) -> AsyncGenerator[Sequence[Past]]:
    """Read every request that has ended and arrived in `since <= at < until`, in order of arrival.

    Raises:
        StoreUnavailable: The database does not answer.
    """
    query = select(*_COLUMNS).where(ended_between(since, until)).order_by(_E.at, _E.id)
    async with database.reading() as connection:
        result = await connection.stream(query, execution_options={"yield_per": BATCH})
        async for batch in result.partitions():
            yield list(map(Past._make, batch))


async def traffic_size(database: Database, since: datetime, until: datetime) -> int:
    """Count the requests that `traffic` reads."""
    async with database.reading() as connection:
        return await connection.scalar(select(func.count()).select_from(_E).where(ended_between(since, until))) or 0


async def latest_calls(database: Database, since: datetime, until: datetime) -> Sequence[Past]:
    """Read the latest settled calls that told their usage, at most `SAMPLE` for each app and model.

    The gateway's own questions to a judge are left out: they are not like what the app asks.
    """
    place = func.row_number().over(partition_by=(_E.team, _E.app, _E.model), order_by=(_E.at.desc(), _E.id.desc()))
    theirs = _E.endpoint != JUDGE
    told = (_E.kind == EventKind.SETTLED.value, _E.held_nanos > 0, _E.fresh_input.is_not(None), theirs)
    ranked = select(_E.id, place.label("place")).where(ended_between(since, until), *told).subquery()
    latest = select(ranked.c.id).where(ranked.c.place <= SAMPLE)
    async with database.reading() as connection:
        rows = await connection.execute(select(*_COLUMNS).where(_E.id.in_(latest)).order_by(_E.id))
        return list(map(Past._make, rows))


async def session_requests(database: Database, since: datetime, until: datetime) -> Mapping[tuple[str, str], int]:
    """Count the requests that each key let into each of its sessions, in `since <= at < until`."""
    who = (_E.key_id, _E.session)
    counted = (_E.kind.in_(_ADMITTED), _E.session != UNATTRIBUTED)
    query = select(*who, func.count()).where(ended_between(since, until), *counted).group_by(*who)
    async with database.reading() as connection:
        return {(key_id, session): int(count) for key_id, session, count in await connection.execute(query)}


async def recorded_prices(database: Database, since: datetime, until: datetime) -> Mapping[str, Price]:
    """Read the last price that each model was billed at."""
    row = LedgerAttemptRow
    within = and_(row.at >= micros(since), row.at < micros(until))
    last = select(func.max(row.id)).where(within).group_by(row.model)
    async with database.reading() as connection:
        found = (await connection.execute(select(*row.__table__.columns).where(row.id.in_(last)))).all()
    return {attempt.model: _price(attempt) for attempt in found}


async def used(database: Database, since: datetime, until: datetime) -> tuple[Used, ...]:
    """Add up what each caller used of each model, among the requests that were admitted."""
    who = (_E.team, _E.app, _E.feature, _E.key_id, _E.model, _E.route)
    query = select(*who, func.count().label("requests"), func.sum(_E.cost_nanos).label("cost"))
    async with database.reading() as connection:
        rows = await connection.execute(
            query.where(ended_between(since, until), _E.kind.in_(_ADMITTED)).group_by(*who).order_by(*who)
        )
        return tuple(
            Used(
                team=row.team,
                app=row.app,
                feature=row.feature,
                key_id=row.key_id,
                model=row.model,
                route=row.route,
                requests=int(row.requests),
                cost=Nanodollars(int(row.cost)),
            )
            for row in rows
        )


def _price(row: Any) -> Price:
    def rate(nanos: int | None) -> Nanodollars | None:
        return None if nanos is None else Nanodollars(nanos)

    rates: dict[str, Any] = {name: rate(getattr(row, f"price_{name}_nanos")) for name in RATES}
    return Price(**rates, source=row.price_source)
