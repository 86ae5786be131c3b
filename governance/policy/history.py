"""Which policy was put in force when, and by whom: an append-only table, and the only word on what governs.

The newest `active` row is the policy in force for every process that shares the database, so a change is one row, and
going back is one more. The text is kept as it was written and read elsewhere: here a policy is its text and the version
that stands for its content.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import func, insert, select, text

from governance.audit.chain import Act, Actor, Fact
from governance.audit.log import append
from governance.ledger.tables import instant, micros
from governance.policy.tables import PolicyRow

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from sqlalchemy import Row
    from sqlalchemy.ext.asyncio import AsyncConnection

    from governance.database import Database

_R: Final = PolicyRow


class Mode(StrEnum):
    """What was decided: this policy governs; it is tried beside the one that governs; or none is tried any more."""

    ACTIVE = "active"
    SHADOW = "shadow"
    UNSHADOWED = "unshadowed"


_ACTS: Final = {
    Mode.ACTIVE: Act.POLICY_APPLIED,
    Mode.SHADOW: Act.POLICY_SHADOWED,
    Mode.UNSHADOWED: Act.POLICY_UNSHADOWED,
}


@dataclass(frozen=True, slots=True)
class Written:
    """A policy as somebody wrote it.

    Attributes:
        version: stands for its content.
        text: the whole document.
        source: where it came from: a file's full path, or words for what is no file.
    """

    version: str
    text: str
    source: str


@dataclass(frozen=True, slots=True)
class Applied:
    """One decision.

    Attributes:
        id: its place in the history; a later decision has a higher one.
        mode: what was decided.
        policy: about which policy; its text is empty where only the decision was asked for.
        by: who decided.
        at: when.
        note: what else they had to say.
    """

    id: int
    mode: Mode
    policy: Written
    by: Actor
    at: datetime
    note: str


async def apply(
    database: Database,
    mode: Mode,
    policy: Written,
    *,
    over: int,
    by: Actor,
    at: datetime,
    note: str = "",
    facts: Mapping[str, Fact] | None = None,
) -> Applied | None:
    """Add a decision and its entry of the audit log, in one transaction.

    Args:
        database: Where the history is.
        mode: What is decided.
        policy: About which policy.
        over: The newest decision that whoever decides has seen; 0 for none.
        by: Who decides.
        at: An aware instant.
        note: What else they have to say.
        facts: What the audit log is told besides.

    Returns:
        The decision, or None when there is a newer one than `over`: look again and decide anew.

    Raises:
        StoreUnavailable: The database does not answer.
    """
    async with database.transaction() as connection:
        await _take_turns(database, connection)
        if await _newest_id(connection) != over:
            return None
        values = {
            "mode": mode.value,
            "version": policy.version,
            "text": policy.text,
            "source": policy.source,
            "actor": by.name,
            "role": by.role,
            "at": micros(at),
            "note": note,
        }
        number = (await connection.execute(insert(_R).values(values).returning(_R.id))).scalar_one()
        told = {"source": policy.source, "note": note, **(facts or {})}
        await append(connection, by, _ACTS[mode], policy.version, at=at, facts=told)
    return Applied(number, mode, policy, by, at, note)


async def newest_id(database: Database) -> int:
    """Return the id of the newest decision, 0 when there is none; cheap enough to ask several times a second.

    Raises:
        StoreUnavailable: The database does not answer.
    """
    async with database.reading() as connection:
        return await _newest_id(connection)


async def newest(database: Database, *modes: Mode, before: int | None = None, source: str = "") -> Applied | None:
    """Return the newest decision of some kinds, perhaps only before another one, perhaps only from a source.

    Raises:
        StoreUnavailable: The database does not answer.
    """
    query = select(*_R.__table__.columns).where(_R.mode.in_([mode.value for mode in modes]))
    if before is not None:
        query = query.where(_R.id < before)
    if source:
        query = query.where(_R.source == source)
    async with database.reading() as connection:
        row = (await connection.execute(query.order_by(_R.id.desc()).limit(1))).one_or_none()
    return None if row is None else _applied(row, row.text)


async def shadow(database: Database) -> Applied | None:
    """Return the decision to try a policy beside the one in force, or None when none is tried.

    Raises:
        StoreUnavailable: The database does not answer.
    """
    last = await newest(database, Mode.SHADOW, Mode.UNSHADOWED)
    return last if last is not None and last.mode is Mode.SHADOW else None


async def of_version(database: Database, version: str) -> tuple[Applied, ...]:
    """Return the newest decision about each version that begins so: one, when it is whole or names only one.

    Raises:
        StoreUnavailable: The database does not answer.
    """
    begins = _R.version.startswith(version, autoescape=True)
    return await _last_of_each(database, begins)


async def every_version(database: Database) -> tuple[Applied, ...]:
    """Return the newest decision about each version there ever was.

    Raises:
        StoreUnavailable: The database does not answer.
    """
    return await _last_of_each(database, _R.version != "")


async def listed(database: Database, limit: int, *, before: int | None = None) -> tuple[Applied, ...]:
    """List the newest decisions, newest first, without the texts.

    Raises:
        StoreUnavailable: The database does not answer.
    """
    columns = [column for column in _R.__table__.columns if column.name != "text"]
    query = select(*columns).order_by(_R.id.desc()).limit(limit)
    if before is not None:
        query = query.where(_R.id < before)
    async with database.reading() as connection:
        return tuple(_applied(row) for row in await connection.execute(query))


async def _last_of_each(database: Database, condition: Any) -> tuple[Applied, ...]:
    decided = _R.mode != Mode.UNSHADOWED.value

    last = select(func.max(_R.id)).where(condition, decided).group_by(_R.version)
    query = select(*_R.__table__.columns).where(_R.id.in_(last)).order_by(_R.id)
    async with database.reading() as connection:
        return tuple(_applied(row, row.text) for row in await connection.execute(query))


async def _take_turns(database: Database, connection: AsyncConnection) -> None:
    """Let one decide at a time, so that ids become visible in their order; on SQLite there is one writer anyway."""
    if database.dialect == "postgresql":
        await connection.execute(text("LOCK TABLE policy_version IN EXCLUSIVE MODE"))


async def _newest_id(connection: AsyncConnection) -> int:
    return await connection.scalar(select(_R.id).order_by(_R.id.desc()).limit(1)) or 0


def _applied(row: Row[Any], written: str = "") -> Applied:
    policy = Written(row.version, written, row.source)
    return Applied(row.id, Mode(row.mode), policy, Actor(row.actor, row.role), instant(row.at), row.note)
