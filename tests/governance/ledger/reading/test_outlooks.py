"""Where budgets stand by the ledger alone, and what is told of them when it is away."""

from pathlib import Path
from zoneinfo import ZoneInfo

from governance.ledger.events import EventKind, LedgerEvent
from governance.ledger.reading.history import DailySpend
from governance.ledger.reading.outlooks import LISTED, Values, look_ahead, stand
from governance.limits import Budget, Step, StepAction
from governance.windows import WindowKind, window
from tests.support.databases import absent_database, fresh_database, write
from tests.support.requests import DAY_BEFORE, NOON, opening, usd

TZ = ZoneInfo("Europe/London")


async def test_a_budget_stands_at_what_its_window_has_settled_and_ends_where_it_blocks(tmp_path: Path) -> None:
    budget = Budget("team:support", usd("10"), WindowKind.DAY, steps=(Step(50, StepAction.BLOCK),))
    spent = ((NOON, "2"), (NOON, "2.5"), (DAY_BEFORE, "4"))
    async with fresh_database(tmp_path) as database:
        events = [
            LedgerEvent(kind=EventKind.SETTLED, opening=opening(f"r{n}", at), cost=usd(cost))
            for n, (at, cost) in enumerate(spent)
        ]
        await write(database, *events)
        (standing,), values = await stand(database, [budget], NOON, TZ)

    assert values == []
    assert (standing.limit, standing.settled, standing.remaining) == (usd("5"), usd("4.5"), usd("0.5"))
    assert standing.resets_at == window(WindowKind.DAY, NOON, TZ).end


async def test_of_each_value_those_that_spent_most_stand_first_and_the_others_are_counted(tmp_path: Path) -> None:
    budget = Budget("org", usd("10"), WindowKind.MONTH, each="session")
    async with fresh_database(tmp_path) as database:
        events = [
            LedgerEvent(kind=EventKind.SETTLED, opening=opening(f"r{n}", session=f"s{n:02}"), cost=usd(str(1 + n)))
            for n in range(LISTED + 3)
        ]
        await write(database, *events)
        standings, values = await stand(database, [budget], NOON, TZ)

    assert [one.scope for one in standings] == [f"org?session=s{n:02}" for n in range(LISTED + 2, 2, -1)]
    assert standings[-1].settled == usd("4")
    assert values == [Values(budget, LISTED + 3)]


async def test_without_the_ledger_a_forecast_is_a_straight_line(tmp_path: Path) -> None:
    budget = Budget("org", usd("10"), WindowKind.MONTH)
    async with fresh_database(tmp_path) as database:
        standings, _ = await stand(database, [budget], NOON, TZ)
    async with absent_database(tmp_path) as away:
        ((_, found),) = await look_ahead(DailySpend(away, TZ), standings, NOON, TZ)

    assert found is not None
    assert (found.weekday, found.best.by) == (None, "linear")
