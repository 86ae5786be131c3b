"""The log of decisions: where each confined request might go, and every place it went, sealed entry by entry.

An entry is on record before what it tells of happens: a call that was made is in the log though its process ended in
the middle of it. Entries that come at the same time are written in one transaction.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from sqlalchemy import insert, select, update

from governance.audit.chain import GENESIS
from governance.confinement.tables import DecisionHeadRow, DecisionRow
from governance.errors import StoreUnavailable
from governance.ledger.tables import micros

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from datetime import datetime

    from governance.database import Database

Act = Literal["decided", "called", "refused"]
START: Final = GENESIS
"""What the first entry follows."""

_AT_ONCE: Final = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """One entry, before it has its place.

    Attributes:
        at: When.
        act: What: where a request may go, that it goes to a provider now, or that it may go nowhere.
        request_id: Which request.
        labels: What was found in it.
        zones: Where it may go.
        provider: Whom it goes to.
        zone: Where that is.
    """

    at: datetime
    act: Act
    request_id: str
    labels: tuple[str, ...] = ()
    zones: tuple[str, ...] = ()
    provider: str = ""
    zone: str = ""


def digest(n: int, at: int, act: str, request_id: str, labels: str, zones: str, *rest: str) -> str:
    """Return the hash of an entry: SHA-256 over its place, all its fields, and the hash of the entry before."""
    parts = [n, at, act, request_id, labels, zones, *rest]
    return hashlib.sha256(json.dumps(parts, separators=(",", ":")).encode()).hexdigest()


class DecisionLog:
    """Writes decisions down."""

    def __init__(self, database: Database) -> None:
        """Write to a database."""
        self._database = database
        self._waiting: list[tuple[Decision, asyncio.Future[None]]] = []
        self._writing: asyncio.Task[None] | None = None

    async def write(self, decision: Decision) -> None:
        """Write an entry down; it is on record when this returns.

        Raises:
            StoreUnavailable: The database does not answer, and what was to be done must not be.
        """
        written = asyncio.get_running_loop().create_future()
        written.add_done_callback(lambda done: done.cancelled() or done.exception())  # whoever waits may have left
        self._waiting.append((decision, written))
        if self._writing is None or self._writing.done():
            self._writing = asyncio.create_task(self._write(), name="decisions")
        await asyncio.shield(written)

    async def _write(self) -> None:
        while self._waiting:
            batch, self._waiting = self._waiting, []
            try:
                await self._append([decision for decision, _ in batch])
            except BaseException as error:
                for _, written in batch:
                    written.set_exception(StoreUnavailable(f"the log of decisions was not written: {error}"))
                if not isinstance(error, Exception):
                    raise
            else:
                for _, written in batch:
                    written.set_result(None)

    async def _append(self, batch: Sequence[Decision]) -> None:
        head = update(DecisionHeadRow).values(n=DecisionHeadRow.n + len(batch))
        async with self._database.transaction() as connection:
            n, previous = (await connection.execute(head.returning(DecisionHeadRow.n, DecisionHeadRow.hash))).one()
            rows: list[dict[str, str | int]] = []
            for place, one in enumerate(batch, n - len(batch) + 1):
                labels, zones, stamp = ",".join(one.labels), ",".join(one.zones), micros(one.at)
                sealed = digest(place, stamp, one.act, one.request_id, labels, zones, one.provider, one.zone, previous)
                rows.append(
                    {
                        "n": place,
                        "at": stamp,
                        "act": one.act,
                        "request_id": one.request_id,
                        "labels": labels,
                        "zones": zones,
                        "provider": one.provider,
                        "zone": one.zone,
                        "previous": previous,
                        "hash": sealed,
                    }
                )
                previous = sealed
            await connection.execute(insert(DecisionRow), rows)
            await connection.execute(update(DecisionHeadRow).values(hash=previous))


async def strays(database: Database, request_ids: Collection[str], zone: str) -> frozenset[str]:
    """Return those of some requests that may not go to a zone, by what was decided of them.

    Raises:
        StoreUnavailable: The database does not answer, and none of them must go.
    """
    ids, found = list(request_ids), set[str]()
    async with database.reading() as connection:
        for start in range(0, len(ids), _AT_ONCE):
            query = select(DecisionRow.request_id, DecisionRow.zones).where(
                DecisionRow.request_id.in_(ids[start : start + _AT_ONCE]),
                DecisionRow.act == "decided",
                DecisionRow.zones != "",
            )
            rows = await connection.execute(query)
            found.update(row.request_id for row in rows if zone not in row.zones.split(","))
    return frozenset(found)
