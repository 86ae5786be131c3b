"""What the ledger says has been spent: for counters that must know it, and over the days for a forecast."""

from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final
from zoneinfo import ZoneInfo

from sqlalchemy import ColumnElement, and_, case, func, select

from governance.attribution import UNATTRIBUTED
from governance.counters import CounterKey, Unit
from governance.database import Database
from governance.ledger.reading.spans import ended_between, figures
from governance.ledger.tables import LedgerEventRow, micros
from governance.limits import Budget, Each, column_of, dimensions_of
from governance.money import Nanodollars
from governance.windows import Calendar, Window

BATCH: Final = 250
"""How many values are read at once."""

_E = LedgerEventRow
_ANYTHING: Final = Nanodollars(1)


async def spent_by_counter(
    database: Database,
    budgets: Iterable[Budget],
    at: datetime,
    tz: ZoneInfo,
    calendar: Calendar,
    *,
    before: datetime | None = None,
) -> AsyncIterator[tuple[CounterKey, Nanodollars]]:
    """Read what has been spent in the windows of budgets at an instant, for each counter that has something to know.

    A budget for each value of a dimension has a counter for every value the ledger has seen in its window. Requests
    that arrived at `before` or later do not count.

    Raises:
        StoreUnavailable: The database does not answer.
    """
    for budget, window in {(b, w): None for b in budgets for w in calendar.covers(b.window, at, tz)}:
        counted = window if before is None else replace(window, end=min(window.end, before))
        if budget.each is None:
            yield CounterKey(budget.scope, Unit.SPEND, window), await spent(database, budget.scope, counted)
        else:
            async for batch in spent_by_value(database, budget.scope, budget.each, counted):
                for value, amount in batch:
                    yield CounterKey(budget.of(value).scope, Unit.SPEND, window), amount


async def spent_over(database: Database, scope: str, cuts: Sequence[datetime]) -> tuple[Nanodollars, ...]:
    """Sum what a scope has spent between each two neighbouring instants of rising ones.

    Raises:
        StoreUnavailable: The database does not answer.
    """
    columns, totals = dimensions_of(scope), [0] * (len(cuts) - 1)
    async with database.reading() as connection:
        if columns.keys() <= {"team", "app"}:
            by = "app" if "app" in columns else "team"
            found = await figures(connection, by, cuts, columns.get("team"))
            for (n, name), used in found.items():
                totals[n] += used.cost if columns.get(by, name) == name else 0
        else:
            column = case(*((_E.at < micros(end), n) for n, end in enumerate(cuts[1:]))).label("column")
            query = select(column, func.sum(_E.cost_nanos)).where(_within(scope, cuts[0], cuts[-1])).group_by(column)
            for n, total in await connection.execute(query):
                totals[int(n)] = int(total)
    return tuple(map(Nanodollars, totals))


async def spent(database: Database, scope: str, window: Window) -> Nanodollars:
    """Sum what a scope has spent in a window.

    Raises:
        StoreUnavailable: The database does not answer.
    """
    (total,) = await spent_over(database, scope, (window.start, window.end))
    return total


async def spent_by_value(
    database: Database, scope: str, each: Each, window: Window, at_least: Nanodollars = _ANYTHING
) -> AsyncGenerator[list[tuple[str, Nanodollars]]]:
    """Sum what each value of a dimension has spent in a window, in batches, because values may be as many as requests.

    Raises:
        StoreUnavailable: The database does not answer.
    """
    value, total = _E.__table__.columns[column_of(each)], func.sum(_E.cost_nanos)
    named = and_(value.is_not(None), value != UNATTRIBUTED, _E.cost_nanos > 0)
    within = _within(scope, window.start, window.end)
    query = select(value, total).where(within, named).group_by(value).having(total >= at_least.nanos)
    async with database.reading() as connection:
        result = await connection.stream(query, execution_options={"yield_per": BATCH})
        async for batch in result.partitions():
            yield [(str(name), Nanodollars(int(amount))) for name, amount in batch]


def _within(scope: str, since: datetime, until: datetime) -> ColumnElement[bool]:
    named = [_E.__table__.columns[column] == name for column, name in dimensions_of(scope).items()]
    return and_(ended_between(since, until), *named)
