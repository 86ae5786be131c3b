"""What the rounds of the purse do when the clock is not to be trusted."""

from datetime import timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

from gateway.operations.leases import Leases
from governance.counters.memory import MemoryCounters
from governance.ledger.writer import LedgerWriter
from governance.limits import Budget, WorstCase
from governance.purse import Purse
from governance.windows import WindowKind
from tests.support.databases import fresh_database
from tests.support.requests import NOON, opening, settlement, usd

TZ = ZoneInfo("UTC")
TEAM = Budget("team:support", usd("1"), WindowKind.MONTH)


async def test_a_clock_that_ran_ahead_and_is_set_back_does_not_open_a_spent_window_afresh(tmp_path: Path) -> None:
    clock = [NOON.timestamp()]
    async with fresh_database(tmp_path) as database, LedgerWriter(database, tmp_path / "spool") as ledger:
        purse = Purse(MemoryCounters(), ledger, lambda: clock[0])

        async def teach() -> None:
            await ledger.flush()
            await purse.seed(database, [TEAM], NOON, TZ)

        leases = Leases(purse, database, teach, lambda: clock[0])
        async with purse.hold(opening("r1"), [TEAM], [], WorstCase(usd("0.40"), 1), tz=TZ, lease_s=60) as hold:
            await hold.settle(settlement("0.25"))
        for instant in (NOON, NOON + timedelta(days=40), NOON + timedelta(seconds=1)):
            clock[0] = instant.timestamp()
            await leases.end()
        (standing,) = await purse.standing([TEAM], NOON, TZ)
    assert standing.settled == usd("0.25")
