"""The labels of sessions: what was found in one request of a session holds for all that follow."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Final

from sqlalchemy import delete, select

from governance.confinement.tables import SessionLabelRow
from governance.ledger.tables import micros

if TYPE_CHECKING:
    from collections.abc import Collection
    from datetime import datetime

    from governance.database import Database

_FRESH: Final = timedelta(days=1)
"""How long the time of a label stands before it is written anew: a session that lives must not cost a write each time."""


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
        query = select(SessionLabelRow.label, SessionLabelRow.at).where(
            SessionLabelRow.key_id == key_id, SessionLabelRow.session == session
        )
        async with self._database.reading() as connection:
            stored = {label: seen for label, seen in await connection.execute(query)}
        every = frozenset(stored).union(labels)
        now, stale = micros(at), micros(at - _FRESH)
        seen = [label for label in every if stored.get(label, stale) <= stale]
        if seen:
            rows = [{"key_id": key_id, "session": session, "label": label, "at": now} for label in sorted(seen)]
            insert = self._database.insert(SessionLabelRow)
            kept = insert.on_conflict_do_update(
                index_elements=["key_id", "session", "label"], set_={"at": insert.excluded.at}
            )
            async with self._database.transaction() as connection:
                await connection.execute(kept, rows)
        return every

    async def sweep(self, before: datetime) -> int:
        """Forget the labels of sessions that last asked before an instant (a day more or less), and count them.

        Raises:
            StoreUnavailable: The database does not answer.
        """
        async with self._database.transaction() as connection:
            query = delete(SessionLabelRow).where(SessionLabelRow.at < micros(before))
            return (await connection.execute(query)).rowcount
