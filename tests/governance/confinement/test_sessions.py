"""The labels of sessions, in a real database."""

from collections.abc import AsyncGenerator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from governance.confinement.sessions import SessionLabels
from governance.database import Database
from governance.errors import StoreUnavailable
from tests.support.databases import absent_database, fresh_database

pytestmark = pytest.mark.usefixtures("any_database")

NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)
DAY = timedelta(days=1)


@pytest.fixture
async def database(tmp_path: Path) -> AsyncGenerator[Database]:
    async with fresh_database(tmp_path) as database:
        yield database


async def test_labels_only_rise(database: Database) -> None:
    labels = SessionLabels(database)
    assert await labels.raised("k1", "s", ["iban"], NOW) == {"iban"}
    assert await labels.raised("k1", "s", ["card", "iban"], NOW) == {"iban", "card"}
    assert await labels.raised("k1", "s", [], NOW) == {"iban", "card"}
    assert await SessionLabels(database).raised("k1", "s", [], NOW) == {"iban", "card"}  # as another process would


async def test_the_session_of_another_key_is_another_session(database: Database) -> None:
    labels = SessionLabels(database)
    await labels.raised("k1", "s", ["iban"], NOW)
    assert await labels.raised("k2", "s", [], NOW) == set()
    assert await labels.raised("k1", "t", [], NOW) == set()


async def test_a_session_keeps_its_labels_while_it_lives_and_loses_them_long_after(database: Database) -> None:
    labels = SessionLabels(database)
    await labels.raised("k1", "s", ["iban"], NOW)
    await labels.raised("k1", "s", [], NOW + 80 * DAY)
    await labels.raised("k1", "old", ["card"], NOW)
    assert await labels.sweep(NOW + 10 * DAY) == 1
    assert await labels.raised("k1", "s", [], NOW + 85 * DAY) == {"iban"}
    assert await labels.raised("k1", "old", [], NOW + 85 * DAY) == set()
    assert await labels.sweep(NOW + 86 * DAY) == 1


async def test_without_its_database_nobody_knows_what_a_session_has_said(tmp_path: Path) -> None:
    async with absent_database(tmp_path) as database:
        with pytest.raises(StoreUnavailable):
            await SessionLabels(database).raised("k1", "s", [], NOW)
