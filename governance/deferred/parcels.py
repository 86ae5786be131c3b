"""Parcels: the requests of lines that a provider's own batch API answers, packed into shipments of one provider.

A line that is carried keeps its generation, and so its request in the ledger, until the provider has answered: a
process that takes it up after another has died goes on with the same request. A shipment is written down before it is
sent, and as `sending` before the provider is called, so that whoever finds it so asks the provider for it first.
"""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import ColumnElement, Row, bindparam, func, insert, select, update

from governance.database import Database
from governance.deferred.queue import LEASE, line_of
from governance.deferred.records import Delivered, Line, LineState, Parcel, Shipment, ShipmentState
from governance.deferred.tables import DeferredBatchRow, DeferredLineRow, DeferredParcelRow, DeferredShipmentRow
from governance.ledger.tables import instant, micros

_B = DeferredBatchRow
_L = DeferredLineRow
_P = DeferredParcelRow
_S = DeferredShipmentRow

CLAIM: Final = timedelta(seconds=120)
"""How long a shipment is one worker's to send or to ask after; one that dies is followed by another after that."""

AT_ONCE: Final = 200
_CARRIED = _L.state == LineState.CARRIED.value


async def hand_over(database: Database, line: Line, parcel: Parcel) -> bool:
    """Let a line that runs be carried; False when it is another worker's meanwhile. A second time changes nothing."""
    add = database.insert(_P).on_conflict_do_nothing()
    mine = (_L.batch_id == line.batch_id, _L.n == line.n, _L.generation == line.generation)
    running = _L.state.in_([LineState.RUNNING.value, LineState.CARRIED.value])
    row = {
        "batch_id": line.batch_id,
        "n": line.n,
        "request_id": parcel.request_id,
        "provider": parcel.provider,
        "path": parcel.path,
        "model": parcel.model,
        "upstream_model": parcel.upstream_model,
        "asked_at": micros(parcel.asked_at),
        "body": parcel.body,
    }
    async with database.transaction() as connection:
        carried = update(_L).where(*mine, running).values(state=LineState.CARRIED.value)
        if not (await connection.execute(carried)).rowcount:
            return False
        await connection.execute(add.values(**row))
    return True


async def take_up(database: Database, worker: str, at: datetime, most: int) -> tuple[Line, ...]:
    """Take carried lines whose worker is gone, each with its parcel and under the request it had."""
    lapsed = (_CARRIED, _L.lease_until <= micros(at))
    async with database.reading() as connection:
        query = select(_L.batch_id, _L.n).join(_P, _is_of_line()).where(*lapsed).limit(most)
        found = (await connection.execute(query)).all()
    taken: list[Line] = []
    for batch_id, n in found:
        mine = update(_L).where(_L.batch_id == batch_id, _L.n == n, *lapsed)
        async with database.transaction() as connection:
            values = {"worker": worker, "lease_until": micros(at + LEASE)}
            row = (await connection.execute(mine.values(**values).returning(_L.__table__))).one_or_none()
            if row is None:
                continue
            batch = (await connection.execute(select(_B.__table__).where(_B.id == batch_id))).one()
            parcel = (await connection.execute(select(_P.__table__).where(_P.batch_id == batch_id, _P.n == n))).one()
        taken.append(line_of(row, batch, _parcel(parcel)))
    return tuple(taken)


async def leave(database: Database, worker: str) -> None:
    """Let others take up what this worker has carried."""
    mine = update(_L).where(_CARRIED, _L.worker == worker)
    async with database.transaction() as connection:
        await connection.execute(mine.values(lease_until=0))


async def look_again(database: Database) -> None:
    """Let every shipment be looked at; only for the sole process of a database, before it looks at its first."""
    async with database.transaction() as connection:
        await connection.execute(update(_S).where(_S.state != ShipmentState.OVER.value).values(due_at=0))


async def requests(database: Database) -> frozenset[str]:
    """Name every request of the ledger that a provider's batch API may still answer."""
    async with database.reading() as connection:
        return frozenset(await connection.scalars(select(_P.request_id)))


async def delivered(database: Database, request_ids: Collection[str]) -> tuple[Delivered, ...]:
    """Return those of some requests that have been answered."""
    ids, found = list(request_ids), list[Delivered]()
    for start in range(0, len(ids), AT_ONCE):
        query = select(_P.request_id, _P.status, _P.result).where(
            _P.request_id.in_(ids[start : start + AT_ONCE]), _P.status.is_not(None)
        )
        async with database.reading() as connection:
            rows = await connection.execute(query)
            found += [Delivered(row.request_id, row.status, row.result or b"") for row in rows]
    return tuple(found)


