"""Writes of providers' caches that we asked for and that nobody has read: what they cost, by app and feature.

A call names the prefixes that were written for our marks, from the shortest on, and the one that it has read. What was
written up to the longest of them that a later call has read was worth it, and the rest was not, so far.
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import or_, select

from governance.database import Database
from governance.ledger.reading.spans import ended_between
from governance.ledger.tables import LedgerAttemptRow, LedgerEventRow, micros
from governance.money import ZERO, Nanodollars
from governance.prices import RATES, Price, Usage, cost_of

_E: Final = LedgerEventRow
_A: Final = LedgerAttemptRow
_KEPT: Final = timedelta(hours=1)
"""Nothing is kept for longer without being read."""


@dataclass(frozen=True, slots=True)
class Unread:
    """What an app's feature has had written in vain.

    Attributes:
        writes: calls that wrote something that nobody has read.
        tokens: how many tokens of a prompt that was.
        cost: what writing them cost beyond reading them as fresh input.
    """

    team: str
    app: str
    feature: str
    writes: int
    tokens: int
    cost: Nanodollars


async def unread_writes(
    database: Database, since: datetime, until: datetime, team: str | None = None
) -> tuple[Unread, ...]:
    """Find the writes of requests that arrived in `since <= at < until`, dearest first, perhaps of one team.

    What was written in the last minutes may still be read.

    Raises:
        StoreUnavailable: The database does not answer.
    """
    told = or_(_A.prefix_wrote != "", _A.prefix_read != "")
    query = (
        select(*_A.__table__.columns, _E.team, _E.app, _E.feature, (_E.at < micros(until)).label("counts"))
        .join(_E, _E.request_id == _A.request_id)
        .where(ended_between(since, until + _KEPT), told)
    )
    if team is not None:
        query = query.where(_E.team == team)
    async with database.reading() as connection:
        rows = (await connection.execute(query)).all()
    read: dict[str, int] = {}
    for row in rows:
        if row.prefix_read:
            read[row.prefix_read] = max(row.at, read.get(row.prefix_read, 0))
    found: dict[tuple[str, str, str], list[tuple[int, Nanodollars]]] = defaultdict(list)
    for row in rows:
        tokens, cost = _unread(row, read)
        if tokens and row.counts:
            found[row.team, row.app, row.feature].append((tokens, cost))
    return tuple(
        sorted(
            (
                Unread(*whose, len(each), sum(tokens for tokens, _ in each), sum((cost for _, cost in each), ZERO))
                for whose, each in found.items()
            ),
            key=lambda one: (-one.cost.nanos, one.team, one.app, one.feature),
        )
    )


def _unread(row: Any, read: Mapping[str, int]) -> tuple[int, Nanodollars]:
    """Return how much of what a call has written nobody has read after it, and what writing that cost."""
    wrote = (row.cache_write or 0) + (row.cache_write_1h or 0)
    if not row.prefix_wrote or not wrote:
        return 0, ZERO
    ends = [(name, int(tokens)) for name, tokens in (part.split(":") for part in row.prefix_wrote.split(","))]
    longest = ends[-1][1]
    reached = max((tokens for name, tokens in ends if read.get(name, 0) > row.at), default=0)
    unread = min(wrote, longest - reached) if reached else wrote
    rates = {name: _rate(getattr(row, f"price_{name}_nanos")) for name in RATES}
    price = Price(**rates, source=row.price_source)  # pyright: ignore[reportArgumentType]  (input and output are told)
    written = cost_of(Usage(cache_write=row.cache_write or 0, cache_write_1h=row.cache_write_1h or 0), price)
    premium = written - cost_of(Usage(fresh_input=wrote), price)
    return unread, Nanodollars(premium.nanos * unread // wrote)


def _rate(nanos: int | None) -> Nanodollars | None:
    return None if nanos is None else Nanodollars(nanos)
