"""Requests as they end: what the ledger has of them that was not there at the last look."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import func, select

from governance.database import Database
from governance.ledger.reading.spans import ENDED
from governance.ledger.tables import LedgerEventRow, instant

BATCH: Final = 250

_E: Final = LedgerEventRow
_COLUMNS: Final = (
    _E.id,
    _E.at,
    _E.cost_nanos,
    _E.team,
    _E.app,
    _E.feature,
    _E.workflow,
    _E.model,
    _E.segment,
    _E.environment,
    _E.session,
    _E.key_id,
    _E.end_user,
)


@dataclass(frozen=True, slots=True)
class Ending:
    """A request that has cost something: when it arrived, and its values by the ledger's columns."""

    at: datetime
    values: Mapping[str, str | None]


class Endings:
    """The requests that end, in the order of their rows.

    Attributes:
        after: The last row that has been seen.
    """

    def __init__(self, database: Database, after: int) -> None:
        """Begin after a row."""
        self._database = database
        self.after = after

    async def follow(self, upto: int | None = None) -> AsyncGenerator[list[Ending]]:
        """Read what has been written since, batch by batch, perhaps only up to a row.

        A batch has been seen once the next is asked for: one on which its reader fails is read again.

        Raises:
            StoreUnavailable: The database does not answer.
        """
        while rows := await self._read(upto):
            yield [Ending(instant(row.at), row._mapping) for row in rows if row.cost_nanos > 0]  # noqa: SLF001  its name
            self.after = rows[-1].id

    async def _read(self, upto: int | None) -> Sequence[Any]:
        query = select(*_COLUMNS).where(ENDED, _E.id > self.after).order_by(_E.id).limit(BATCH)
        if upto is not None:
            query = query.where(_E.id <= upto)
        async with self._database.reading() as connection:
            return (await connection.execute(query)).all()


async def newest(database: Database) -> int:
    """Return the number of the ledger's newest row, 0 when it has none.

    Raises:
        StoreUnavailable: The database does not answer.
    """
    async with database.reading() as connection:
        return await connection.scalar(select(func.max(_E.id))) or 0
