"""Orders to forget stored answers: given once, followed by every process that keeps any, now or later."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal

from sqlalchemy import delete, insert, select

from governance.audit.chain import Act, Actor
from governance.audit.log import append
from governance.database import Database
from governance.ledger.tables import instant, micros
from governance.lookups.tables import PurgeRow

PurgeKind = Literal["all", "tag", "key", "like"]

KEPT: Final = timedelta(days=400)
"""How long an order stands: longer than any answer does."""

_LOCK: Final = 7_404


@dataclass(frozen=True, slots=True, kw_only=True)
class Purge:
    """An order to forget what was stored until `at`; see `PurgeRow`. `n` is 0 until it is given."""

    at: datetime
    kind: PurgeKind
    value: str
    similarity: float = 0.0
    by: str
    n: int = 0


async def order(database: Database, purge: Purge, by: Actor | None = None) -> None:
    """Give an order, and write down in the audit log who gave it; None for what follows from somebody's feedback.

    Raises:
        StoreUnavailable: The database does not answer.
    """
    facts = {"kind": purge.kind, "similarity": str(purge.similarity)}
    shown = purge.value if purge.kind != "like" else "(a question)"
    async with database.turn(_LOCK) as connection:
        await connection.execute(delete(PurgeRow).where(PurgeRow.at < micros(purge.at - KEPT)))
        await connection.execute(
            insert(PurgeRow).values(
                at=micros(purge.at),
                kind=purge.kind,
                value=purge.value,
                similarity=purge.similarity,
                by=purge.by,
            )
        )
        if by is not None:
            await append(connection, by, Act.CACHE_PURGED, shown or purge.kind, at=purge.at, facts=facts)


async def after(database: Database, n: int) -> tuple[Purge, ...]:
    """Return the orders that were given after number `n`, in order.

    Raises:
        StoreUnavailable: The database does not answer.
    """
    columns = (PurgeRow.n, PurgeRow.at, PurgeRow.kind, PurgeRow.value, PurgeRow.similarity, PurgeRow.by)
    async with database.reading() as connection:
        rows = await connection.execute(select(*columns).where(PurgeRow.n > n).order_by(PurgeRow.n))
        return tuple(
            Purge(n=row.n, at=instant(row.at), kind=row.kind, value=row.value, similarity=row.similarity, by=row.by)
            for row in rows
        )
