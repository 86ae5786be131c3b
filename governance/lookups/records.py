"""Look-ups on record: written by the process that made them, followed by all the others."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Literal

from sqlalchemy import delete, func, insert, select

from governance.database import Database
from governance.ledger.tables import instant, micros
from governance.lookups.tables import LookupRow

LookupKind = Literal["exact", "semantic", "explored", "asked", "lesson"]
"""Answered from the exact or the semantic cache; not answered although it could have been, or because it could not be;
or something learned later about one of these."""

_LOCK: Final = 7_403
"""Rows get their numbers in the order in which they can be seen: whoever follows them skips none."""

_COLUMNS: Final = (
    LookupRow.n,
    LookupRow.request_id,
    LookupRow.at,
    LookupRow.feature,
    LookupRow.kind,
    LookupRow.entry,
    LookupRow.evidence,
    LookupRow.writer,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lookup:
    """One word on record; see `LookupRow`. `n` is 0 until it is written."""

    request_id: str
    at: datetime
    feature: str
    kind: LookupKind
    entry: bytes | None
    evidence: bytes
    writer: str
    n: int = 0


class Lookups:
    """The record of look-ups."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def write(self, found: Sequence[Lookup]) -> None:
        """Write some down.

        Raises:
            StoreUnavailable: The database does not answer.
        """
        rows = [
            {
                "request_id": each.request_id,
                "at": micros(each.at),
                "feature": each.feature,
                "kind": each.kind,
                "entry": each.entry,
                "evidence": each.evidence,
                "writer": each.writer,
            }
            for each in found
        ]
        async with self._database.turn(_LOCK) as connection:
            await connection.execute(insert(LookupRow), rows)

    async def after(self, n: int, limit: int, *, learned_only: bool = True) -> tuple[Lookup, ...]:
        """Return what was written after number `n`, in order, at most `limit`.

        Raises:
            StoreUnavailable: The database does not answer.
        """
        query = select(*_COLUMNS).where(LookupRow.n > n).order_by(LookupRow.n).limit(limit)
        if learned_only:
            query = query.where(LookupRow.kind != "exact")
        async with self._database.reading() as connection:
            return tuple(_lookup(row) for row in await connection.execute(query))

    async def newest(self) -> int:
        """Return the number of the row that was written last, 0 where there is none.

        Raises:
            StoreUnavailable: The database does not answer.
        """
        async with self._database.reading() as connection:
            return (await connection.execute(select(func.max(LookupRow.n)))).scalar() or 0

    async def start_of(self, count: int) -> int:
        """Return after which number the newest `count` rows that teach begin.

        Raises:
            StoreUnavailable: The database does not answer.
        """
        query = select(LookupRow.n).where(LookupRow.kind != "exact").order_by(LookupRow.n.desc()).offset(count).limit(1)
        async with self._database.reading() as connection:
            return (await connection.execute(query)).scalar() or 0

    async def of_request(self, request_id: str) -> tuple[Lookup, ...]:
        """Return all that is on record of one request, in order.

        Raises:
            StoreUnavailable: The database does not answer.
        """
        query = select(*_COLUMNS).where(LookupRow.request_id == request_id).order_by(LookupRow.n)
        async with self._database.reading() as connection:
            return tuple(_lookup(row) for row in await connection.execute(query))

    async def counts(self, since: datetime) -> dict[str, dict[LookupKind, int]]:
        """Count the look-ups of each feature since an instant, by what became of them.

        Raises:
            StoreUnavailable: The database does not answer.
        """
        query = select(LookupRow.feature, LookupRow.kind, func.count()).where(LookupRow.at >= micros(since))
        found: dict[str, dict[LookupKind, int]] = {}
        async with self._database.reading() as connection:
            for feature, kind, count in await connection.execute(query.group_by(LookupRow.feature, LookupRow.kind)):
                found.setdefault(feature, {})[kind] = count  # pyright: ignore[reportArgumentType]
        return found

    async def sweep(self, before: datetime) -> int:
        """Forget what is older, and count it.

        Raises:
            StoreUnavailable: The database does not answer.
        """
        async with self._database.transaction() as connection:
            return (await connection.execute(delete(LookupRow).where(LookupRow.at < micros(before)))).rowcount


def _lookup(row: Any) -> Lookup:
    return Lookup(
        n=row.n,
        request_id=row.request_id,
        at=instant(row.at),
        feature=row.feature,
        kind=row.kind,
        entry=row.entry,
        evidence=row.evidence,
        writer=row.writer,
    )
