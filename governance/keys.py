"""The keys in the database: made, listed, rotated and revoked here, by any process.

Each change raises one counter and stamps the key with it, so that a running gateway finds what is new with one indexed
query (`refresh`), whoever made the change.
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Row, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from governance.database import Database
from governance.errors import UnknownKey
from governance.identity import Caller, KeyRecord, Keyring, Minted, mint
from governance.ledger.tables import KeyRevisionRow, KeyRow, instant, micros


async def create_key(
    database: Database,
    *,
    team: str,
    app: str,
    now: datetime,
    random_bytes: Callable[[int], bytes],
    feature: str | None = None,
    name: str | None = None,
    expires_at: datetime | None = None,
) -> Minted:
    """Make a key for an app, perhaps bound to one feature. The secret is in the answer and nowhere else.

    Raises:
        StoreUnavailable: The database does not answer.
    """
    minted = mint(random_bytes)
    async with database.transaction() as connection:
        values = {
            "id": minted.public_id,
            "team": team,
            "app": app,
            "feature": feature,
            "name": name,
            "secret_hash": minted.secret_hash,
            "created_at": micros(now),
            "expires_at": None if expires_at is None else micros(expires_at),
            "revision": await _next_revision(connection),
        }
        await connection.execute(insert(KeyRow).values(values))
    return minted


async def list_keys(database: Database) -> tuple[KeyRecord, ...]:
    """List every key, the newest first, revoked ones included.

    Raises:
        StoreUnavailable: The database does not answer.
    """
    async with database.reading() as connection:
        rows = await connection.execute(select(*KeyRow.__table__.columns).order_by(KeyRow.created_at.desc(), KeyRow.id))
        return tuple(_record(row) for row in rows)


async def rotate_key(
    database: Database, key_id: str, *, overlap: timedelta, now: datetime, random_bytes: Callable[[int], bytes]
) -> Minted:
    """Give a key a new secret; the old one stays good for `overlap`, so that callers can change over.

    Raises:
        UnknownKey: There is no such key, or it is revoked.
        StoreUnavailable: The database does not answer.
    """
    minted = mint(random_bytes, key_id)
    await _change(
        database,
        key_id,
        secret_hash=minted.secret_hash,
        previous_hash=KeyRow.secret_hash,
        previous_until=micros(now + overlap),
    )
    return minted


async def revoke_key(database: Database, key_id: str, *, now: datetime) -> None:
    """Close a key for good. Its row stays, because the ledger speaks of it.

    Raises:
        UnknownKey: There is no such key, or it is revoked already.
        StoreUnavailable: The database does not answer.
    """
    await _change(database, key_id, revoked_at=micros(now))


async def refresh(keyring: Keyring, database: Database) -> None:
    """Teach a keyring what has changed since it last looked.

    Raises:
        StoreUnavailable: The database does not answer; the keyring goes on with what it knows.
    """
    async with database.reading() as connection:
        newer = select(*KeyRow.__table__.columns).where(KeyRow.revision > keyring.revision)
        rows = (await connection.execute(newer)).all()
    keyring.learn(_record(row) for row in rows)


async def _change(database: Database, key_id: str, **values: object) -> None:
    async with database.transaction() as connection:
        revision = await _next_revision(connection)
        changed = await connection.execute(
            update(KeyRow).where(KeyRow.id == key_id, KeyRow.revoked_at.is_(None)).values(revision=revision, **values)
        )
        if changed.rowcount == 0:
            revoked_at = await connection.scalar(select(KeyRow.revoked_at).where(KeyRow.id == key_id))
            raise UnknownKey(key_id, _optional(revoked_at))


async def _next_revision(connection: AsyncConnection) -> int:
    raised = update(KeyRevisionRow).values(revision=KeyRevisionRow.revision + 1).returning(KeyRevisionRow.revision)
    return (await connection.execute(raised)).scalar_one()


def _record(row: Row[Any]) -> KeyRecord:
    return KeyRecord(
        caller=Caller(row.id, row.team, row.app, row.feature, row.name),
        revision=row.revision,
        created_at=instant(row.created_at),
        secret_hash=row.secret_hash,
        expires_at=_optional(row.expires_at),
        revoked_at=_optional(row.revoked_at),
        previous_hash=row.previous_hash,
        previous_until=_optional(row.previous_until),
    )


def _optional(at: int | None) -> datetime | None:
    return None if at is None else instant(at)
