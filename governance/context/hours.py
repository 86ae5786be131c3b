"""What prompts were made of, added up by hour and feature: numbers, never text.

A row for each request would double what the ledger writes. What is asked of these numbers is asked by feature and over
days, such as what the repeated text of a feature costs in a week, and hours answer that.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Literal, cast

from sqlalchemy import Table, func, select

from governance.context.tables import ContextHourRow
from governance.database import INSERTS, Database
from governance.ledger.rollups import HOUR
from governance.ledger.tables import micros

By = Literal["team", "app", "feature"]
KEY: Final = ("hour", "team", "app", "feature")
_TABLE: Final = cast("Table", ContextHourRow.__table__)
FIGURES: Final = tuple(name for name in _TABLE.columns.keys() if name not in KEY)  # noqa: SIM118  no mapping
"""What is added up."""

Sums = Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Place:
    """Whose prompts, and in which hour, in microseconds since the epoch."""

    hour: int
    team: str
    app: str
    feature: str


def hour_of(at: datetime) -> int:
    """Return the beginning of an instant's hour."""
    return micros(at) // HOUR * HOUR


class ContextHours:
    """The sums on record."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, found: Mapping[Place, Sums]) -> None:
        """Add sums to those on record.

        Raises:
            StoreUnavailable: The database does not answer.
        """
        rows = [
            {"hour": place.hour, "team": place.team, "app": place.app, "feature": place.feature}
            | {name: sums.get(name, 0) for name in FIGURES}
            for place, sums in sorted(
                found.items(), key=lambda one: (one[0].hour, one[0].team, one[0].app, one[0].feature)
            )
        ]
        more: Any = INSERTS[self._database.dialect](_TABLE)
        sums = {name: _TABLE.c[name] + more.excluded[name] for name in FIGURES}
        async with self._database.transaction() as connection:
            await connection.execute(more.on_conflict_do_update(index_elements=KEY, set_=sums), rows)

    async def since(self, at: datetime, by: By) -> dict[str, dict[str, int]]:
        """Add up what is on record from the hour of an instant on, by `team`, `team/app` or `team/app/feature`.

        Raises:
            StoreUnavailable: The database does not answer.
        """
        names = KEY[1 : 2 + ("team", "app", "feature").index(by)]
        columns = [_TABLE.c[name] for name in names]
        query = select(*columns, *(func.sum(_TABLE.c[name]) for name in FIGURES)).where(_TABLE.c.hour >= hour_of(at))
        found: dict[str, dict[str, int]] = {}
        async with self._database.reading() as connection:
            for row in await connection.execute(query.group_by(*columns)):
                who, figures = row[: len(names)], row[len(names) :]
                found["/".join(who)] = dict(zip(FIGURES, map(int, figures), strict=True))
        return found
