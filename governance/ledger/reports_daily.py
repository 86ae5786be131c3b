"""Spend over time: the ledger cut at given instants, such as the midnights of a zone.

The cuts are instants and not a width, because local days have 23, 24 or 25 hours.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import case, select

from governance.database import Database
from governance.ledger.reports import SUMS, dimension, ended_between
from governance.ledger.tables import LedgerEventRow, micros
from governance.money import Nanodollars


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


async def spend_over(
    database: Database, by: str, cuts: Sequence[datetime], team: str | None = None
) -> tuple[SpendPoint, ...]:
    """Read the spend between each two neighbouring cuts, in the order of time and name.

    A span in which a name had no request has no point for it.

    Args:
        database: Where the ledger is.
        by: One of the eight dimensions.
        cuts: Aware instants in rising order; each span includes its first and excludes its last.
        team: The only team to count; None for all.

    Raises:
        ValueError: `by` is no dimension.
        StoreUnavailable: The database does not answer.
    """
    marks = [micros(cut) for cut in cuts]
    column = case(*((LedgerEventRow.at < end, n) for n, end in enumerate(marks[1:]))).label("column")
    name = dimension(by)
    query = (
        select(column, name.label("name"), *SUMS)
        .where(ended_between(cuts[0], cuts[-1], team))
        .group_by(column, name)
        .order_by(column, name)
    )
    async with database.reading() as connection:
        return tuple(_point(row) for row in await connection.execute(query))


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
