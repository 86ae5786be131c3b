"""The audit log in the database: appended to within the act's own transaction, listed, and proven."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Row, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from governance.audit.chain import GENESIS, Act, Actor, Entry, Fact, digest, facts_text
from governance.audit.tables import AuditHeadRow, AuditRow
from governance.database import Database
from governance.ledger.tables import instant, micros

_PAGE: Final = 1000


@dataclass(frozen=True, slots=True)
class Broken:
    """The first place at which the chain does not hold, and in what way."""

    n: int
    why: str


@dataclass(frozen=True, slots=True)
class Proof:
    """What a look at the whole chain found: how many entries hold, and the first that does not."""

    entries: int
    broken: Broken | None


async def append(
    connection: AsyncConnection,
    by: Actor,
    act: Act,
    subject: str,
    *,
    at: datetime,
    team: str = "",
    facts: Mapping[str, Fact] | None = None,
) -> None:
    """Write an act down in the transaction that does it, so that there is never one without the other.

    Call it last: from here to the commit all other writers of the log wait.
    """
    head = update(AuditHeadRow).values(n=AuditHeadRow.n + 1).returning(AuditHeadRow.n, AuditHeadRow.hash)
    n, previous = (await connection.execute(head)).one()
    text, stamp = facts_text(facts or {}), micros(at)
    sealed = digest(n, stamp, by, act.value, subject, team, text, previous)
    await connection.execute(
        insert(AuditRow).values(
            n=n,
            at=stamp,
            actor=by.name,
            role=by.role,
            act=act.value,
            subject=subject,
            team=team,
            facts=text,
            previous=previous,
            hash=sealed,
        )
    )
    await connection.execute(update(AuditHeadRow).values(hash=sealed))


async def entries(
    database: Database, limit: int, *, before: int | None = None, team: str | None = None
) -> tuple[Entry, ...]:
    """List the newest entries, newest first, perhaps only those before an entry, perhaps of one team.

    Raises:
        StoreUnavailable: The database does not answer.
    """
    query = select(*AuditRow.__table__.columns).order_by(AuditRow.n.desc()).limit(limit)
    if before is not None:
        query = query.where(AuditRow.n < before)
    if team is not None:
        query = query.where(AuditRow.team == team)
    async with database.reading() as connection:
        return tuple(_entry(row) for row in await connection.execute(query))


async def verify(database: Database) -> Proof:
    """Prove the chain from its first entry to its newest, a thousand entries in memory at a time.

    The newest is read first and entries only up to it, so that acts of this moment do not look like damage.

    Raises:
        StoreUnavailable: The database does not answer.
    """
    async with database.reading() as connection:
        head = (await connection.execute(select(AuditHeadRow.n, AuditHeadRow.hash))).one_or_none()
        if head is None:
            return Proof(0, Broken(0, "the record of the newest entry is missing"))
        held, previous = 0, GENESIS
        while page := await _page(connection, held, head.n):
            for row in page:
                why = _fault(row, held + 1, previous)
                if why:
                    return Proof(held, Broken(held + 1, why))
                held, previous = row.n, row.hash
        if held < head.n:
            return Proof(held, Broken(held + 1, "the entry is missing"))
        if previous != head.hash:
            return Proof(held, Broken(held, "the entry is not the one that was recorded as the newest"))
        beyond = await connection.scalar(select(AuditRow.n).where(AuditRow.n > head.n).limit(1))
    # On PostgreSQL another writer may have added entries between our queries; then the newest has moved as well.
    return Proof(
        held,
        Broken(head.n + 1, "the entry is beyond the newest") if beyond and await _still(database, head.n) else None,
    )


async def _still(database: Database, n: int) -> bool:
    async with database.reading() as connection:
        return await connection.scalar(select(AuditHeadRow.n)) == n


async def _page(connection: AsyncConnection, after: int, until: int) -> list[Row[Any]]:
    query = select(*AuditRow.__table__.columns).where(AuditRow.n > after, AuditRow.n <= until)
    return list(await connection.execute(query.order_by(AuditRow.n).limit(_PAGE)))


def _fault(row: Row[Any], n: int, previous: str) -> str:
    if row.n != n:
        return "the entry is missing"
    if row.previous != previous:
        return "the entry does not follow the one before it"
    actor = Actor(row.actor, row.role)
    if row.hash != digest(row.n, row.at, actor, row.act, row.subject, row.team, row.facts, row.previous):
        return "the entry was changed"
    return ""


def _entry(row: Row[Any]) -> Entry:
    return Entry(
        n=row.n,
        at=instant(row.at),
        actor=Actor(row.actor, row.role),
        act=row.act,
        subject=row.subject,
        team=row.team,
        facts=json.loads(row.facts),
        previous=row.previous,
        hash=row.hash,
    )
