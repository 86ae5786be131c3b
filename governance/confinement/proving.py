"""Read the log of decisions again, beside the ledger: nothing confined has left its zones, and nothing is missing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import Row, func, select

from governance.confinement.decisions import START, digest
from governance.confinement.tables import DecisionHeadRow, DecisionRow
from governance.ledger.tables import LedgerAttemptRow, LedgerEventRow

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncConnection

    from governance.database import Database

_PAGE: Final = 1_000


@dataclass(frozen=True, slots=True)
class Breach:
    """The first thing that does not hold.

    Attributes:
        why: In a sentence.
        n: The entry of the log it is about; None where it is about the ledger.
        request_id: The request it is about, where it is about one.
    """

    why: str
    n: int | None = None
    request_id: str = ""


@dataclass(frozen=True, slots=True)
class ZoneProof:
    """What was looked at, and the first breach.

    Attributes:
        entries: Entries whose seals hold.
        confined: Requests that were confined.
        calls: Calls that were made for them.
        refused: Requests that might go nowhere.
        breach: What does not hold; None when all does.
    """

    entries: int
    confined: int
    calls: int
    refused: int
    breach: Breach | None


class _Reading:
    """What the entries so far have said."""

    def __init__(self) -> None:
        self.held, self.previous = 0, START
        self.zones: dict[str, frozenset[str]] = {}
        self.calls: dict[str, int] = {}
        self.refused = 0

    def fault(self, row: Row[Any]) -> str:
        """Take an entry in; return what is wrong with it, or nothing."""
        if row.n != self.held + 1:
            return "an entry is missing"
        if row.previous != self.previous:
            return "the entry does not follow the one before it"
        fields = (row.act, row.request_id, row.labels, row.zones, row.provider, row.zone, row.previous)
        if row.hash != digest(row.n, row.at, *fields):
            return "the entry was changed"
        self.held, self.previous = row.n, row.hash
        return self._meaning(row)

    def _meaning(self, row: Row[Any]) -> str:
        if row.act == "refused":
            self.refused += 1
        elif row.act == "decided":
            self.zones[row.request_id] = frozenset(filter(None, row.zones.split(",")))
        else:
            within = self.zones.get(row.request_id)
            if within is None:
                return "a call was made for a request of which nothing was decided"
            if within and row.zone not in within:
                return f"a call went to zone {row.zone!r}, outside {', '.join(sorted(within))}"
            self.calls[row.request_id] = self.calls.get(row.request_id, 0) + 1
        return ""


async def prove(database: Database) -> ZoneProof:
    """Prove the log, and that the ledger tells the same.

    Raises:
        StoreUnavailable: The database does not answer.
    """
    reading = _Reading()
    async with database.reading() as connection:
        breach = await _read(connection, reading) or await _compare(connection, reading)
    confined = sum(1 for within in reading.zones.values() if within)
    return ZoneProof(reading.held, confined, sum(reading.calls.values()), reading.refused, breach)


async def _read(connection: AsyncConnection, reading: _Reading) -> Breach | None:
    head = (await connection.execute(select(DecisionHeadRow.n, DecisionHeadRow.hash))).one_or_none()
    if head is None:
        return Breach("the record of the newest entry is missing")
    query = select(*DecisionRow.__table__.columns).order_by(DecisionRow.n).limit(_PAGE)
    while page := list(await connection.execute(query.where(DecisionRow.n > reading.held, DecisionRow.n <= head.n))):
        for row in page:
            why = reading.fault(row)
            if why:
                return Breach(why, row.n, row.request_id)
    if reading.held < head.n:
        return Breach("an entry is missing", reading.held + 1)
    if reading.previous != head.hash:
        return Breach("the entry is not the one that was recorded as the newest", reading.held)
    return None


async def _compare(connection: AsyncConnection, reading: _Reading) -> Breach | None:
    """Hold the ledger against the log: every confined request is in both, with as many calls, all inside."""
    confined = select(LedgerEventRow.request_id, LedgerEventRow.zone).where(LedgerEventRow.zone != "").distinct()
    for row in await connection.execute(confined):
        if not reading.zones.get(row.request_id):
            return Breach("the ledger has it as confined, and nothing was decided of it", None, row.request_id)
    made = (
        select(
            LedgerAttemptRow.request_id,
            LedgerAttemptRow.zone,
            func.count().label("calls"),
        )
        .join(DecisionRow, (DecisionRow.request_id == LedgerAttemptRow.request_id) & (DecisionRow.act == "decided"))
        .group_by(LedgerAttemptRow.request_id, LedgerAttemptRow.zone)
    )
    counted: dict[str, int] = {}
    for row in await connection.execute(made):
        within = reading.zones.get(row.request_id, frozenset())
        if within and row.zone not in within:
            why = f"the ledger has a call to zone {row.zone!r}, outside {', '.join(sorted(within))}"
            return Breach(why, None, row.request_id)
        counted[row.request_id] = counted.get(row.request_id, 0) + row.calls
    for request_id, calls in counted.items():
        if calls > reading.calls.get(request_id, 0):
            return Breach("the ledger has more calls than the log", None, request_id)
    return None
