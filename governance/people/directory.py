"""People in the database: made, listed and revoked, each act in the audit log."""

import hmac
from collections.abc import Callable
from datetime import datetime
from typing import Any

from sqlalchemy import Row, insert, select, update

from governance.audit.chain import Act, Actor
from governance.audit.log import append
from governance.database import Database
from governance.errors import Unauthenticated, UnknownPerson
from governance.identity import ADMIN_PREFIX, Minted, mint
from governance.ledger.tables import instant, micros
from governance.people.roles import Person, Role
from governance.people.tables import PersonRow


async def create_person(
    database: Database,
    *,
    name: str,
    role: Role,
    team: str | None,
    by: Actor,
    now: datetime,
    random_bytes: Callable[[int], bytes],
) -> Minted:
    """Give somebody a role and a key; the key is in the answer and nowhere else.

    Raises:
        ValueError: A team-lead needs a team, and nobody else may have one.
        StoreUnavailable: The database does not answer.
    """
    if (role is Role.TEAM_LEAD) != (team is not None):
        raise ValueError("a team-lead needs a team, and no other role has one")
    minted = mint(random_bytes, prefix=ADMIN_PREFIX)
    async with database.transaction() as connection:
        await connection.execute(
            insert(PersonRow).values(
                id=minted.public_id,
                name=name,
                role=role.value,
                team=team,
                secret_hash=minted.secret_hash,
                created_at=micros(now),
            )
        )
        facts = {"name": name, "role": role.value}
        await append(connection, by, Act.PERSON_CREATED, minted.public_id, at=now, team=team or "", facts=facts)
    return minted


async def list_people(database: Database) -> tuple[Person, ...]:
    """List everybody, the newest first, revoked ones included.

    Raises:
        StoreUnavailable: The database does not answer.
    """
    query = select(*PersonRow.__table__.columns).order_by(PersonRow.created_at.desc(), PersonRow.id)
    async with database.reading() as connection:
        return tuple(_person(row) for row in await connection.execute(query))


async def revoke_person(database: Database, person_id: str, *, by: Actor, now: datetime) -> None:
    """Take a person's key away for good; their row stays, because the audit log speaks of them.

    Raises:
        UnknownPerson: There is no such person, or they are revoked already.
        StoreUnavailable: The database does not answer.
    """
    change = update(PersonRow).where(PersonRow.id == person_id, PersonRow.revoked_at.is_(None))
    async with database.transaction() as connection:
        revoked = await connection.execute(change.values(revoked_at=micros(now)).returning(PersonRow.team))
        row = revoked.one_or_none()
        if row is None:
            raise UnknownPerson(person_id)
        await append(connection, by, Act.PERSON_REVOKED, person_id, at=now, team=row.team or "")


async def find_person(database: Database, person_id: str, secret_hash: bytes | None = None) -> Person:
    """Return a person who may still act, whose key has this hash where one is given.

    Raises:
        Unauthenticated: There is nobody, the key is another one, or it is revoked.
        StoreUnavailable: The database does not answer.
    """
    query = select(*PersonRow.__table__.columns).where(PersonRow.id == person_id)
    async with database.reading() as connection:
        row = (await connection.execute(query)).one_or_none()
    if row is None or (secret_hash is not None and not hmac.compare_digest(row.secret_hash, secret_hash)):
        raise Unauthenticated("unknown")
    if row.revoked_at is not None:
        raise Unauthenticated("revoked")
    return _person(row)


def _person(row: Row[Any]) -> Person:
    revoked = None if row.revoked_at is None else instant(row.revoked_at)
    return Person(row.id, row.name, Role(row.role), row.team, instant(row.created_at), revoked)
