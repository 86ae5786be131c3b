"""What has fired, in a real database."""

from collections.abc import AsyncGenerator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from sqlalchemy import text

from governance.alerts.outbox import CLAIM, Delivery, accept, claim, close, fire, listed, postpone
from governance.alerts.steps import Alert, Watch, due
from governance.audit.log import entries
from governance.database import Database
from governance.limits import Budget
from governance.money import Nanodollars
from governance.windows import WindowKind, window
from tests.support.databases import fresh_database

pytestmark = pytest.mark.usefixtures("any_database")

NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)
WATCH = Watch(Budget("team:red", Nanodollars(1000), WindowKind.DAY), (50, 100), "red")
HALF, FULL = due(WATCH, window(WindowKind.DAY, NOW, ZoneInfo("UTC")), Nanodollars(1000), NOW)


@pytest.fixture
async def database(tmp_path: Path) -> AsyncGenerator[Database]:
    async with fresh_database(tmp_path) as database:
        yield database


async def begin(database: Database, *alerts: Alert, as_: Delivery = Delivery.WAITING) -> tuple[Alert, ...]:
    return await fire(database, [(alert, as_) for alert in alerts], NOW)


async def test_an_alert_fires_once_whoever_finds_it_again(database: Database, tmp_path: Path) -> None:
    assert await begin(database, HALF) == (HALF,)
    assert await begin(database, HALF, FULL) == (FULL,)
    async with fresh_database(tmp_path) as another_process:
        assert await begin(another_process, HALF, FULL) == ()


async def test_a_message_is_one_senders_until_its_claim_is_over(database: Database) -> None:
    await begin(database, HALF)
    assert await claim(database, NOW, 10) == ((HALF, 1),)
    assert await claim(database, NOW + CLAIM - timedelta(seconds=1), 10) == ()
    assert await claim(database, NOW + CLAIM, 10) == ((HALF, 2),)


async def test_an_accepted_message_is_sent_no_more_and_is_in_the_audit_log_once(database: Database) -> None:
    await begin(database, HALF)
    await claim(database, NOW, 10)
    await accept(database, HALF, NOW, "hooks.example.com")
    await accept(database, HALF, NOW, "hooks.example.com")
    assert await claim(database, NOW + CLAIM, 10) == ()
    (entry,) = await entries(database, 10)
    assert (entry.act, entry.subject, entry.team) == ("alert.sent", HALF.id, "red")
    assert entry.facts == {"percent": 50, "scope": "team:red", "to": "hooks.example.com", "window": "day"}


async def test_a_message_that_was_not_accepted_waits(database: Database) -> None:
    await begin(database, HALF)
    await claim(database, NOW, 10)
    await postpone(database, HALF, NOW + timedelta(seconds=5))
    assert await claim(database, NOW + timedelta(seconds=4), 10) == ()
    assert await claim(database, NOW + timedelta(seconds=5), 10) == ((HALF, 2),)


@pytest.mark.parametrize("as_", [Delivery.LOGGED, Delivery.GIVEN_UP])
async def test_what_needs_no_delivery_gets_none(database: Database, as_: Delivery) -> None:
    await begin(database, HALF)
    await close(database, HALF, as_)
    await begin(database, FULL, as_=Delivery.LOGGED)
    assert await claim(database, NOW + CLAIM, 10) == ()
    assert {delivery for _, delivery in await listed(database, 10)} == {as_, Delivery.LOGGED}


async def test_no_more_are_taken_than_were_asked_for(database: Database) -> None:
    await begin(database, HALF, FULL)
    assert len(await claim(database, NOW, 1)) == 1
    assert len(await claim(database, NOW, 10)) == 1


async def test_a_team_sees_its_own_alerts(database: Database) -> None:
    await begin(database, HALF, FULL)
    async with database.transaction() as connection:
        await connection.execute(text("UPDATE alert SET team = 'blue' WHERE percent = 100"))
    assert [alert.percent for alert, _ in await listed(database, 10, "red")] == [50]
