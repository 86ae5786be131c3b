"""The labels of sessions: what was found in one request of a session holds for all that follow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sqlalchemy import delete, select, update

from governance.confinement.tables import SessionLabelRow
from governance.ledger.tables import micros

if TYPE_CHECKING:
    from collections.abc import Collection
    from datetime import datetime

    from governance.database import Database


_AGE: Final = 24 * 3600 * 1_000_000
"""Microseconds after which it is written again that a label holds."""


class SessionLabels:
    """Labels by key and session, kept in the database, so that every process and every start knows them.

    Another process may have found more a moment ago, therefore each request of a session asks.
    """

    def __init__(self, database: Database) -> None:
        """Begin with what the database has."""
        self._database = database

    async def raised(self, key_id: str, session: str, labels: Collection[str], at: datetime) -> frozenset[str]:
        """Return all labels of a session, those of a new request among them, which are kept before this returns.

        Raises:
            StoreUnavailable: The database does not answer: where the request may go is not known.
        """
        mine = (SessionLabelRow.key_id == key_id, SessionLabelRow.session == session)
        async with self._database.reading() as connection:
            stored = dict(
                (await connection.execute(select(SessionLabelRow.label, SessionLabelRow.at).where(*mine))).all()
            )
        fresh = [label for label in labels if label not in stored]
        aged = any(micros(at) - seen > _AGE for seen in stored.values())
        if fresh or aged:
            rows = [{"key_id": key_id, "session": session, "label": label, "at": micros(at)} for label in fresh]
            async with self._database.transaction() as connection:
                if fresh:
                    await connection.execute(self._database.insert(SessionLabelRow).on_conflict_do_nothing(), rows)
                if aged:  # a session that goes on keeps its labels
                    await connection.execute(update(SessionLabelRow).where(*mine).values(at=micros(at)))
        return frozenset(stored).union(labels)

    async def sweep(self, before: datetime) -> int:
        """Forget labels that were found before an instant, and count them.

        Raises:
            StoreUnavailable: The database does not answer.
        """
        async with self._database.transaction() as connection:
            query = delete(SessionLabelRow).where(SessionLabelRow.at < micros(before))
            return (await connection.execute(query)).rowcount
