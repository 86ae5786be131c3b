"""The progress of a batch: from one status to the next, whichever process takes the step, and each step once.

A batch is `validating` until its lines are stored, `in_progress` (or `cancelling`) until each of them has a result, and
then at once what it came to. Every step is a transaction that asks for the status before it.
"""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

import msgspec
from sqlalchemy import Row, delete, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from governance.database import Database
from governance.deferred.batches import find, line_row
from governance.deferred.files import size_of_results
from governance.deferred.records import OPEN, RUNNING, Batch, BatchStatus, Fault, LineState, NewLine
from governance.deferred.tables import DeferredBatchRow, DeferredFileRow, DeferredLineRow
from governance.ledger.tables import micros

_B = DeferredBatchRow
_F = DeferredFileRow
_L = DeferredLineRow

LOOKING: Final = timedelta(seconds=60)
"""How long the input of a batch is one worker's to look at; one that dies is followed by another after that."""

AT_ONCE: Final = 500
"""Lines in one transaction: nobody else writes to a SQLite meanwhile."""

_VALIDATING = _B.status == BatchStatus.VALIDATING.value

Ending = Callable[[str, str, int], bytes]
"""Words the result of a line that will not be run: from its batch, its own id and its number."""


async def to_validate(database: Database, at: datetime) -> Batch | None:
    """Take a batch whose input nobody is looking at; None when there is none."""
    ready = (_VALIDATING, _B.not_before <= micros(at))
    async with database.reading() as connection:
        batch_id = await connection.scalar(select(_B.id).where(*ready).order_by(_B.created_at).limit(1))
    if batch_id is None:
        return None
    async with database.transaction() as connection:
        mine = update(_B).where(_B.id == batch_id, *ready).values(not_before=micros(at + LOOKING))
        if not (await connection.execute(mine)).rowcount:
            return None
    return await find(database, batch_id)


async def add_lines(database: Database, batch_id: str, lines: Sequence[NewLine], at: datetime) -> bool:
    """Store lines of a batch that is being validated, which may be there already; False when it no longer is."""
    add = database.insert(_L).on_conflict_do_nothing()
    async with database.transaction() as connection:
        mine = update(_B).where(_B.id == batch_id, _VALIDATING).values(not_before=micros(at + LOOKING))
        if not (await connection.execute(mine)).rowcount:
            return False
        await connection.execute(add, [line_row(batch_id, line) for line in lines])
    return True


async def begin(database: Database, batch_id: str, at: datetime) -> None:
    """Let the lines of a batch be run, for all of them are stored and good."""
    values = {"status": BatchStatus.IN_PROGRESS.value, "in_progress_at": micros(at), "not_before": 0}
    async with database.transaction() as connection:
        await connection.execute(update(_B).where(_B.id == batch_id, _VALIDATING).values(**values))


async def reject(database: Database, batch_id: str, faults: Sequence[Fault], at: datetime) -> None:
    """End a batch whose input cannot be used; nothing of it has been run."""
    said = msgspec.json.encode(faults).decode()
    values = {"status": BatchStatus.FAILED.value, "failed_at": micros(at), "faults": said}
    async with database.transaction() as connection:
        if (await connection.execute(update(_B).where(_B.id == batch_id, _VALIDATING).values(**values))).rowcount:
            await connection.execute(delete(_L).where(_L.batch_id == batch_id))


async def restart_validation(database: Database) -> None:
    """Let every input be looked at anew; only for the sole process of a database, before it looks at its first."""
    async with database.transaction() as connection:
        await connection.execute(update(_B).where(_VALIDATING).values(not_before=0))


async def stop_lines(database: Database, at: datetime, late: Ending, cancelled: Ending) -> None:
    """Give the lines that wait in vain their result: their batch was cancelled, or its time is over.

    Args:
        database: Where they are.
        at: Now.
        late: Words the result of one whose time is over.
        cancelled: Words the result of one whose batch was cancelled.
    """
    over = (_B.status.in_([status.value for status in RUNNING]), _B.expires_at <= micros(at))
    for condition, state, worded in (
        ((_B.status == BatchStatus.CANCELLING.value,), LineState.CANCELLED, cancelled),
        (over, LineState.EXPIRED, late),
    ):
        waiting = (_L.state == LineState.WAITING.value,)
        some = select(_L.batch_id, _L.custom_id, _L.n).join(_B, _B.id == _L.batch_id).where(*condition, *waiting)
        while True:
            async with database.reading() as connection:
                found = (await connection.execute(some.limit(AT_ONCE))).all()
            if not found:
                break
            async with database.transaction() as connection:
                for line in found:
                    mine = update(_L).where(_L.batch_id == line.batch_id, _L.n == line.n, *waiting)
                    result = worded(line.batch_id, line.custom_id, line.n)
                    await connection.execute(mine.values(state=state.value, result=result, body=None))


async def end(database: Database, at: datetime) -> int:
    """End the batches of which every line has its result, or that will have no line; return how many there were."""
    now = micros(at)
    unfinished = select(_L.n).where(_L.batch_id == _B.id, _L.state.in_([state.value for state in OPEN])).exists()
    stored = _B.status.in_([BatchStatus.IN_PROGRESS.value, BatchStatus.CANCELLING.value])
    ready = (stored | (_VALIDATING & (_B.expires_at <= now))) & ~unfinished
    async with database.reading() as connection:
        ids = (await connection.scalars(select(_B.id).where(ready))).all()
    for batch_id in ids:
        async with database.transaction() as connection:
            row = (await connection.execute(select(_B.__table__).where(_B.id == batch_id, ready))).one_or_none()
            if row is not None:
                await _end(connection, row, now)
    return len(ids)


async def _end(connection: AsyncConnection, batch: Row[Any], now: int) -> None:
    """Write what a batch came to, with its files; a file without a line is none."""
    ended = await _came_to(connection, batch)
    at = {"status": ended.value, "finalizing_at": now, f"{ended.value}_at": now, "not_before": 0}
    still = update(_B).where(_B.id == batch.id, _B.status == batch.status)
    if not (await connection.execute(still.values(**at))).rowcount:
        return  # another process came first
    files: dict[str, str] = {}
    for answered, name in ((True, "output"), (False, "error")):
        size = await connection.scalar(size_of_results(batch.id, answered=answered))
        if size:
            files[f"{name}_file_id"] = file_id = f"file-{batch.id.removeprefix('batch_')}-{name}"
            await connection.execute(insert(_F).values(**_file(batch, file_id, name, int(size), now)))
    if files:
        await connection.execute(update(_B).where(_B.id == batch.id).values(**files))


async def _came_to(connection: AsyncConnection, batch: Row[Any]) -> BatchStatus:
    if batch.status == BatchStatus.CANCELLING.value:
        return BatchStatus.CANCELLED
    late = select(_L.n).where(_L.batch_id == batch.id, _L.state == LineState.EXPIRED.value).limit(1)
    over = batch.status == BatchStatus.VALIDATING.value or await connection.scalar(late) is not None
    return BatchStatus.EXPIRED if over else BatchStatus.COMPLETED


def _file(batch: Row[Any], file_id: str, name: str, size: int, now: int) -> dict[str, Any]:
    return {
        "id": file_id,
        "team": batch.team,
        "app": batch.app,
        "purpose": "batch_output",
        "filename": f"{batch.id}_{name}.jsonl",
        "size": size,
        "created_at": now,
        "batch_id": batch.id,
        "answered": name == "output",
    }
