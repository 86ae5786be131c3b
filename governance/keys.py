"""The keys in the database: made, listed, rotated and revoked here, by any process.

Each change raises one counter and stamps the key with it, so that a running gateway finds what is new with one indexed
query (`refresh`), whoever made the change. Each change is an entry of the audit log as well, in the same transaction.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Row, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from governance.audit.chain import Act, Actor, Fact
from governance.audit.log import append
from governance.database import Database
from governance.errors import UnknownKey
from governance.identity import UNNARROWED, Caller, KeyRecord, Keyring, KeyTerms, Minted, mint
from governance.ledger.tables import KeyRevisionRow, KeyRow, instant, micros
from governance.limits import Budget
from governance.money import Nanodollars
from governance.policy.fields import parse_span


async def create_key(
    database: Database,
    *,
    team: str,
    app: str,
    by: Actor,
    now: datetime,
    random_bytes: Callable[[int], bytes],
    feature: str | None = None,
    name: str | None = None,
    expires_at: datetime | None = None,
    terms: KeyTerms = UNNARROWED,
) -> Minted:
    """Make a key for an app, perhaps bound to one feature. The secret is in the answer and nowhere else.

    The budgets of `terms` are the new key's, whatever scope they name.

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
            "terms": _terms_text(terms),
            "revision": await _next_revision(connection),
        }
        await connection.execute(insert(KeyRow).values(values))
        facts = {"app": app, "feature": feature, "name": name, **_terms_facts(terms)}
        await append(connection, by, Act.KEY_CREATED, minted.public_id, at=now, team=team, facts=facts)
    return minted


async def list_keys(database: Database, team: str | None = None) -> tuple[KeyRecord, ...]:
    """List every key, perhaps of one team, the newest first, revoked ones included.

    Raises:
        StoreUnavailable: The database does not answer.
    """
    query = select(*KeyRow.__table__.columns).order_by(KeyRow.created_at.desc(), KeyRow.id)
    if team is not None:
        query = query.where(KeyRow.team == team)
    async with database.reading() as connection:
        return tuple(_record(row) for row in await connection.execute(query))


async def rotate_key(
    database: Database,
    key_id: str,
    *,
    by: Actor,
    overlap: timedelta,
    now: datetime,
    random_bytes: Callable[[int], bytes],
    team: str | None = None,
) -> Minted:
    """Give a key a new secret; the old one stays good for `overlap`, so that callers can change over.

    Args:
        database: Where the keys are.
        key_id: Its public id.
        by: Who does it.
        overlap: How long the old secret stays good.
        now: An aware instant.
        random_bytes: Where secrets come from.
        team: The only team whose keys may be changed; None for every team's.

    Raises:
        UnknownKey: There is no such key, or it is revoked, or another team's.
        StoreUnavailable: The database does not answer.
    """
    minted = mint(random_bytes, key_id)
    until = now + overlap
    await _change(
        database,
        _Change(key_id, Act.KEY_ROTATED, by, now, team, {"previous_until": until.isoformat()}),
        secret_hash=minted.secret_hash,
        previous_hash=KeyRow.secret_hash,
        previous_until=micros(until),
    )
    return minted


async def revoke_key(database: Database, key_id: str, *, by: Actor, now: datetime, team: str | None = None) -> None:
    """Close a key for good. Its row stays, because the ledger speaks of it.

    Args:
        database: Where the keys are.
        key_id: Its public id.
        by: Who does it.
        now: An aware instant.
        team: The only team whose keys may be changed; None for every team's.

    Raises:
        UnknownKey: There is no such key, or it is revoked already, or another team's.
        StoreUnavailable: The database does not answer.
    """
    await _change(database, _Change(key_id, Act.KEY_REVOKED, by, now, team), revoked_at=micros(now))


async def refresh(keyring: Keyring, database: Database) -> None:
    """Teach a keyring what has changed since it last looked.

    Raises:
        StoreUnavailable: The database does not answer; the keyring goes on with what it knows.
    """
    async with database.reading() as connection:
        newer = select(*KeyRow.__table__.columns).where(KeyRow.revision > keyring.revision)
        rows = (await connection.execute(newer)).all()
    keyring.learn(_record(row) for row in rows)


@dataclass(frozen=True, slots=True)
class _Change:
    """What the audit log is told of a change, and whose keys it may touch."""

    key_id: str
    act: Act
    by: Actor
    at: datetime
    team: str | None
    facts: dict[str, Fact] = field(default_factory=dict[str, Fact])


async def _change(database: Database, change: _Change, **values: object) -> None:
    of_team = () if change.team is None else (KeyRow.team == change.team,)
    changes = update(KeyRow).where(KeyRow.id == change.key_id, KeyRow.revoked_at.is_(None), *of_team)
    async with database.transaction() as connection:
        revision = await _next_revision(connection)
        changed = await connection.execute(changes.values(revision=revision, **values).returning(KeyRow.team))
        row = changed.one_or_none()
        if row is None:
            revoked_at = await connection.scalar(select(KeyRow.revoked_at).where(KeyRow.id == change.key_id, *of_team))
            raise UnknownKey(change.key_id, _optional(revoked_at))
        subject, facts = change.key_id, change.facts
        await append(connection, change.by, change.act, subject, at=change.at, team=row.team, facts=facts)


async def _next_revision(connection: AsyncConnection) -> int:
    raised = update(KeyRevisionRow).values(revision=KeyRevisionRow.revision + 1).returning(KeyRevisionRow.revision)
    return (await connection.execute(raised)).scalar_one()


def _record(row: Row[Any]) -> KeyRecord:
    return KeyRecord(
        caller=Caller(row.id, row.team, row.app, row.feature, row.name, _terms(row.terms, row.id)),
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


def _terms_text(terms: KeyTerms) -> str | None:
    if terms == UNNARROWED:
        return None
    budgets = [{"limit_nanos": budget.limit.nanos, "window": budget.window.value} for budget in terms.budgets]
    return json.dumps({"tiers": terms.tiers, "models": terms.models, "budgets": budgets})


def _terms(text: str | None, key_id: str) -> KeyTerms:
    if text is None:
        return UNNARROWED
    read = json.loads(text)
    return KeyTerms(
        tiers=None if read["tiers"] is None else tuple(read["tiers"]),
        models=None if read["models"] is None else tuple(read["models"]),
        budgets=tuple(
            Budget(f"key:{key_id}", Nanodollars(budget["limit_nanos"]), parse_span(budget["window"]))
            for budget in read["budgets"]
        ),
    )


def _terms_facts(terms: KeyTerms) -> dict[str, Fact]:
    return {
        "tiers": None if terms.tiers is None else list(terms.tiers),
        "models": None if terms.models is None else list(terms.models),
        "budgets": [f"{budget.limit.usd} USD/{budget.window.value}" for budget in terms.budgets],
    }
