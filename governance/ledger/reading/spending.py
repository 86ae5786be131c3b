"""What the ledger says has been spent: for counters that must know it, and over the days for a forecast."""

from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from zoneinfo import ZoneInfo

from sqlalchemy import ColumnElement, and_, case, func, select

from governance.attribution import UNATTRIBUTED
from governance.counters import CounterKey, Unit
from governance.database import Database
from governance.ledger.reading.spans import ended_between, figures
from governance.ledger.tables import LedgerEventRow, micros
from governance.limits import Budget, Each, column_of, dimensions_of
from governance.money import ZERO, Nanodollars
from governance.windows import Calendar, Window

_E = LedgerEventRow


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
            for value, amount in await _spent_by_value(database, budget.scope, budget.each, counted):
                yield CounterKey(budget.of(value).scope, Unit.SPEND, window), amount


async def spent_over(database: Database, scope: str, cuts: Sequence[datetime]) -> tuple[Nanodollars, ...]:
    """Sum what a scope has spent between each two neighbouring instants of rising ones.

    Raises:
        StoreUnavailable: The database does not answer.
    """
    column = case(*((_E.at < micros(end), n) for n, end in enumerate(cuts[1:]))).label("column")
    query = select(column, func.sum(_E.cost_nanos)).where(_within(scope, cuts[0], cuts[-1])).group_by(column)
    async with database.reading() as connection:
        found = {int(n): Nanodollars(int(total)) for n, total in await connection.execute(query)}
    return tuple(found.get(n, ZERO) for n in range(len(cuts) - 1))


async def spent(database: Database, scope: str, window: Window) -> Nanodollars:
    """Sum what a scope has spent in a window.

    Raises:
        StoreUnavailable: The database does not answer.
    """
    columns = dimensions_of(scope)
    async with database.reading() as connection:
        if columns.keys() <= {"team", "app"}:
            by = "app" if "app" in columns else "team"
            found = await figures(connection, by, (window.start, window.end), columns.get("team"))
            return Nanodollars(sum(used.cost for (_, name), used in found.items() if columns.get(by, name) == name))
        query = select(func.coalesce(func.sum(_E.cost_nanos), 0)).where(_within(scope, window.start, window.end))
        return Nanodollars(int(await connection.scalar(query) or 0))


async def _spent_by_value(database: Database, scope: str, each: Each, window: Window) -> list[tuple[str, Nanodollars]]:
    value = _E.__table__.columns[column_of(each)]
    named = and_(value.is_not(None), value != UNATTRIBUTED, _E.cost_nanos > 0)
    within = _within(scope, window.start, window.end)
    query = select(value, func.sum(_E.cost_nanos)).where(within, named).group_by(value)
    async with database.reading() as connection:
        return [(str(name), Nanodollars(int(total))) for name, total in await connection.execute(query)]


def _within(scope: str, since: datetime, until: datetime) -> ColumnElement[bool]:
    named = [_E.__table__.columns[column] == name for column, name in dimensions_of(scope).items()]
    return and_(ended_between(since, until), *named)
