"""`sluice bench`: what Sluice costs on this machine."""
# ruff: noqa: PLC0415  imported when a verb runs, so that --help answers at once

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import click

from gateway.cli.terminal import as_json, settings, show_json, show_table

if TYPE_CHECKING:
    from gateway.bench.cache import Row as HitRow
    from gateway.bench.governance import Row


@click.group()
def bench() -> None:
    """Measure what Sluice costs on this machine."""


@bench.command(
    name="governance",
    epilog="\b\nExamples:\n  sluice bench governance\n  REDIS_URL=redis://127.0.0.1 sluice bench governance --json",
)
@click.option("--rounds", type=click.IntRange(1, 50), default=5, show_default=True, help="How often to measure.")
@click.option("--requests", type=click.IntRange(1, 10_000), default=400, show_default=True, help="In each round.")
@as_json
def bench_governance(rounds: int, requests: int, as_json: bool) -> None:
    """Measure the governance of one request: key, grant, budget steps, loops, hold, settle and the ledger's records.

    Counts in memory, and in the Redis at REDIS_URL as well if that is set; it leaves nothing there.
    """
    found = asyncio.run(_measured(rounds, requests))
    if as_json:
        show_json([_facts(row) for row in found])
    else:
        _table(found)


@bench.command(
    name="cache",
    epilog="\b\nExamples:\n  sluice bench cache\n  REDIS_URL=redis://127.0.0.1 sluice bench cache --json",
)
@click.option("--rounds", type=click.IntRange(1, 50), default=5, show_default=True, help="How often to measure.")
@click.option("--requests", type=click.IntRange(1, 100_000), default=2_000, show_default=True, help="In each round.")
@as_json
def bench_cache(rounds: int, requests: int, as_json: bool) -> None:
    """Measure a hit of the exact cache: the look-up in each home, the cache's own part, and the whole request.

    Looks answers up in memory and on disk, and in the Redis at REDIS_URL as well if that is set; it leaves nothing
    there.
    """
    found = asyncio.run(_hits(rounds, requests))
    if as_json:
        show_json([_hit_facts(row) for row in found])
    else:
        _hit_table(found)


async def _hits(rounds: int, requests: int) -> list[HitRow]:
    from gateway.bench.cache import rows

    return [row async for row in rows(rounds=rounds, requests=requests, redis_url=settings().redis_url)]


def _hit_facts(row: HitRow) -> dict[str, Any]:
    figure = row.figure
    return {
        "setting": {"part": row.part, "home": row.home},
        "unit": "microseconds of CPU for a hit",
        "median": round(figure.median, 2),
        "spread": [round(figure.least, 2), round(figure.most, 2)],
        "bare_loop": round(figure.bare_loop, 2),
        "ratio": round(figure.ratio, 2),
    }


def _hit_table(found: list[HitRow]) -> None:
    from rich.table import Table

    table = Table("Part", "Home", box=None, pad_edge=False)
    for heading in ("CPU µs", "Least", "Most", "Bare loops"):
        table.add_column(heading, justify="right")
    for row in found:
        figure = row.figure
        cells = (f"{figure.median:.1f}", f"{figure.least:.1f}", f"{figure.most:.1f}", f"{figure.ratio:.2f}")
        table.add_row(row.part, row.home, *cells)
    show_table(table)
    click.echo("For one exact hit, all threads of this process.")


async def _measured(rounds: int, requests: int) -> list[Row]:
    from gateway.bench.governance import rows

    return [row async for row in rows(rounds=rounds, requests=requests, redis_url=settings().redis_url)]


def _facts(row: Row) -> dict[str, Any]:
    figure = row.figure
    return {
        "setting": {"policy": row.policy, "counters": row.home},
        "unit": "microseconds of CPU for a request",
        "median": round(figure.median, 2),
        "spread": [round(figure.least, 2), round(figure.most, 2)],
        "bare_loop": round(figure.bare_loop, 2),
        "ratio": round(figure.ratio, 2),
        "trips": round(row.trips, 3),
    }


def _table(found: list[Row]) -> None:
    from rich.table import Table

    from gateway.bench.governance import POLICIES

    table = Table("Policy", "", "Counters", box=None, pad_edge=False)
    for heading in ("CPU µs", "Least", "Most", "Bare loops", "Trips"):
        table.add_column(heading, justify="right")
    for row in found:
        figure = row.figure
        cells = (f"{figure.median:.1f}", f"{figure.least:.1f}", f"{figure.most:.1f}", f"{figure.ratio:.2f}")
        trips = f"{row.trips:.2f}" if row.trips else ""
        table.add_row(row.policy, POLICIES[row.policy], row.home, *cells, trips)
    show_table(table)
    loops = sorted(row.figure.bare_loop for row in found)
    click.echo(f"For one request, all threads; a bare loop is 1,000 additions: {loops[len(loops) // 2]:.1f} µs here")
