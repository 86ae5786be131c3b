"""Read the ledger and replay it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gateway.policy.change.differences import budgets_of
from gateway.policy.replay.lanes import Board, replayed
from gateway.policy.replay.likely import LikelyCalls
from gateway.policy.replay.outcomes import ReplayReport
from gateway.policy.replay.rulings import Rulings
from gateway.policy.replay.simulation import Simulation
from governance.ledger.reading.spending import spent
from governance.ledger.reading.traffic import latest_calls, recorded_prices, traffic
from governance.limits import StepAction
from governance.limits.draws import spend_counters
from governance.windows import Window

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

    from gateway.policy.document import Policy
    from gateway.policy.source import LoadedPolicy
    from governance.database import Database
    from governance.windows import Span


async def replay(
    database: Database,
    new: LoadedPolicy,
    known: Mapping[str, LoadedPolicy],
    since: datetime,
    until: datetime,
    progress: Callable[[int], None],
) -> ReplayReport:
    """Run the traffic that arrived in `since <= at < until` through a policy.

    Args:
        database: The ledger.
        new: The policy.
        known: Other policies at hand by version: traffic that met one of them is decided anew only where it differs.
        since: The first instant.
        until: The instant after the last.
        progress: Told how many more requests have been replayed.

    Raises:
        StoreUnavailable: The ledger cannot be read.
    """
    board = Board(new.rules.timezone)
    rulings = Rulings(new, known, await recorded_prices(database, since, until), board)
    likely = LikelyCalls(await latest_calls(database, since, until))
    simulation = Simulation(rulings, likely, _queues(new.document))
    await _seed(simulation, database, new, board, since)
    async for batch in traffic(database, since, until):
        await simulation.run(batch)
        progress(len(batch))
    return ReplayReport(new.source, new.version, since, until, simulation.teams)


async def _seed(simulation: Simulation, database: Database, new: LoadedPolicy, board: Board, since: datetime) -> None:
    """Begin where the budgets stood: their windows may have opened before the first request."""
    tz = new.rules.timezone
    budgets = [budget for budget in new.rules.budgets() if replayed(budget)]
    for counter in {found for budget in budgets for found in spend_counters(budget, since, tz, board.calendar)}:
        if counter.window is not None and counter.window.start < since:
            before = Window(counter.window.kind, counter.window.start, since)
            await simulation.seed(counter, (await spent(database, counter.scope, before)).nanos)


def _queues(document: Policy) -> frozenset[tuple[str, Span]]:
    return frozenset(
        (scope, budget.window)
        for (scope, _, _), budget in budgets_of(document).items()
        if StepAction.QUEUE in budget.steps.values()
    )
