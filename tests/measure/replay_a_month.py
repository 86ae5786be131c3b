"""Measure `sluice policy replay` on a generated month: `python -m tests.measure.replay_a_month [events]`.

The ledger is made in a temporary folder, without the purse, because only its reading is measured. Two policies are
replayed over it: the one it was made under, and one with other budgets, prices, tiers and limits.
"""

from __future__ import annotations

import asyncio
import random
import resource
import sys
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import insert

from gateway.policy.replay.recorded import replay
from gateway.policy.source import LoadedPolicy, parse_policy
from governance.ledger.tables import LedgerEventRow, micros
from tests.support.databases import fresh_database

if TYPE_CHECKING:
    from governance.database import Database

END = datetime(2026, 12, 1, tzinfo=UTC)
DAYS = 30
SEED = 7
BATCH = 20_000


def policy_text(*, edited: bool) -> str:
    """Write a policy of ten teams with four apps each, or its edit."""
    limit, rate, price = (60, 400, 300) if edited else (100_000, 60_000, 200)
    apps = "\n".join(
        f"      - {{name: a{n}, budgets: [{{limit: {limit}, window: day}}, {{limit: {limit * 9}, window: month}}]}}"
        for n in range(4)
    )
    teams = "\n".join(
        f"  - name: t{n}\n    budgets: [{{limit: {limit * 9}, window: week}}]\n"
        f"    limits: {{requests_per_minute: {rate}, concurrent: 4000}}\n    apps:\n{apps}"
        for n in range(10)
    )
    return (
        "version: 1\ntimezone: Europe/London\nproviders:\n  engine: {kind: engine, machine_usd_per_hour: 0.20}\n"
        "tiers: [local]\nmodels:\n"
        f"  - {{name: small, provider: engine, model: s, tier: local, price: {{input: 100, output: {price}}}}}\n"
        "  - {name: large, provider: engine, model: l, tier: local, price: {input: 100, output: 200}}\n"
        "routes: [{name: auto, weak: small, strong: large}]\n"
        f"budgets: [{{scope: org, limit: 9000000, window: month}}]\nteams:\n{teams}\n"
    )


def read(*, edited: bool) -> LoadedPolicy:
    """Read the policy, or its edit."""
    return parse_policy(policy_text(edited=edited), "generated", {}, END)


async def fill(database: Database, events: int, version: str) -> None:
    """Write a month of settled requests, evenly spread."""
    chance = random.Random(SEED)
    start, step = micros(END - timedelta(days=DAYS)), DAYS * 86_400_000_000 // events
    for first in range(0, events, BATCH):
        rows = [_row(chance, n, start + n * step, version) for n in range(first, min(first + BATCH, events))]
        async with database.transaction() as connection:
            await connection.execute(insert(LedgerEventRow), rows)


def _row(chance: random.Random, n: int, at: int, version: str) -> dict[str, object]:
    prompt, output = chance.randrange(20, 2000), chance.randrange(5, 500)
    cost = (prompt * 100 + output * 200) * 1000
    return {
        "kind": "settled",
        "at": at,
        "request_id": f"r{n}",
        "team": f"t{chance.randrange(10)}",
        "app": f"a{chance.randrange(4)}",
        **dict.fromkeys(("feature", "workflow", "segment", "environment", "session"), "unattributed"),
        "model": chance.choice(("small", "small", "large")),
        "key_id": f"k{chance.randrange(40)}",
        "endpoint": "chat",
        "stream": False,
        "provider": "engine",
        "route": "pinned",
        "cache": "miss",
        "outcome": "ok",
        "code": "",
        "status": 200,
        "fresh_input": prompt,
        "cache_read": 0,
        "cache_write": 0,
        "output": output,
        "reasoning": 0,
        "estimated": False,
        "attempts": 1,
        "held_nanos": cost * 3,
        "cost_nanos": cost,
        "saved_cache_nanos": 0,
        "saved_routing_nanos": 0,
        "policy_version": version,
        "duration_ms": chance.uniform(100, 9000),
    }


async def main(events: int) -> None:
    """Fill a ledger, replay both policies, and print a line for each."""
    old, new = read(edited=False), read(edited=True)
    with tempfile.TemporaryDirectory() as folder:
        async with fresh_database(Path(folder)) as database:
            await fill(database, events, old.version)
            for name, policy in (("same policy", old), ("edited policy", new)):
                began, busy = time.perf_counter(), time.process_time()
                report = await replay(
                    database, policy, {old.version: old}, END - timedelta(days=DAYS), END, lambda _: None
                )
                seconds, busy = time.perf_counter() - began, time.process_time() - busy
                peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
                total = report.total
                sys.stdout.write(
                    f"{name}: {events:,} events in {seconds:.1f} s, {busy:.1f} s of CPU, "
                    f"{busy / events * 1e6:.1f} us of CPU each, "
                    f"peak {peak} MiB, {total.refused:,} refused, saved {total.saved.usd} USD\n"
                )


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000))
