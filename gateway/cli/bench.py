"""`sluice bench`: what Sluice costs on this machine."""
# ruff: noqa: PLC0415  imported when a verb runs, so that --help answers at once

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import click

from gateway.cli.terminal import as_json, settings, show_json, show_table

if TYPE_CHECKING:
    from gateway.bench.cache import Row as HitRow
    from gateway.bench.embedding import Row as TimedRow
    from gateway.bench.governance import Row
    from gateway.bench.index import Row as IndexRow


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
    epilog="\b\nExamples:\n  sluice bench cache\n  sluice bench cache --entries 1000000\n"
    "  REDIS_URL=redis://127.0.0.1 sluice bench cache --json",
)
@click.option("--rounds", type=click.IntRange(1, 50), default=5, show_default=True, help="How often to measure.")
@click.option("--requests", type=click.IntRange(1, 100_000), default=2_000, show_default=True, help="In each round.")
@click.option("--lookups", type=click.IntRange(2, 1_000), default=200, show_default=True, help="By meaning.")
@click.option(
    "--entries", type=click.IntRange(50, 10_000_000), default=10_000, show_default=True, help="In the index of vectors."
)
@as_json
def bench_cache(rounds: int, requests: int, lookups: int, entries: int, as_json: bool) -> None:
    """Measure a hit of the exact cache, one of the semantic cache, the embedding, and the index of vectors.

    Looks answers up in memory and on disk, and in the Redis at REDIS_URL as well if that is set; it leaves nothing
    there. A million entries in the index take some minutes.
    """
    found = asyncio.run(_hits(rounds, requests))
    timed, indexes, missing = asyncio.run(_meanings(lookups, entries))
    if as_json:
        show_json([*map(_hit_facts, found), *map(_timed_facts, timed), *map(_index_facts, indexes)])
    else:
        _hit_table(found)
        _timed_table(timed)
        _index_table(indexes)
        if missing:
            click.echo(f"No semantic cache: {missing}")


@bench.command(
    name="router", epilog="\b\nExamples:\n  sluice bench router\n  sluice bench router --requests 20000 --json"
)
@click.option("--requests", type=click.IntRange(20, 1_000_000), default=2_000, show_default=True, help="To score.")
@as_json
def bench_router(requests: int, as_json: bool) -> None:
    """Measure how long a learned router takes for one request, after its embedding: counting words, and the score.

    It is the router trained in the home, else the bundled one, on texts of 10 to 600 words.
    """
    from gateway.bench.router import rows
    from gateway.cli.routers.group import chosen
    from router_models.artifact import open_scorer

    found = rows(open_scorer(chosen(None)), requests=requests)
    if as_json:
        show_json([*map(_timed_facts, found)])
    else:
        _timed_table(found, "Router")


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


async def _meanings(lookups: int, entries: int) -> tuple[list[TimedRow], list[IndexRow], str]:
    """Measure what takes the extra of the semantic cache, or say that it is not installed."""
    from importlib.util import find_spec

    from cache.errors import EmbeddingMissing

    missing = [name for name in ("numpy", "faiss", "onnxruntime", "safetensors") if not find_spec(name)]
    if missing:
        return [], [], f"it needs {', '.join(missing)}: pip install 'sluicegate[semantic]'"
    from gateway.bench import embedding, index, meaning

    try:
        timed = [row async for row in meaning.rows(lookups=lookups)]
        timed += [row async for row in embedding.rows(texts=lookups)]
    except EmbeddingMissing as error:
        return [], [], str(error)
    return timed, [row async for row in index.rows(entries=entries, lookups=lookups)], ""


def _timed_facts(row: TimedRow) -> dict[str, Any]:
    return {
        "setting": {"part": row.what, "home": "memory"},
        "unit": "milliseconds of the clock",
        "median": round(row.median, 3),
        "p95": round(row.p95, 3),
        "p99": round(row.p99, 3),
    }


def _timed_table(found: list[TimedRow], title: str = "By meaning") -> None:
    from rich.table import Table

    table = Table(title, box=None, pad_edge=False)
    for heading in ("ms p50", "p95", "p99"):
        table.add_column(heading, justify="right")
    for row in found:
        table.add_row(row.what, *(f"{value:.2f}" for value in (row.median, row.p95, row.p99)))
    show_table(table)


def _index_facts(row: IndexRow) -> dict[str, Any]:
    return {
        "setting": {"part": f"index of {row.shape}", "home": "disk"},
        "unit": "milliseconds of the clock for a look-up",
        "median": round(row.lookup_ms, 3),
        "p99": round(row.lookup_p99_ms, 3),
        "recall": round(row.recall, 4),
        "add_us": round(row.add_us, 1),
        "build_s": round(row.build_s, 2),
        "restart_s": round(row.restart_s, 2),
        "bytes_per_entry": round(row.bytes_per_entry),
        "disk_bytes_per_entry": round(row.disk_per_entry),
    }


def _index_table(found: list[IndexRow]) -> None:
    from rich.table import Table

    table = Table("Index", box=None, pad_edge=False)
    for heading in ("ms p50", "p99", "Recall", "Add µs", "Build s", "Restart s", "Bytes each", "On disk"):
        table.add_column(heading, justify="right")
    for row in found:
        times = (f"{row.lookup_ms:.2f}", f"{row.lookup_p99_ms:.2f}", f"{row.recall:.3f}", f"{row.add_us:.0f}")
        sizes = (
            f"{row.build_s:.1f}",
            f"{row.restart_s:.1f}",
            f"{row.bytes_per_entry:.0f}",
            f"{row.disk_per_entry:.0f}",
        )
        table.add_row(row.shape, *times, *sizes)
    show_table(table)


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
