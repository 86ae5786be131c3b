"""Read the ledger and replay it."""

from __future__ import annotations

import gc
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from gateway.policy.replay.lanes import Board
from gateway.policy.replay.likely import LikelyCalls
from gateway.policy.replay.outcomes import ReplayReport
from gateway.policy.replay.rulings import Rulings, sessions_of
from gateway.policy.replay.simulation import Simulation
from gateway.policy.replay.unknowns import left_out
from governance.counters import CounterKey, Unit
from governance.keys import list_keys
from governance.ledger.reading.spending import spent_by_counter
from governance.ledger.reading.traffic import latest_calls, recorded_prices, session_requests, traffic
from governance.ledger.tables import micros
from governance.windows import SESSION

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping
    from datetime import datetime

    from gateway.policy.source import LoadedPolicy
    from governance.database import Database
    from governance.identity import KeyTerms

_ROWS_PER_COLLECTION: Final = 100_000


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
    keys = {record.caller.key_id: record.caller.terms for record in await list_keys(database)}
    board = Board(new.rules.timezone)
    rulings = Rulings(new, known, await recorded_prices(database, since, until), keys, board)
    simulation = Simulation(rulings, LikelyCalls(await latest_calls(database, since, until)))
    await _seed(board, database, new, keys, since)
    with _rarely_collected():
        async for batch in traffic(database, since, until):
            simulation.run(batch)
            progress(len(batch))
    met = [policy for version, policy in known.items() if version in rulings.versions]
    return ReplayReport(new.source, new.version, since, until, simulation.teams, left_out(new, met))


@contextmanager
def _rarely_collected() -> Generator[None]:
    """Look for reference cycles more rarely: a million rows have none, and looking takes as long as reading them."""
    usual = gc.get_threshold()
    gc.set_threshold(_ROWS_PER_COLLECTION, *usual[1:])
    try:
        yield
    finally:
        gc.set_threshold(*usual)


async def _seed(
    board: Board, database: Database, new: LoadedPolicy, keys: Mapping[str, KeyTerms], since: datetime
) -> None:
    """Begin where budgets and sessions stood: their windows may have opened before the first request."""
    at, tz = micros(since), new.rules.timezone
    budgets = {*new.rules.budgets(), *(budget for terms in keys.values() for budget in terms.budgets)}
    async for counter, total in spent_by_counter(database, budgets, since, tz, board.calendar, before=since):
        board.seed(counter, total.nanos, at)
    if new.rules.loop is not None and new.rules.loop.session_requests is not None:
        for window in board.calendar.covers(SESSION, since, tz):
            for (key_id, session), count in (await session_requests(database, window.start, since)).items():
                scope = f"{sessions_of(key_id)}{quote(session, safe='')}"
                board.seed(CounterKey(scope, Unit.REPEATS, window), count, at)