async def pack(database: Database, new_id: str, at: datetime, *, gathered: timedelta, most: int) -> bool:
    """Pack parcels that go the same way into a shipment, once the first has waited long enough or there are enough.

    Returns:
        Whether there was something to pack.
    """
    way = (_P.provider, _P.path, _P.upstream_model)
    loose = _P.shipment_id.is_(None)
    async with database.transaction() as connection:
        count, first = func.count().label("count"), func.min(_P.asked_at).label("first")
        ready = select(*way, count).where(loose).group_by(*way)
        ready = ready.having((first <= micros(at - gathered)) | (count >= most)).limit(1)
        found = (await connection.execute(ready)).one_or_none()
        if found is None:
            return False
        same = [column == value for column, value in zip(way, found[:3], strict=True)]
        some = select(_P.request_id).where(loose, *same).order_by(_P.asked_at).limit(most)
        packed = update(_P).where(_P.request_id.in_(some)).values(shipment_id=new_id)
        size = (await connection.execute(packed)).rowcount
        row = {"id": new_id, "provider": found[0], "path": found[1], "state": ShipmentState.PACKED.value}
        row |= {"size": size, "created_at": micros(at), "seen_at": micros(at), "due_at": micros(at)}
        await connection.execute(insert(_S).values(**row))
    return True


async def claim(database: Database, at: datetime) -> Shipment | None:
    """Take a shipment that something is to be done for; None when there is none."""
    due = (_S.state != ShipmentState.OVER.value, _S.due_at <= micros(at))
    async with database.reading() as connection:
        found = await connection.scalar(select(_S.id).where(*due).order_by(_S.due_at).limit(1))
    if found is None:
        return None
    mine = update(_S).where(_S.id == found, *due).values(due_at=micros(at + CLAIM)).returning(_S.__table__)
    async with database.transaction() as connection:
        row = (await connection.execute(mine)).one_or_none()
    return None if row is None else _shipment(row)


async def advance(
    database: Database,
    shipment: Shipment,
    state: ShipmentState,
    at: datetime,
    due_at: datetime,
    upstream_id: str | None,
) -> None:
    """Write down how far a shipment has come, and when to look at it again."""
    values = {"state": state.value, "upstream_id": upstream_id, "seen_at": micros(at), "due_at": micros(due_at)}
    async with database.transaction() as connection:
        await connection.execute(update(_S).where(_S.id == shipment.id).values(**values))


async def postpone(database: Database, shipment: Shipment, due_at: datetime) -> None:
    """Look at a shipment again later, because its provider could not be asked."""
    async with database.transaction() as connection:
        await connection.execute(update(_S).where(_S.id == shipment.id).values(due_at=micros(due_at)))


async def contents(database: Database, shipment: Shipment) -> tuple[tuple[str, bytes], ...]:
    """Return the requests of a shipment, each by its name."""
    query = select(_P.request_id, _P.body).where(_P.shipment_id == shipment.id).order_by(_P.batch_id, _P.n)
    async with database.reading() as connection:
        return tuple((row.request_id, row.body) for row in await connection.execute(query))


async def deliver(database: Database, shipment: Shipment, answers: Sequence[Delivered]) -> None:
    """Keep what a provider said of some parcels; what was kept before stays."""
    mine = (_P.shipment_id == shipment.id, _P.status.is_(None), _P.request_id == bindparam("named"))
    keep = update(DeferredParcelRow.__table__).where(*mine)  # pyright: ignore[reportArgumentType]  it is a table
    rows = [{"named": one.request_id, "status": one.status, "result": one.body} for one in answers]
    async with database.transaction() as connection:
        if rows:
            await connection.execute(keep, rows)


async def give_up(database: Database, shipment: Shipment, status: int, body: bytes) -> None:
    """Answer whatever of a shipment has no answer yet with one that says so."""
    open_still = update(_P).where(_P.shipment_id == shipment.id, _P.status.is_(None))
    async with database.transaction() as connection:
        await connection.execute(open_still.values(status=status, result=body))


async def lag(database: Database, at: datetime) -> dict[str, float]:
    """Tell for each provider how many seconds ago the shipment was seen that has been out of sight for longest."""
    query = select(_S.provider, func.min(_S.seen_at)).where(_S.state != ShipmentState.OVER.value).group_by(_S.provider)
    async with database.reading() as connection:
        return {provider: (micros(at) - seen) / 1e6 for provider, seen in await connection.execute(query)}


def _is_of_line() -> ColumnElement[bool]:
    return (_P.batch_id == _L.batch_id) & (_P.n == _L.n)


def _parcel(row: Row[Any]) -> Parcel:
    return Parcel(
        request_id=row.request_id,
        provider=row.provider,
        path=row.path,
        model=row.model,
        upstream_model=row.upstream_model,
        asked_at=instant(row.asked_at),
        body=row.body,
    )


def _shipment(row: Row[Any]) -> Shipment:
    return Shipment(
        id=row.id,
        provider=row.provider,
        path=row.path,
        state=ShipmentState(row.state),
        upstream_id=row.upstream_id,
        created_at=instant(row.created_at),
        size=row.size,
    )
