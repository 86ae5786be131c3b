"""Measure `sluice policy replay` on a generated month: `python -m tests.measure.replay_a_month [events]`.

The ledger is made in a temporary folder, without the purse, because only its reading is measured. Three policies are
replayed over it, each in a process of its own: the one it was made under, one with other budgets, prices and limits,
and one with every kind of rule there is.
"""

from __future__ import annotations

import asyncio
import random
import resource
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec.structs import asdict
from sqlalchemy import insert

from gateway.policy.replay.recorded import replay
from gateway.policy.source import LoadedPolicy, parse_policy
from governance.ledger.tables import LedgerAttemptRow, LedgerEventRow, micros
from governance.prices import Usage
from tests.support.databases import fresh_database

if TYPE_CHECKING:
    from governance.database import Database

END = datetime(2026, 12, 1, tzinfo=UTC)
DAYS = 30
SEED = 7
BATCH = 20_000
RULES: Final = """\
  - {scope: org, limit: 36000, window: 7d, steps: {50%: downgrade, 80%: tighten, 100%: block}}
  - {scope: org, limit: 6, window: day, each: user, steps: {60%: downgrade, 100%: queue}}
  - {scope: org, limit: 4, window: session}
output: {max_tokens: {ceiling: 600}}
limits: {loop: {session_requests: 25}}
"""
"""Every kind of rule that needs more than one counter a scope, in amounts that are often reached."""


def policy_text(name: str) -> str:
    """Write a policy of ten teams with four apps each: the `same`, an `edited` one, or one of every `kind` of rule."""
    edited = name == "edited"
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
        "tiers: [local, cloud]\nmodels:\n"
        f"  - {{name: small, provider: engine, model: s, tier: local, price: {{input: 100, output: {price}}}}}\n"
        "  - {name: large, provider: engine, model: l, tier: cloud, price: {input: 100, output: 200}}\n"
        "routes: [{name: auto, weak: small, strong: large}]\n"
        f"budgets:\n  - {{scope: org, limit: 9000000, window: month}}\n{RULES if name == 'every kind' else ''}"
        f"teams:\n{teams}\n"
    )


def read(name: str) -> LoadedPolicy:
    """Read one of the policies."""
    return parse_policy(policy_text(name), "generated", {}, END)


async def fill(database: Database, events: int, version: str) -> None:
    """Write a month of settled requests, evenly spread, each with the attempt that answered it."""
    chance = random.Random(SEED)
    start, step = micros(END - timedelta(days=DAYS)), DAYS * 86_400_000_000 // events
    for first in range(0, events, BATCH):
        rows = [_row(chance, n, start + n * step, version) for n in range(first, min(first + BATCH, events))]
        async with database.transaction() as connection:
            await connection.execute(insert(LedgerEventRow), rows)
            await connection.execute(insert(LedgerAttemptRow), [_attempt(row) for row in rows])


def _row(chance: random.Random, n: int, at: int, version: str) -> dict[str, object]:
    prompt, output = chance.randrange(20, 2000), chance.randrange(5, 500)
    cost = (prompt * 100 + output * 200) * 1000
    session = n // 400 * 20 + chance.randrange(20)
    key = session % 40
    return {
        "kind": "settled",
        "at": at,
        "request_id": f"r{n}",
        "team": f"t{key % 10}",
        "app": f"a{key // 10}",
        **dict.fromkeys(("feature", "workflow", "segment", "environment"), "unattributed"),
        "session": f"s{session}",
        "end_user": f"u{session % 999}",
        "model": chance.choice(("small", "small", "large")),
        "key_id": f"k{key}",
        "endpoint": "chat",
        "stream": False,
        "provider": "engine",
        "route": "pinned",
        "cache": "miss",
        "context": "",
        "outcome": "ok",
        "code": "",
        "status": 200,
        **asdict(Usage(fresh_input=prompt, output=output)),
        "estimated": False,
        "attempts": 1,
        "held_nanos": cost * 3,
        "cost_nanos": cost,
        "saved_cache_nanos": 0,
        "saved_routing_nanos": 0,
        "saved_prefix_nanos": 0,
        "saved_context_nanos": 0,
        "policy_version": version,
        "duration_ms": chance.uniform(100, 9000),
    }


def _attempt(row: dict[str, object]) -> dict[str, object]:
    kept = (
        *("request_id", "at", "model", "provider", "outcome", "status", "cost_nanos", "duration_ms"),
        *Usage.__struct_fields__,
    )
    return {name: row[name] for name in kept} | {
        "n": 1,
        "purpose": "answer",
        "upstream_model": row["model"],
        "price_input_nanos": 100 * 10**9,
        "price_output_nanos": 200 * 10**9,
        "price_source": "policy",
    }


async def generate(folder: Path, events: int) -> None:
    """Make the ledger."""
    async with fresh_database(folder) as database:
        await fill(database, events, read("same").version)


async def measure(folder: Path, name: str) -> None:
    """Replay one policy, and print a line about it."""
    old, new = read("same"), read(name)
    async with fresh_database(folder) as database:
        began, busy = time.perf_counter(), time.process_time()
        report = await replay(database, new, {old.version: old}, END - timedelta(days=DAYS), END, lambda _: None)
        seconds, busy = time.perf_counter() - began, time.process_time() - busy
    peak, total = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024, report.total
    sys.stdout.write(
        f"{name}: {total.requests:,} events in {seconds:.1f} s, {busy:.1f} s of CPU ({busy / seconds:.0%}), "
        f"{busy / total.requests * 1e6:.1f} us of CPU each, peak {peak} MiB; saved {total.saved.usd} USD, "
        f"{total.refused:,} refused, {total.moved:,} moved, {total.queued:,} queued, {total.tightened:,} tightened\n"
    )


def main(events: int) -> None:
    """Make a ledger and measure each policy in a process of its own, so that its peak of memory is its own."""
    with tempfile.TemporaryDirectory() as folder:
        for step in (("generate", str(events)), ("measure", "same"), ("measure", "edited"), ("measure", "every kind")):
            subprocess.run([sys.executable, "-m", __spec__.name, folder, *step], check=True)  # noqa: S603  this module again


if __name__ == "__main__":
    match sys.argv[1:]:
        case [folder, "generate", events]:
            asyncio.run(generate(Path(folder), int(events)))
        case [folder, "measure", name]:
            asyncio.run(measure(Path(folder), name))
        case [events]:
            main(int(events))
        case _:
            main(1_000_000)
