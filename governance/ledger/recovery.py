"""After a restart: close what a dead process left open, and read back what has been spent."""

from sqlalchemy import func, insert, literal, select
from sqlalchemy.orm import aliased

from governance.database import Database
from governance.ledger.events import EventKind
from governance.ledger.tables import LedgerEventRow, micros
from governance.limits import dimensions_of
from governance.money import Nanodollars
from governance.windows import Window


async def expire_orphans(database: Database) -> int:
    """End every hold without an end as expired, at what it held, because the upstream may have billed for it.

    Only for the sole process of a ledger, before it opens its first hold: it takes every open hold for a dead one.

    Returns:
        How many there were.
    """
    ended = aliased(LedgerEventRow)
    orphan = (
        LedgerEventRow.kind == EventKind.HELD.value,
        ~select(ended.id)
        .where(ended.request_id == LedgerEventRow.request_id, ended.kind != EventKind.HELD.value)
        .exists(),
    )
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
