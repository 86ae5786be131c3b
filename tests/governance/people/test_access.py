"""Admin keys in a real database."""

import secrets
from collections.abc import AsyncGenerator
from datetime import UTC, datetime
from pathlib import Path

import anyio
import pytest

from governance.audit.chain import GATEWAY
from governance.audit.log import entries
from governance.database import Database
from governance.errors import StoreUnavailable, TooManyGuesses, Unauthenticated, UnknownPerson
from governance.identity import Keyring, Minted
from governance.people.access import Access
from governance.people.directory import create_person, list_people, revoke_person
from governance.people.roles import OWNER, Role
from tests.support.databases import absent_database, fresh_database

pytestmark = pytest.mark.usefixtures("any_database")

NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)


@pytest.fixture
async def database(tmp_path: Path) -> AsyncGenerator[Database]:
    async with fresh_database(tmp_path) as database:
        yield database


def door(database: Database) -> Access:
    return Access(database, "letmein", NOW.timestamp)


async def make(database: Database, role: Role = Role.AUDITOR, team: str | None = None) -> Minted:
    return await create_person(
        database, name="Ada", role=role, team=team, by=GATEWAY, now=NOW, random_bytes=secrets.token_bytes
    )


async def test_a_persons_key_opens_what_its_role_may(database: Database) -> None:
    minted = await make(database, Role.TEAM_LEAD, "red")
    assert minted.key.startswith(f"sk-sluice-admin-{minted.public_id}-")
    person = await door(database).identify(f" {minted.key}\n", "192.0.2.1")
    assert (person.id, person.name, person.role, person.team) == (minted.public_id, "Ada", Role.TEAM_LEAD, "red")


async def test_the_installations_own_key_is_the_owners(database: Database) -> None:
    assert await door(database).identify("letmein", "192.0.2.1") == OWNER


async def test_an_admin_key_opens_no_model(database: Database) -> None:
    minted = await make(database)
    with pytest.raises(Unauthenticated):
        Keyring().authenticate(minted.key, NOW)


async def test_a_revoked_person_is_shut_out_at_once(database: Database) -> None:
    minted, access = await make(database), door(database)
    await revoke_person(database, minted.public_id, by=GATEWAY, now=NOW)
    with pytest.raises(Unauthenticated, match="revoked"):
        await access.identify(minted.key, "192.0.2.1")
    assert await access.find(minted.public_id) is None
    with pytest.raises(UnknownPerson):
        await revoke_person(database, minted.public_id, by=GATEWAY, now=NOW)
    assert [person.revoked_at for person in await list_people(database)] == [NOW]


async def test_a_wrong_secret_reads_as_unknown_even_of_a_revoked_person(database: Database) -> None:
    minted, other = await make(database), await make(database)
    await revoke_person(database, minted.public_id, by=GATEWAY, now=NOW)
    mixed = minted.key[: -len(other.key.rsplit("-", 1)[1])] + other.key.rsplit("-", 1)[1]
    with pytest.raises(Unauthenticated, match="unknown"):
        await door(database).identify(mixed, "192.0.2.1")


async def test_guesses_at_the_owners_key_are_limited_and_people_are_not_kept_out_by_them(database: Database) -> None:
    access, minted = door(database), await make(database)
    for _ in range(5):
        with pytest.raises(Unauthenticated):
            await access.identify("guess", "192.0.2.1")
    with pytest.raises(TooManyGuesses):
        await access.identify("letmein", "192.0.2.1")
    assert (await access.identify(minted.key, "192.0.2.1")).name == "Ada"
    assert await access.identify("letmein", "192.0.2.2") == OWNER


async def test_a_sign_in_is_written_down_with_who_and_where(database: Database) -> None:
    minted = await make(database)
    await door(database).sign_in(minted.key, "192.0.2.1", NOW)
    signed_in, created = await entries(database, 10)
    assert (signed_in.act, signed_in.subject, signed_in.facts) == (
        "person.signed_in", minted.public_id, {"address": "192.0.2.1"},
    )  # fmt: skip
    assert (created.act, created.facts) == ("person.created", {"name": "Ada", "role": "auditor"})


async def test_the_store_keeps_no_admin_secret(database: Database, tmp_path: Path) -> None:
    secret = (await make(database)).key.rsplit("-", 1)[1].encode()
    files = [await file.read_bytes() async for file in anyio.Path(tmp_path).iterdir()]
    assert all(secret not in content for content in files)


@pytest.mark.parametrize(("role", "team"), [(Role.TEAM_LEAD, None), (Role.OWNER, "red")])
async def test_only_a_team_lead_has_a_team(database: Database, role: Role, team: str | None) -> None:
    with pytest.raises(ValueError, match="team-lead"):
        await make(database, role, team)


async def test_people_are_unknown_while_the_database_is_away_but_the_owner_is_not(
    database: Database, tmp_path: Path
) -> None:
    minted = await make(database)
    async with absent_database(tmp_path) as away:
        with pytest.raises(StoreUnavailable):
            await door(away).identify(minted.key, "192.0.2.1")
        assert await door(away).identify("letmein", "192.0.2.1") == OWNER
