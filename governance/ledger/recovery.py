"""After a restart: store and close what a dead process left open."""

import asyncio
import logging
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import msgspec
from sqlalchemy import select
from sqlalchemy.orm import aliased

from governance.database import Database
from governance.ledger.batches import insert_new, settle_on_disk, store
from governance.ledger.events import Entry, EventKind
from governance.ledger.journal.backlog import entries_of
from governance.ledger.journal.legacies import Left, Legacy, discard
from governance.ledger.rows import Row
from governance.ledger.tables import LedgerEventRow, micros

_BATCH = 500
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Inheritance:
    """What was found in the journals of dead processes; all that was whole is stored now."""

    entries: int = 0
    rejected: int = 0
    damaged: int = 0

    def __add__(self, other: "Inheritance") -> "Inheritance":
        return Inheritance(self.entries + other.entries, self.rejected + other.rejected, self.damaged + other.damaged)


async def inherit(legacies: Sequence[Legacy], database: Database) -> Inheritance:
    """Store what dead processes recorded and did not store, in its order; what they did store changes nothing.

    Raises:
        StoreUnavailable: The database does not answer. What is not stored is left for the next start.
    """
    found, damaged = Inheritance(), dict[Path, bool]()
    try:
        for legacy in legacies:
            for left in legacy.files():
                stored = await _store_file(left, database)
                damaged[left.path] = stored.damaged > 0
                found += stored
        await settle_on_disk(database)  # before the files go, which the disk has
        for path, keep in damaged.items():
            discard(path, keep=keep)
    finally:
        for legacy in legacies:
            legacy.close()
    if found.entries or found.damaged:
        _log.warning(
            "took over %s ledger entries of a process that ended early; %s were rejected, %s places were damaged",
            found.entries,
            found.rejected,
            found.damaged,
        )
    return found


async def _store_file(left: Left, database: Database) -> Inheritance:
    entries, strange = await asyncio.to_thread(_read, left)
    rejected = 0
    for start in range(0, len(entries), _BATCH):
        rejected += await store(database, entries[start : start + _BATCH])
    return Inheritance(len(entries), rejected, left.damaged + strange)


def _read(left: Left) -> tuple[list[Entry], int]:
    """Decode a file's records and count those that this program cannot read."""
    entries: list[Entry] = []
    strange = 0
    for record in left.records:
        try:
            entries += entries_of(record)
        except msgspec.DecodeError:
            strange += 1
    return entries, strange


async def expire_orphans(
    database: Database,
    *,
    leases_over: tuple[datetime, datetime] | None = None,
    among: Collection[str] | None = None,
    spared: Collection[str] = (),
) -> int:
    """End holds without an end as expired, at what they held, because the upstream may have billed for them.

    Args:
        database: The ledger's.
        leases_over: Only holds whose lease ended in this span, where other processes write the same ledger. None takes
            every open hold for a dead one: only for the sole process of a ledger, before it opens its first hold.
        among: Only holds of these requests, whose leases are over.
        spared: Requests that have outlived their process, and that another goes on with.

    Returns:
        How many there were.
    """
    ended = aliased(LedgerEventRow)
    orphans = select(*(column for column in LedgerEventRow.__table__.columns if column.name != "id")).where(
        LedgerEventRow.kind == EventKind.HELD.value,
        ~select(ended.id)
        .where(ended.request_id == LedgerEventRow.request_id, ended.kind != EventKind.HELD.value)
        .exists(),
    )
    if leases_over is not None:
        since, until = map(micros, leases_over)
        orphans = orphans.where(LedgerEventRow.lease_until >= since, LedgerEventRow.lease_until < until)
    if among is not None:
        orphans = orphans.where(LedgerEventRow.request_id.in_(among))
    async with database.transaction() as connection:
        found: list[Row] = [dict(row) for row in (await connection.execute(orphans)).mappings()]
        found = [row for row in found if row["request_id"] not in spared]
        end: Row = {"kind": EventKind.EXPIRED.value, "lease_until": None}
        expired = [row | end | {"cost_nanos": row["held_nanos"]} for row in found]
        return await insert_new(connection, expired, ())
