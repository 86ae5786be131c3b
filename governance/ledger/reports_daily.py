"""Spend over time: the ledger cut at given instants, such as the midnights of a zone.

The cuts are instants and not a width, because local days have 23, 24 or 25 hours.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import ColumnElement, SQLColumnExpression, and_, case, func, or_, select

from governance.attribution import DIMENSIONS
from governance.database import Database
from governance.ledger.events import EventKind
from governance.ledger.tables import LedgerEventRow, micros
from governance.money import Nanodollars

_E: Final = LedgerEventRow


@dataclass(frozen=True, slots=True)
class SpendPoint:
    """What one value of a dimension used between two cuts, as in `SpendRow`; `column` counts the spans from 0."""

    column: int
    name: str
    requests: int
    refused: int
    cached: int
    cost: Nanodollars
    saved: Nanodollars


async def spend_over(database: Database, by: str, cuts: Sequence[datetime]) -> tuple[SpendPoint, ...]:
    """Read the spend between each two neighbouring cuts, in the order of time and name.

    A span in which a name had no request has no point for it.

    Args:
        database: Where the ledger is.
        by: One of the eight dimensions.
        cuts: Aware instants in rising order; each span includes its first and excludes its last.

    Raises:
        ValueError: `by` is no dimension.
        StoreUnavailable: The database does not answer.
    """
    if by not in DIMENSIONS:
        raise ValueError(f"{by!r} is no dimension; the dimensions are {', '.join(DIMENSIONS)}")
    marks = [micros(cut) for cut in cuts]
    column = case(*((_E.at < end, n) for n, end in enumerate(marks[1:]))).label("column")
    name: ColumnElement[str] = _E.__table__.columns[by].label("name")
    within = and_(_E.kind != EventKind.HELD.value, _E.at >= marks[0], _E.at < marks[-1])
    query = select(column, name, *_SUMS).where(within).group_by(column, name).order_by(column, name)
    async with database.reading() as connection:
        return tuple(_point(row) for row in await connection.execute(query))


def _sum(value: SQLColumnExpression[int], label: str) -> ColumnElement[Any]:
    return func.coalesce(func.sum(value), 0).label(label)


_SUMS: Final = (
    func.count().label("requests"),
    _sum(case((_E.kind == EventKind.REFUSED.value, 1), else_=0), "refused"),
    _sum(case((or_(_E.cache == "exact", _E.cache.startswith("semantic")), 1), else_=0), "cached"),
    _sum(_E.cost_nanos, "cost"),
    _sum(_E.saved_cache_nanos + _E.saved_routing_nanos, "saved"),
)


def _point(row: Any) -> SpendPoint:
    """PostgreSQL sums 64-bit integers to its exact decimals; they are whole."""
    return SpendPoint(
        column=int(row.column),
        name=row.name,
        requests=int(row.requests),
        refused=int(row.refused),
        cached=int(row.cached),
        cost=Nanodollars(int(row.cost)),
        saved=Nanodollars(int(row.saved)),
    )
