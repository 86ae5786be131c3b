"""Batches: many entries in one transaction, each stored once, with the roll-ups of those that are new."""

import logging
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Final, cast

from msgspec.structs import replace
from sqlalchemy import Table, text
from sqlalchemy.exc import DataError, IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection

from governance.attribution import Attribution
from governance.database import INSERTS, Database
from governance.errors import StoreUnavailable
from governance.ledger.events import Entry, EventKind, LedgerAttempt, LedgerEvent, Opening
from governance.ledger.rollups import FIGURES, KEY, rolled_up
from governance.ledger.rows import Row, attempt_row, event_row
from governance.ledger.tables import HELD, Base, LedgerAttemptRow, LedgerEventRow, LedgerRollupRow

_REJECTIONS: Final = (IntegrityError, DataError, OverflowError, UnicodeError)
"""What says that an entry is at fault; whatever else goes wrong, the database is, and it will be tried again."""

_PLAN: Final = ("model", "provider", "route", "held_nanos")
"""What of an open request is another's when it holds anew for another attempt."""

_log = logging.getLogger(__name__)


async def store(database: Database, entries: Sequence[Entry]) -> int:
    """Store entries in one transaction; where the database rejects one, all but that one.

    Entries that are stored already change nothing.

    Returns:
        How many were rejected; each is in the log.

    Raises:
        StoreUnavailable: The database does not answer, or not as it should.
    """
    try:
        events = [event_row(entry) for entry in entries if isinstance(entry, LedgerEvent)]
        attempts = [attempt_row(entry) for entry in entries if isinstance(entry, LedgerAttempt)]
        async with database.transaction() as connection:
            await insert_new(connection, events, attempts)
    except StoreUnavailable:
        raise
    except _REJECTIONS as error:
        if len(entries) > 1:
            middle = len(entries) // 2
            return await store(database, entries[:middle]) + await store(database, entries[middle:])
        _log.error("the database rejects a ledger entry: %s of %s", type(error).__name__, request_of(entries[0]))
        return 1
    except Exception as error:
        raise StoreUnavailable(type(error).__name__) from error
    return 0


async def insert_new(connection: AsyncConnection, events: Sequence[Row], attempts: Sequence[Row]) -> int:
    """Insert those rows that are not there yet, and add the new terminal events to the roll-ups.

    A request that holds anew has its plan and what it holds replaced.

    Returns:
        How many terminal events were new.
    """
    insert = INSERTS[connection.dialect.name]
    held = {row["request_id"]: row for row in events if row["kind"] == EventKind.HELD.value}
    ended: dict[object, Row] = {}
    for row in events:
        if row["kind"] != EventKind.HELD.value:
            ended.setdefault(row["request_id"], row)
    if held:
        anew: Any = insert(_table(LedgerEventRow))
        plan = {name: anew.excluded[name] for name in _PLAN}
        await connection.execute(
            anew.on_conflict_do_update(index_elements=["request_id"], index_where=HELD, set_=plan), list(held.values())
        )
    if attempts:
        await connection.execute(insert(_table(LedgerAttemptRow)).on_conflict_do_nothing(), attempts)
    if not ended:
        return 0
    first = insert(_table(LedgerEventRow)).on_conflict_do_nothing().returning(LedgerEventRow.request_id)
    new = {row.request_id for row in await connection.execute(first, list(ended.values()))}
    figures = rolled_up(row for request_id, row in ended.items() if request_id in new)
    if figures:
        more: Any = insert(_table(LedgerRollupRow))
        sums = {name: _table(LedgerRollupRow).c[name] + more.excluded[name] for name in FIGURES}
        await connection.execute(more.on_conflict_do_update(index_elements=KEY, set_=sums), figures)
    return len(new)


async def warm(database: Database) -> None:
    """Send every statement once and undo it: the first use of each is slow, and should not meet a request.

    Raises:
        StoreUnavailable: The database does not answer.
    """
    nobody = Opening(
        request_id="", at=datetime.fromtimestamp(0, UTC), endpoint="", attribution=Attribution("", ""), key_id="",
        model="", policy_version="",
    )  # fmt: skip
    held = LedgerEvent(kind=EventKind.HELD, opening=nobody)
    attempt: Row = dict.fromkeys(_table(LedgerAttemptRow).columns.keys(), 0)
    async with database.transaction() as connection:
        rows = [event_row(held), event_row(replace(held, kind=EventKind.CANCELLED))]
        await insert_new(connection, rows, [attempt])
        await connection.rollback()


async def settle_on_disk(database: Database) -> bool:
    """Bring what is committed to the disk itself, and tell whether all of it is there.

    A commit on SQLite survives the death of the process, but not of the machine, until it is checkpointed. PostgreSQL
    has no such gap.

    Raises:
        StoreUnavailable: The database does not answer.
    """
    if database.dialect != "sqlite":
        return True
    async with database.reading() as connection:
        _, frames, moved = (await connection.execute(text("PRAGMA wal_checkpoint(PASSIVE)"))).one()
    return frames == moved


def request_of(entry: Entry) -> str:
    """Return the request an entry belongs to."""
    return entry.opening.request_id if isinstance(entry, LedgerEvent) else entry.request_id


def _table(row: type[Base]) -> Table:
    return cast("Table", row.__table__)
