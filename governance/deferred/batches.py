"""Batches: handed in, shown and cancelled."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

import msgspec
from sqlalchemy import Executable, Row, Select, case, func, insert, select, tuple_, update

from governance.audit.chain import Act, Actor
from governance.audit.log import append
from governance.database import Database
from governance.deferred.records import (
    UNANSWERED,
    Batch,
    BatchStatus,
    Counts,
    Fault,
    LineState,
    NewLine,
    Owner,
    Submission,
)
from governance.deferred.tables import DeferredBatchRow, DeferredLineRow
from governance.errors import BatchEnded, UnknownBatch
from governance.ledger.tables import instant, micros

_B = DeferredBatchRow
_L = DeferredLineRow

_STOPPABLE = (BatchStatus.VALIDATING.value, BatchStatus.IN_PROGRESS.value)


async def submit(database: Database, handed_in: Submission, at: datetime) -> Batch:
    """Take in a batch whose lines are in a file; they are looked at later.

    Raises:
        StoreUnavailable: The database does not answer; nothing was taken in.
    """
    async with database.transaction() as connection:
        await connection.execute(insert(_B).values(**_row(handed_in, BatchStatus.VALIDATING, at)))
    return await find(database, handed_in.id, handed_in.owner)


async def enqueue(
    database: Database, handed_in: Submission, line: NewLine, at: datetime, not_before: datetime
) -> Batch:
    """Take in a single request as a batch of one line, of which nothing is done before an instant.

    Returns:
        The batch; the one of this id that was taken in before, if there is one.

    Raises:
        StoreUnavailable: The database does not answer; nothing was taken in.
    """
    row = _row(handed_in, BatchStatus.IN_PROGRESS, at) | {"not_before": micros(not_before)}
    add = database.insert(_B).on_conflict_do_nothing()
    async with database.transaction() as connection:
        if (await connection.execute(add.values(**row))).rowcount:
            await connection.execute(insert(_L), [line_row(handed_in.id, line)])
    return await find(database, handed_in.id, handed_in.owner)


async def find(database: Database, batch_id: str, owner: Owner | None = None) -> Batch:
    """Return a batch, of a certain owner unless that is None.

    Raises:
        UnknownBatch: The owner has none of that id.
    """
    async with database.reading() as connection:
        row = (await connection.execute(_one(batch_id, owner))).one_or_none()
        if row is None:
            raise UnknownBatch(batch_id)
        counts = {found.batch_id: found for found in await connection.execute(_counts([batch_id]))}
    return _batch(row, counts)


async def listed(
    database: Database,
    limit: int,
    *,
    team: str | None = None,
    owner: Owner | None = None,
    after: str | None = None,
) -> tuple[Batch, ...]:
    """List batches, the newest first: all, those of a team or of an owner, perhaps only those after one of them.

    Raises:
        UnknownBatch: The owner has no batch `after`.
    """
    query = select(_B.__table__).order_by(_B.created_at.desc(), _B.id.desc()).limit(limit)
    if owner is not None:
        query = query.where(_B.team == owner.team, _B.app == owner.app)
    if team is not None:
        query = query.where(_B.team == team)
    async with database.reading() as connection:
        if after is not None:
            last = (await connection.execute(_one(after, owner))).one_or_none()
            if last is None:
                raise UnknownBatch(after)
            query = query.where(tuple_(_B.created_at, _B.id) < tuple_(last.created_at, last.id))
        rows = (await connection.execute(query)).all()
        counts = {found.batch_id: found for found in await connection.execute(_counts([row.id for row in rows]))}
    return tuple(_batch(row, counts) for row in rows)


async def cancel(
    database: Database, batch_id: str, owner: Owner | None, at: datetime, by: Actor | None = None
) -> Batch:
    """Let nothing more be begun for a batch; what runs is still finished, and kept. A second time changes nothing.

    Args:
        database: Where it is.
        batch_id: Which.
        owner: Whose it must be; None for anybody's.
        at: Now.
        by: Who administers, to be written down in the audit log; None for its owner, who may do as it likes.

    Raises:
        UnknownBatch: The owner has none of that id.
        BatchEnded: It has ended otherwise.
    """
    stop = update(_B).where(_B.id == batch_id, _B.status.in_(_STOPPABLE))
    found = await find(database, batch_id, owner)
    async with database.transaction() as connection:
        values = {"status": BatchStatus.CANCELLING.value, "cancelling_at": micros(at), "not_before": micros(at)}
        stopped = (await connection.execute(stop.values(**values))).rowcount
        if stopped and by is not None:
            await append(connection, by, Act.BATCH_CANCELLED, batch_id, at=at, team=found.owner.team)
    found = await find(database, found.id)
    if not stopped and found.status not in {BatchStatus.CANCELLING, BatchStatus.CANCELLED}:
        raise BatchEnded(batch_id, found.status.value)
    return found


def line_row(batch_id: str, line: NewLine) -> dict[str, Any]:
    """Return a line as it is stored when it is new."""
    return {
        "batch_id": batch_id,
        "n": line.n,
        "custom_id": line.custom_id,
        "state": LineState.WAITING.value,
        "generation": 0,
        "failures": 0,
        "not_before": 0,
        "body": line.body,
    }


def _one(batch_id: str, owner: Owner | None) -> Select[Any]:
    query = select(_B.__table__).where(_B.id == batch_id)
    return query if owner is None else query.where(_B.team == owner.team, _B.app == owner.app)


def _counts(batch_ids: Sequence[str]) -> Executable:
    unanswered = [state.value for state in UNANSWERED]
    return (
        select(
            _L.batch_id,
            func.count().label("total"),
            func.sum(case((_L.state == LineState.DONE.value, 1), else_=0)).label("completed"),
            func.sum(case((_L.state.in_(unanswered), 1), else_=0)).label("failed"),
        )
        .where(_L.batch_id.in_(batch_ids))
        .group_by(_L.batch_id)
    )


def _row(handed_in: Submission, status: BatchStatus, at: datetime) -> dict[str, Any]:
    details = None if handed_in.metadata is None else msgspec.json.encode(handed_in.metadata).decode()
    return {
        "id": handed_in.id,
        "team": handed_in.owner.team,
        "app": handed_in.owner.app,
        "key_id": handed_in.key_id,
        "endpoint": handed_in.endpoint,
        "completion_window": handed_in.completion_window,
        "input_file_id": handed_in.input_file_id,
        "status": status.value,
        "details": details,
        "asked": handed_in.asked,
        "created_at": micros(at),
        "expires_at": micros(handed_in.expires_at),
        "in_progress_at": micros(at) if status is BatchStatus.IN_PROGRESS else None,
        "not_before": 0,
        "served_at": 0,
    }


def _batch(row: Row[Any], counts: dict[str, Any]) -> Batch:
    counted = counts.get(row.id)
    return Batch(
        id=row.id,
        owner=Owner(row.team, row.app),
        key_id=row.key_id,
        endpoint=row.endpoint,
        completion_window=row.completion_window,
        expires_at=instant(row.expires_at),
        asked=row.asked,
        input_file_id=row.input_file_id,
        metadata=None if row.details is None else msgspec.json.decode(row.details, type=dict[str, str]),
        status=BatchStatus(row.status),
        created_at=instant(row.created_at),
        counts=Counts() if counted is None else Counts(counted.total, int(counted.completed), int(counted.failed)),
        waits_until=instant(row.not_before) if row.not_before else None,
        output_file_id=row.output_file_id,
        error_file_id=row.error_file_id,
        faults=() if row.faults is None else msgspec.json.decode(row.faults, type=tuple[Fault, ...]),
        **_instants(row, ("in_progress", "finalizing", "completed", "failed", "expired", "cancelling", "cancelled")),
    )


def _instants(row: Row[Any], names: Iterable[str]) -> dict[str, Any]:
    at = {f"{name}_at": getattr(row, f"{name}_at") for name in names}
    return {name: None if value is None else instant(value) for name, value in at.items()}
