"""Teach the counters of budgets what the ledger knows was spent: at the start, and after they have forgotten it."""

from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from datetime import datetime

from gateway.governing.in_force import InForce
from governance.counters.guarded import GuardedCounters
from governance.database import Database
from governance.deferred.parcels import requests
from governance.identity import Keyring
from governance.ledger.writer import LedgerWriter
from governance.limits import Budget
from governance.purse import Purse


async def fill(
    purse: Purse,
    guard: GuardedCounters | None,
    in_force: InForce,
    keyring: Keyring,
    database: Database,
    ledger: LedgerWriter,
    stack: AsyncExitStack,
    now: Callable[[], datetime],
) -> Callable[[], Awaitable[None]]:
    """Teach the counters what has been spent, and return how to do it again; those that can forget it are taught so."""

    def budgets() -> tuple[Budget, ...]:
        return (*in_force.governed.policy.rules.budgets(), *keyring.budgets())

    async def refill() -> None:
        await ledger.flush(within_s=1.0)
        await purse.seed(database, budgets(), now(), in_force.governed.timezone)

    out = await requests(database)
    await purse.rebuild(database, budgets(), now(), in_force.governed.timezone, sole=guard is None, spared=out)
    if guard is not None:
        await stack.enter_async_context(guard.watch(refill))
    return refill
