"""Where budgets stand, as the ledger knows it, and where they will end.

A running gateway asks its counters where budgets stand, which know what is held too; whoever has only the ledger asks
`stand`. What lies ahead comes from the days before in either case.
"""

from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from heapq import nlargest
from typing import Final
from zoneinfo import ZoneInfo

from governance.database import Database
from governance.errors import StoreUnavailable
from governance.ledger.reading.history import DailySpend, Days
from governance.ledger.reading.spending import spent, spent_by_value
from governance.limits import Budget, Standing
from governance.limits.forecast import LONG, Outlook, outlook
from governance.money import ZERO, Nanodollars
from governance.windows import Window, covers

LISTED: Final = 10
"""How many values of a dimension are listed, those that spent most."""


@dataclass(frozen=True, slots=True)
class Values:
    """A budget for each value of a dimension, and how many values have spent in its window."""

    budget: Budget
    count: int


async def look_ahead(
    history: DailySpend, standings: Iterable[Standing], at: datetime, tz: ZoneInfo
) -> list[tuple[Standing, Outlook | None]]:
    """Tell of each budget where it will end, or None of a rolling one, which does not."""
    return [(one, outlook(one, await _days(history, one, at), at, tz)) for one in standings]


async def stand(
    database: Database, budgets: Sequence[Budget], at: datetime, tz: ZoneInfo
) -> tuple[list[Standing], list[Values]]:
    """Tell where budgets stand at an instant by what is settled; of one for each value, those that spent most.

    Raises:
        StoreUnavailable: The database does not answer.
    """
    standings: list[Standing] = []
    values: list[Values] = []
    for budget in budgets:
        shown = covers(budget.window, at, tz)[0]
        if budget.each is None:
            standings.append(_standing(budget, shown, await spent(database, budget.scope, shown)))
        else:
            count, dearest = await _dearest(spent_by_value(database, budget.scope, budget.each, shown))
            standings += (_standing(budget.of(value), shown, amount) for amount, value in dearest)
            values.append(Values(budget, count))
    return standings, values


async def _dearest(
    batches: AsyncIterator[list[tuple[str, Nanodollars]]],
) -> tuple[int, list[tuple[Nanodollars, str]]]:
    """Count values, and keep those that spent most."""
    count, dearest = 0, list[tuple[Nanodollars, str]]()
    async for batch in batches:
        count += len(batch)
        dearest = nlargest(LISTED, [*dearest, *((amount, value) for value, amount in batch)])
    return count, dearest


async def _days(history: DailySpend, standing: Standing, at: datetime) -> Days:
    """Return what is known of the days before, if they count; without the database the forecast is a straight line."""
    try:
        return await history.days(standing.scope, at) if standing.window in LONG else ()
    except StoreUnavailable:
        return ()


def _standing(budget: Budget, shown: Window, settled: Nanodollars) -> Standing:
    limit = budget.usable
    return Standing(
        scope=budget.scope,
        window=budget.window,
        limit=limit,
        settled=settled,
        held=ZERO,
        remaining=Nanodollars(max(0, limit.nanos - settled.nanos)),
        resets_at=shown.end,
    )
