"""`kill -9` at twenty random moments: nothing that was acknowledged is lost, and nothing is there twice."""

import asyncio
import os
import secrets
import subprocess
import sys
from collections import Counter
from pathlib import Path

from sqlalchemy import text

from governance.attribution import DIMENSIONS
from governance.database import Database
from governance.ledger.reading.reports import spend
from governance.ledger.recovery import expire_orphans
from governance.ledger.writer import LedgerWriter
from governance.money import ZERO
from tests.support import mortal_ledger
from tests.support.databases import fresh_database
from tests.support.requests import DAY_AFTER, DAY_BEFORE

ROOT = Path(__file__).parents[3]
ROUNDS = 20


async def stored(database: Database) -> Counter[str]:
    attempts = "SELECT 'attempt ' || request_id FROM ledger_attempt"
    query = text(f"SELECT kind || ' ' || request_id FROM ledger_event UNION ALL {attempts}")  # noqa: S608  constants
    async with database.reading() as connection:
        return Counter((await connection.execute(query)).scalars())


async def test_whatever_was_acknowledged_is_stored_once(tmp_path: Path) -> None:
    seed = secrets.randbelow(10**6)
    async with fresh_database(tmp_path) as database:
        command = [sys.executable, mortal_ledger.__file__, str(tmp_path), str(ROUNDS), str(seed)]
        environment = os.environ | {"PYTHONPATH": str(ROOT)}
        await asyncio.to_thread(subprocess.run, command, env=environment, check=True, timeout=50)
        async with LedgerWriter(database, tmp_path / "spool") as writer:
            assert writer.health.reasons == ()
        found = await stored(database)
        acknowledged = (tmp_path / "acknowledged").read_text().split("\n")[:-1]
        assert len({line.split()[1].partition("-")[0] for line in acknowledged}) == ROUNDS
        assert set(acknowledged) <= set(found), f"lost with seed {seed}"
        assert max(found.values()) == 1, f"doubled with seed {seed}"
        assert len(found) - len(acknowledged) <= ROUNDS, "at most the one that each was writing when it died"

        open_still = await expire_orphans(database)
        assert open_still > 0
        reports = [await spend(database, dimension, DAY_BEFORE, DAY_AFTER) for dimension in DIMENSIONS]
        async with database.reading() as connection:
            query = text("SELECT sum(cost_nanos), count(*) FROM ledger_event WHERE kind <> 'held'")
            cost, ended = (await connection.execute(query)).one()
        for report in reports:
            assert (report.total.cost.nanos, report.total.requests) == (cost, ended)
            assert sum((row.cost for row in report.rows), ZERO) == report.total.cost
    assert list((tmp_path / "spool").iterdir()) == []
