"""Keys in a real database, and the keyring that follows them."""

import secrets
from collections.abc import AsyncGenerator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import anyio
import pytest

from governance.audit.chain import GATEWAY
from governance.database import Database
from governance.errors import StoreUnavailable, Unauthenticated, UnknownKey
from governance.identity import Keyring, Minted
from governance.keys import create_key, list_keys, refresh, revoke_key, rotate_key
from tests.support.databases import absent_database, fresh_database

pytestmark = pytest.mark.usefixtures("any_database")

NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)


@pytest.fixture
async def database(tmp_path: Path) -> AsyncGenerator[Database]:
    async with fresh_database(tmp_path) as database:
        yield database


async def make(database: Database, name: str = "ci", expires_at: datetime | None = None) -> Minted:
    return await create_key(
        database,
        team="support",
        app="support-bot",
        feature="faq",
        name=name,
        by=GATEWAY,
        now=NOW,
        random_bytes=secrets.token_bytes,
        expires_at=expires_at,
    )


async def test_a_new_key_is_known_after_the_next_refresh(database: Database) -> None:
    keyring = Keyring()
    minted = await make(database)
    with pytest.raises(Unauthenticated):
        keyring.authenticate(minted.key, NOW)
    await refresh(keyring, database)
    caller = keyring.authenticate(minted.key, NOW)
    assert (caller.team, caller.app, caller.feature, caller.name) == ("support", "support-bot", "faq", "ci")


async def test_a_revoked_key_is_refused_after_the_next_refresh(database: Database) -> None:
    keyring, minted = Keyring(), await make(database)
    await refresh(keyring, database)
    await revoke_key(database, minted.public_id, by=GATEWAY, now=NOW)
    await refresh(keyring, database)
    with pytest.raises(Unauthenticated, match="revoked"):
        keyring.authenticate(minted.key, NOW)


async def test_both_secrets_of_a_rotated_key_are_good_during_the_overlap(database: Database) -> None:
    keyring, old = Keyring(), await make(database)
    new = await rotate_key(
        database, old.public_id, by=GATEWAY, overlap=timedelta(hours=1), now=NOW, random_bytes=secrets.token_bytes
    )
    await refresh(keyring, database)
    assert new.public_id == old.public_id
    assert keyring.authenticate(old.key, NOW) == keyring.authenticate(new.key, NOW)
    with pytest.raises(Unauthenticated, match="unknown"):
        keyring.authenticate(old.key, NOW + timedelta(hours=1))


async def test_the_store_keeps_no_secret(database: Database, tmp_path: Path) -> None:
    minted = await make(database)
    secret = minted.key.rsplit("-", 1)[1].encode()
    files = [await file.read_bytes() async for file in anyio.Path(tmp_path).iterdir()]
    assert files
    assert all(secret not in content for content in files)


async def test_keys_are_listed_with_their_ends(database: Database) -> None:
    expires = NOW + timedelta(days=30)
    minted = await make(database, expires_at=expires)
    await revoke_key(database, minted.public_id, by=GATEWAY, now=NOW)
    (record,) = await list_keys(database)
    assert (record.caller.key_id, record.created_at) == (minted.public_id, NOW)
    assert (record.expires_at, record.revoked_at) == (expires, NOW)


async def test_a_key_that_is_not_there_or_closed_cannot_be_changed(database: Database) -> None:
    minted = await make(database)
    await revoke_key(database, minted.public_id, by=GATEWAY, now=NOW)
    for key_id, since in (("nobody", None), (minted.public_id, NOW)):
        with pytest.raises(UnknownKey, match=key_id) as refused:
            await revoke_key(database, key_id, by=GATEWAY, now=NOW + timedelta(hours=1))
        assert refused.value.revoked_at == since


async def test_changes_at_the_same_time_get_revisions_of_their_own(database: Database) -> None:
    async with anyio.create_task_group() as group:
        for name in "abcdefgh":
            group.start_soon(make, database, name)
    records = await list_keys(database)
    assert sorted(record.revision for record in records) == list(range(1, 9))


async def test_a_failed_change_takes_no_revision(database: Database) -> None:
    with pytest.raises(UnknownKey):
        await revoke_key(database, "nobody", by=GATEWAY, now=NOW)
    await make(database)
    assert [record.revision for record in await list_keys(database)] == [1]


async def test_a_refresh_reads_only_what_is_new(database: Database) -> None:
    keyring = Keyring()
    for name in "ab":
        await make(database, name)
    await refresh(keyring, database)
    await refresh(keyring, database)
    assert (len(keyring), keyring.revision) == (2, 2)


async def test_a_keyring_goes_on_when_the_database_is_away(database: Database, tmp_path: Path) -> None:
    keyring, minted = Keyring(), await make(database)
    await refresh(keyring, database)
    async with absent_database(tmp_path) as away:
        with pytest.raises(StoreUnavailable):
            await refresh(keyring, away)
    assert keyring.authenticate(minted.key, NOW)
