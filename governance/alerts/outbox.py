"""What has fired, in the database, and what of it is still to be delivered.

Delivery is at least once: a message is tried again until its receiver has accepted it *and* that is written down, so a
crash between the two sends it a second time, under the same id. Receivers that must not count twice keep the ids.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Final

from sqlalchemy import ColumnElement, Row, case, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from governance.alerts.rolling import traced
from governance.alerts.steps import Alert
from governance.alerts.tables import AlertRow
from governance.audit.chain import GATEWAY, Act
from governance.audit.log import append
from governance.database import Database
from governance.ledger.tables import instant, micros
from governance.money import Nanodollars

CLAIM: Final = timedelta(seconds=60)
"""How long a message is one sender's alone; a sender that dies is followed by another after that."""

AT_ONCE: Final = 500
"""How many alerts are fired in one transaction: nobody else writes to a SQLite meanwhile."""

_LOCK: Final = 0xA1E27
"""One number that all processes of this product agree on; another than that of `migrations`."""


class Delivery(StrEnum):
    """How far a message has come. `LOGGED` has no receiver but the log; `GIVEN_UP` was refused too often."""

    WAITING = "waiting"
    SENT = "sent"
    LOGGED = "logged"
    GIVEN_UP = "given up"


async def fire(database: Database, alerts: Sequence[tuple[Alert, Delivery]], at: datetime) -> tuple[Alert, ...]:
    """Remember alerts with how they begin, and return those that had not fired before, in any process.

    There should be at most `AT_ONCE` of them. A step of a rolling window that has been reached without a break since it
    fired only stands longer.

    Raises:
        StoreUnavailable: The database does not answer; none is remembered.
    """
    if not alerts:
        return ()
    broken = await _prolong(database, alerts)
    # Only what was not noted in the cover before is traced in the ledger, which takes longer.
    begun = [(await traced(database, alert), delivery) for alert, delivery in broken]
    async with database.turn(_LOCK) as connection:  # of two covers that meet, one sees what the other fired
        rows = {alert.id: _row(alert, how, at) for alert, how in begun if not await _goes_on(connection, alert)}
        if not rows:
            return ()
        once = database.insert(AlertRow).values([*rows.values()]).on_conflict_do_nothing().returning(AlertRow.id)
        fresh = frozenset(await connection.scalars(once))
    return tuple({alert.id: alert for alert, _ in begun if alert.id in fresh}.values())


async def _prolong(database: Database, alerts: Sequence[tuple[Alert, Delivery]]) -> Sequence[tuple[Alert, Delivery]]:
    """Let alerts of rolling windows stand longer, and return the others."""
    if all(alert.unbroken_since is None for alert, _ in alerts):
        return alerts
    async with database.transaction() as connection:
        return [(alert, delivery) for alert, delivery in alerts if not await _goes_on(connection, alert)]


async def _goes_on(connection: AsyncConnection, alert: Alert) -> bool:
    """Let what fired for the same step, and stood when it was last unbroken, stand until the alert's own end."""
    if alert.unbroken_since is None:
        return False
    same = (AlertRow.scope == alert.scope, AlertRow.window == alert.window, AlertRow.percent == alert.percent)
    stood = (AlertRow.limit_nanos == alert.limit.nanos, AlertRow.window_end >= micros(alert.unbroken_since))
    end = micros(alert.window_end)
    later = update(AlertRow).where(*same, *stood)
    longer = later.values(window_end=case((AlertRow.window_end < end, end), else_=AlertRow.window_end))
    return (await connection.execute(longer)).rowcount > 0


async def claim(database: Database, at: datetime, limit: int) -> tuple[tuple[Alert, int], ...]:
    """Take messages that are due, with the number of this attempt; for a while nobody else gets them.

    Raises:
        StoreUnavailable: The database does not answer.
    """
    waiting = (AlertRow.state == Delivery.WAITING.value, AlertRow.due_at <= micros(at))
    async with database.reading() as connection:
        due = select(AlertRow.id).where(*waiting).order_by(AlertRow.due_at, AlertRow.id).limit(limit)
        ids = (await connection.scalars(due)).all()
    if not ids:
        return ()
    mine = update(AlertRow).where(AlertRow.id.in_(ids), *waiting)
    taken = mine.values(due_at=micros(at + CLAIM), attempts=AlertRow.attempts + 1)
    async with database.transaction() as connection:
        rows = await connection.execute(taken.returning(*AlertRow.__table__.columns))
        return tuple((_alert(row), row.attempts) for row in rows)


async def accept(database: Database, alert: Alert, at: datetime, host: str) -> None:
    """Write down that a receiver has accepted a message, also in the audit log.

    Raises:
        StoreUnavailable: The database does not answer; the message will be sent again, under the same id.
    """
    async with database.transaction() as connection:
        done = update(AlertRow).where(_is(alert), AlertRow.state == Delivery.WAITING.value)
        changed = await connection.execute(done.values(state=Delivery.SENT.value, sent_at=micros(at)))
        if changed.rowcount:
            facts = {"scope": alert.scope, "percent": alert.percent, "window": alert.window, "to": host}
            await append(connection, GATEWAY, Act.ALERT_SENT, alert.id, at=at, team=alert.team, facts=facts)


async def postpone(database: Database, alert: Alert, until: datetime) -> None:
    """Let a message wait until it may be tried again."""
    async with database.transaction() as connection:
        await connection.execute(update(AlertRow).where(_is(alert)).values(due_at=micros(until)))


async def close(database: Database, alert: Alert, delivery: Delivery) -> None:
    """End a message that will not be sent: it is given up, or has no receiver any more."""
    async with database.transaction() as connection:
        await connection.execute(update(AlertRow).where(_is(alert)).values(state=delivery.value))


async def listed(database: Database, limit: int, team: str | None = None) -> tuple[tuple[Alert, Delivery], ...]:
    """List what fired last, newest first, perhaps for one team."""
    query = select(*AlertRow.__table__.columns).order_by(AlertRow.fired_at.desc(), AlertRow.id).limit(limit)
    if team is not None:
        query = query.where(AlertRow.team == team)
    async with database.reading() as connection:
        return tuple((_alert(row), Delivery(row.state)) for row in await connection.execute(query))


def _is(alert: Alert) -> ColumnElement[bool]:
    return AlertRow.id == alert.id


def _row(alert: Alert, delivery: Delivery, at: datetime) -> dict[str, str | int]:
    return {
        "id": alert.id,
        "scope": alert.scope,
        "team": alert.team,
        "window": alert.window,
        "window_start": micros(alert.window_start),
        "window_end": micros(alert.window_end),
        "percent": alert.percent,
        "limit_nanos": alert.limit.nanos,
        "settled_nanos": alert.settled.nanos,
        "fired_at": micros(alert.fired_at),
        "state": delivery.value,
        "attempts": 0,
        "due_at": micros(at),
    }


def _alert(row: Row[Any]) -> Alert:
    return Alert(
        id=row.id,
        scope=row.scope,
        team=row.team,
        window=row.window,
        window_start=instant(row.window_start),
        window_end=instant(row.window_end),
        percent=row.percent,
        limit=Nanodollars(row.limit_nanos),
        settled=Nanodollars(row.settled_nanos),
        fired_at=instant(row.fired_at),
    )
