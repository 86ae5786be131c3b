"""The queue: lines handed out, each to one worker at a time and each with one result.

Every change of a line that runs names its generation, so a worker that lost its lease changes nothing any more.
"""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import Row, delete, func, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from governance.database import Database
from governance.deferred.records import BatchStatus, Line, LineState, Owner, Parcel
from governance.deferred.tables import DeferredBatchRow, DeferredLineRow, DeferredParcelRow
from governance.ledger.tables import instant, micros

_B = DeferredBatchRow
_L = DeferredLineRow
_P = DeferredParcelRow

LEASE: Final = timedelta(seconds=20)
"""How long a line is one worker's alone, unless it is renewed."""

_LOCK: Final = 0xDEFE2
"""One number that all processes of this product agree on; another than those of `migrations` and of alerts."""

Closed = Callable[[Owner], datetime | None]
"""Says until when nothing may be done for an owner; None when something may."""


async def due(database: Database, at: datetime) -> bool:
    """Say whether something may be there to be claimed, without keeping anybody from writing."""
    async with database.reading() as connection:
        waits = select(_B.id).where(_B.status == BatchStatus.IN_PROGRESS.value, _B.not_before <= micros(at)).limit(1)
        return await connection.scalar(waits) is not None


async def claim(database: Database, worker: str, at: datetime, most: int, closed: Closed) -> tuple[Line, ...]:
    """Take lines that are due, in turns from every batch.

    Args:
        database: Where they are.
        worker: Whose they will be.
        at: Now.
        most: How many may run at the same time, over all workers.
        closed: Until when nothing may be done for an owner.

    Raises:
        StoreUnavailable: The database does not answer; none was taken.
    """
    now = micros(at)
    async with database.turn(_LOCK) as connection:  # so that what runs is counted right
        live = (_L.state == LineState.RUNNING.value, _L.lease_until > now)
        room = most - (await connection.scalar(select(func.count()).select_from(_L).where(*live)) or 0)
        if room <= 0:
            return ()
        lapsed = (_L.state == LineState.RUNNING.value, _L.lease_until <= now)
        await connection.execute(update(_L).where(*lapsed).values(**_WAITING))
        taken: list[Line] = []
        batches = await _open(connection, now, room, closed)
        for place, batch in enumerate(batches):
            share = -(-(room - len(taken)) // (len(batches) - place))
            taken += await _take(connection, batch, worker, at, share)
    return tuple(taken)


async def renew(database: Database, worker: str, at: datetime) -> None:
    """Keep the lines that a worker has for another lease."""
    mine = (_L.state.in_(_HELD), _L.worker == worker, _L.lease_until > micros(at))
    async with database.transaction() as connection:
        await connection.execute(update(_L).where(*mine).values(lease_until=micros(at + LEASE)))


async def finish(database: Database, line: Line, state: LineState, result: bytes) -> bool:
    """Give a line its one result; False when it is another worker's meanwhile, or has one."""
    values = {"state": state.value, "result": result, "body": None, "worker": None, "lease_until": None}
    async with database.transaction() as connection:
        await connection.execute(delete(_P).where(_P.request_id == line.request_id))
        return (await connection.execute(update(_L).where(*_is(line)).values(**values))).rowcount > 0


async def put_back(
    database: Database, line: Line, *, line_until: datetime, batch_until: datetime | None = None, failed: bool = False
) -> None:
    """Let a line wait for another run.

    Args:
        database: Where it is.
        line: The line.
        line_until: Before when it is not run.
        batch_until: Before when nothing is done for all of its batch; None when the reason is the line's alone.
        failed: Its run came to nothing for a reason that may pass.
    """
    values = _WAITING | {"not_before": micros(line_until), "failures": _L.failures + int(failed)}
    async with database.transaction() as connection:
        await connection.execute(delete(_P).where(_P.request_id == line.request_id))
        await connection.execute(update(_L).where(*_is(line)).values(**values))
        if batch_until is not None:
            later = update(_B).where(_B.id == line.batch_id, _B.not_before < micros(batch_until))
            await connection.execute(later.values(not_before=micros(batch_until)))


async def wait_no_longer(database: Database) -> None:
    """Let every batch that waits for a budget or a window be looked at again, because another policy is in force."""
    waiting = (_B.status == BatchStatus.IN_PROGRESS.value, _B.not_before > 0)
    async with database.transaction() as connection:
        await connection.execute(update(_B).where(*waiting).values(not_before=0))


async def release(database: Database) -> int:
    """Take every line from its worker, and return how many there were; those that are carried can be taken up.

    Only for the sole process of a database, before it claims its first: whoever had them is dead.
    """
    held = update(_L).where(_L.state == LineState.RUNNING.value)
    carried = update(_L).where(_L.state == LineState.CARRIED.value)
    async with database.transaction() as connection:
        await connection.execute(carried.values(lease_until=0))
        return (await connection.execute(held.values(**_WAITING))).rowcount


async def _open(connection: AsyncConnection, now: int, most: int, closed: Closed) -> Sequence[Row[Any]]:
    """Return batches that something may be done for, the one that was served longest ago first."""
    status, in_time = _B.status == BatchStatus.IN_PROGRESS.value, _B.expires_at > now
    waiting = select(_L.n).where(_L.batch_id == _B.id, _L.state == LineState.WAITING.value, _L.not_before <= now)
    query = select(_B.__table__).where(status, in_time, _B.not_before <= now, waiting.exists())
    found: list[Row[Any]] = []
    for batch in await connection.execute(query.order_by(_B.served_at, _B.created_at).limit(most)):
        until = closed(Owner(batch.team, batch.app))
        if until is None:
            found.append(batch)
        else:
            same = (_B.team == batch.team, _B.app == batch.app, _B.not_before <= now)
            await connection.execute(update(_B).where(status, *same).values(not_before=micros(until)))
    return found


async def _take(connection: AsyncConnection, batch: Row[Any], worker: str, at: datetime, most: int) -> list[Line]:
    now = micros(at)
    first = (
        select(_L.n)
        .where(_L.batch_id == batch.id, _L.state == LineState.WAITING.value, _L.not_before <= now)
        .order_by(_L.n)
        .limit(most)
    )
    values = {"state": LineState.RUNNING.value, "worker": worker, "lease_until": micros(at + LEASE)}
    mine = update(_L).where(_L.batch_id == batch.id, _L.n.in_(first))
    taken = await connection.execute(mine.values(**values, generation=_L.generation + 1).returning(_L.__table__))
    lines = [line_of(row, batch) for row in taken]
    await connection.execute(update(_B).where(_B.id == batch.id).values(served_at=now))
    return sorted(lines, key=lambda line: line.n)


def _is(line: Line) -> tuple[Any, ...]:
    held = _L.state.in_(_HELD)
    return (_L.batch_id == line.batch_id, _L.n == line.n, _L.generation == line.generation, held)


def line_of(row: Row[Any], batch: Row[Any], parcel: Parcel | None = None) -> Line:
    """Read a line that is somebody's."""
    return Line(
        batch_id=row.batch_id,
        n=row.n,
        custom_id=row.custom_id,
        owner=Owner(batch.team, batch.app),
        key_id=batch.key_id,
        endpoint=batch.endpoint,
        asked=batch.asked,
        body=row.body,
        generation=row.generation,
        failures=row.failures,
        expires_at=instant(batch.expires_at),
        parcel=parcel,
    )


_HELD: Final = (LineState.RUNNING.value, LineState.CARRIED.value)
_WAITING: Final[dict[str, Any]] = {"state": LineState.WAITING.value, "worker": None, "lease_until": None}
