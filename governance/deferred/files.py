"""Files: kept in the database in pieces, so that every process of every host can read them and no memory holds one.

An uploaded file is there once its last piece is; what was begun and never ended is swept away. The files that come of
a batch have no pieces: they are read from the results of its lines.
"""

from collections.abc import AsyncIterator, Iterable
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import Row, delete, func, insert, select, tuple_, update

from governance.database import Database
from governance.deferred.records import UNANSWERED, LineState, Owner, StoredFile
from governance.deferred.tables import DeferredFileRow, DeferredLineRow, DeferredPartRow
from governance.errors import UnknownFile
from governance.ledger.tables import instant, micros

_F = DeferredFileRow
_L = DeferredLineRow
_P = DeferredPartRow

PIECE_BYTES: Final = 256 * 1024
_AT_ONCE: Final = 8
"""Pieces in one transaction: nobody else writes to a SQLite meanwhile."""

_LINES: Final = 200
_ABANDONED: Final = timedelta(days=1)


async def store(
    database: Database,
    *,
    id: str,  # noqa: A002  what the API calls it
    owner: Owner,
    purpose: str,
    filename: str,
    pieces: Iterable[bytes],
    at: datetime,
) -> StoredFile:
    """Store an uploaded file; nobody sees it before its last piece is there.

    Args:
        database: Where.
        id: A new id.
        owner: Whose it is.
        purpose: What it is for.
        filename: What its owner calls it.
        pieces: What is in it, each piece at most `PIECE_BYTES` long.
        at: Now.

    Raises:
        StoreUnavailable: The database does not answer.
    """
    about = {"id": id, "team": owner.team, "app": owner.app, "purpose": purpose, "filename": filename}
    about |= {"created_at": micros(at), "answered": False}
    async with database.transaction() as connection:
        await connection.execute(insert(_F).values(**about))
    size, waiting = 0, list[dict[str, Any]]()
    for n, piece in enumerate(pieces):
        size += len(piece)
        waiting.append({"file_id": id, "n": n, "content": piece})
        if len(waiting) == _AT_ONCE:
            await _keep(database, waiting)
            waiting = []
    if waiting:
        await _keep(database, waiting)
    async with database.transaction() as connection:
        await connection.execute(update(_F).where(_F.id == id).values(size=size))
    return StoredFile(id=id, owner=owner, purpose=purpose, filename=filename, size=size, created_at=at)


async def _keep(database: Database, pieces: list[dict[str, Any]]) -> None:
    async with database.transaction() as connection:
        await connection.execute(insert(_P), pieces)


async def find(database: Database, file_id: str, owner: Owner) -> StoredFile:
    """Return a file of an owner.

    Raises:
        UnknownFile: The owner has none of that id.
    """
    return _file(await _row(database, file_id, owner))


async def listed(
    database: Database,
    owner: Owner,
    limit: int,
    *,
    purpose: str | None = None,
    after: str | None = None,
    oldest_first: bool = False,
) -> tuple[StoredFile, ...]:
    """List the files of an owner, the newest first unless told otherwise, perhaps only those after one of them.

    Raises:
        UnknownFile: The owner has no file `after`.
    """
    place = (_F.created_at, _F.id)
    query = select(_F.__table__).where(_F.team == owner.team, _F.app == owner.app, _F.size.is_not(None))
    if purpose is not None:
        query = query.where(_F.purpose == purpose)
    if after is not None:
        last = await _row(database, after, owner)
        there = tuple_(last.created_at, last.id)
        query = query.where(tuple_(*place) > there if oldest_first else tuple_(*place) < there)
    order = place if oldest_first else [column.desc() for column in place]
    async with database.reading() as connection:
        return tuple(map(_file, await connection.execute(query.order_by(*order).limit(limit))))


async def read(database: Database, file_id: str, owner: Owner) -> AsyncIterator[bytes]:
    """Return what is in a file, piece by piece.

    Raises:
        UnknownFile: The owner has none of that id; nothing is read then.
    """
    row = await _row(database, file_id, owner)
    return _pieces(database, file_id) if row.batch_id is None else _results(database, row.batch_id, row.answered)


async def remove(database: Database, file_id: str, owner: Owner) -> None:
    """Delete a file and what is in it.

    Raises:
        UnknownFile: The owner has none of that id.
    """
    row = await _row(database, file_id, owner)
    async with database.transaction() as connection:
        await connection.execute(delete(_F).where(_F.id == file_id))
        await connection.execute(delete(_P).where(_P.file_id == file_id))
        if row.batch_id is not None:
            mine = (_L.batch_id == row.batch_id, _L.state.in_(states_of(answered=row.answered)))
            await connection.execute(update(_L).where(*mine).values(result=None))


async def sweep(database: Database, at: datetime) -> int:
    """Delete what was begun a day ago or longer and never ended; return how many files that was."""
    begun = select(_F.id).where(_F.size.is_(None), _F.created_at < micros(at - _ABANDONED))
    async with database.transaction() as connection:
        ids = (await connection.scalars(begun)).all()
        if ids:
            await connection.execute(delete(_P).where(_P.file_id.in_(ids)))
            await connection.execute(delete(_F).where(_F.id.in_(ids)))
    return len(ids)


def states_of(*, answered: bool) -> tuple[str, ...]:
    """Return the states of the lines whose results make the output file, or else the error file."""
    return (LineState.DONE.value,) if answered else tuple(state.value for state in UNANSWERED)


async def _row(database: Database, file_id: str, owner: Owner) -> Row[Any]:
    query = select(_F.__table__).where(_F.id == file_id, _F.team == owner.team, _F.app == owner.app)
    async with database.reading() as connection:
        row = (await connection.execute(query.where(_F.size.is_not(None)))).one_or_none()
    if row is None:
        raise UnknownFile(file_id)
    return row


async def _pieces(database: Database, file_id: str) -> AsyncIterator[bytes]:
    n = 0
    while True:
        async with database.reading() as connection:
            one = select(_P.content).where(_P.file_id == file_id, _P.n == n)
            piece = await connection.scalar(one)
        if piece is None:
            return
        yield piece
        n += 1


async def _results(database: Database, batch_id: str, answered: bool) -> AsyncIterator[bytes]:
    last = 0
    mine = (_L.batch_id == batch_id, _L.state.in_(states_of(answered=answered)), _L.result.is_not(None))
    while True:
        query = select(_L.n, _L.result).where(*mine, _L.n > last).order_by(_L.n).limit(_LINES)
        async with database.reading() as connection:
            found = (await connection.execute(query)).all()
        if not found:
            return
        last = found[-1].n
        yield b"".join(row.result + b"\n" for row in found)


def size_of_results(batch_id: str, *, answered: bool) -> Any:
    """Return the query for the size of an output or error file: each result is one line."""
    mine = (_L.batch_id == batch_id, _L.state.in_(states_of(answered=answered)))
    return select(func.coalesce(func.sum(func.length(_L.result) + 1), 0)).where(*mine)


def _file(row: Row[Any]) -> StoredFile:
    return StoredFile(
        id=row.id,
        owner=Owner(row.team, row.app),
        purpose=row.purpose,
        filename=row.filename,
        size=row.size,
        created_at=instant(row.created_at),
    )
