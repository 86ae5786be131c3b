"""Spend over time: the ledger cut at given instants, such as the midnights of a zone.

The cuts are instants and not a width, because local days have 23, 24 or 25 hours.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from governance.database import Database
from governance.ledger.reading.spans import figures
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
        team: Whose requests; None for all.

    Raises:
        ValueError: `by` is no dimension.
        StoreUnavailable: The database does not answer.
    """
    async with database.reading() as connection:
        found = await figures(connection, by, cuts, team)
    return tuple(
        SpendPoint(
            column=column,
            name=name,
            requests=used.requests,
            refused=used.refused,
            cached=used.cached,
            cost=Nanodollars(used.cost),
            saved=Nanodollars(used.saved),
        )
        for (column, name), used in sorted(found.items(), key=lambda item: item[0])
    )
