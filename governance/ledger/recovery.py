"""After a restart: close what a dead process left open, and read back what has been spent."""

from collections.abc import Collection
from datetime import datetime

from sqlalchemy import func, insert, literal, select
from sqlalchemy.orm import aliased

from governance.database import Database
from governance.ledger.events import EventKind
from governance.ledger.tables import LedgerEventRow, micros
from governance.limits import dimensions_of
from governance.money import Nanodollars
from governance.windows import Window


async def expire_orphans(
    database: Database, *, opened_before: datetime | None = None, among: Collection[str] | None = None
) -> int:
    """End holds without an end as expired, at what they held, because the upstream may have billed for them.

    Args:
        database: The ledger's.
        opened_before: Only holds older than this, where other processes write the same ledger. None takes every open
            hold for a dead one: only for the sole process of a ledger, before it opens its first hold.
        among: Only holds of these requests, whose leases are over.

    Returns:
        How many there were.
    """
    ended = aliased(LedgerEventRow)
    orphan = [
        LedgerEventRow.kind == EventKind.HELD.value,
        ~select(ended.id)
        .where(ended.request_id == LedgerEventRow.request_id, ended.kind != EventKind.HELD.value)
        .exists(),
    ]
    if opened_before is not None:
        orphan.append(LedgerEventRow.at < micros(opened_before))
    if among is not None:
        orphan.append(LedgerEventRow.request_id.in_(among))
    columns = {column.name: column for column in LedgerEventRow.__table__.columns if column.name != "id"}
    columns |= {
        "kind": literal(EventKind.EXPIRED.value).label("kind"),
        "cost_nanos": LedgerEventRow.held_nanos.label("cost_nanos"),
    }
    async with database.transaction() as connection:
        count = await connection.scalar(select(func.count()).select_from(LedgerEventRow).where(*orphan))
        if count:
            expired = select(*columns.values()).where(*orphan)
            await connection.execute(insert(LedgerEventRow).from_select(list(columns), expired))
    return count or 0


async def spent(database: Database, scope: str, window: Window) -> Nanodollars:
    """Sum what a scope has spent in a window."""
    events = LedgerEventRow
    within = [getattr(events, column) == name for column, name in dimensions_of(scope).items()]
    query = select(func.coalesce(func.sum(events.cost_nanos), 0)).where(
        events.kind != EventKind.HELD.value,
        events.at >= micros(window.start),
        events.at < micros(window.end),
        *within,
    )
    async with database.reading() as connection:
        return Nanodollars(int(await connection.scalar(query) or 0))
