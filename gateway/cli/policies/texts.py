"""`sluice policy`: is this policy right, what may be written in one, and what would another one do.

`history.py` adds the verbs that put one in force.
"""
# ruff: noqa: PLC0415  imported when a verb runs, so that --help answers at once

from __future__ import annotations

import asyncio
import os
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gateway.cli.terminal import Duration, as_json, ledger, now, settings, show_json, show_table

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from datetime import timedelta

    from gateway.policy.change.effects import ChangeReport
    from gateway.policy.replay.outcomes import ReplayReport, TeamOutcome
    from gateway.policy.source import LoadedPolicy

_file = click.Path(path_type=Path, dir_okay=False)
_check = click.option("--check", is_flag=True, help="Status 1 when it would refuse somebody who spent in 7 days.")
_REPLAY_TITLES = (
    "Requests",
    "Spent",
    "Replayed",
    "Saved",
    "Refused",
    "Admitted",
    "Queued",
    "Moved",
    "Zone",
    "Tightened",
    "Estimated",
)


@click.group()
def policy() -> None:
    """Check a policy, see what a change would do, put it in force, and go back."""


@policy.command(epilog="\b\nExamples:\n  sluice policy check\n  sluice policy check policy.yaml --json")
@click.argument("file", required=False, type=_file)
@as_json
def check(file: Path | None, as_json: bool) -> None:
    """Find what is wrong with FILE (or the policy file of the settings), by line and column.

    Status 1 when it cannot be put in force. Warnings and parts that are not yet obeyed do not count against it.
    """
    from gateway.policy.check import check as check_policy
    from governance.names import shown

    report = check_policy(file or settings().policy_file, os.environ, now())
    if as_json:
        show_json(report.facts())
    else:
        click.echo("\n".join(map(shown, report.lines())))
    raise click.exceptions.Exit(0 if report.ok else 1)


@policy.command(epilog="\b\nExample:\n  sluice policy schema > policy.schema.json")
@as_json
def schema(as_json: bool) -> None:
    """Print the JSON Schema of a policy, for editors; it is JSON either way."""
    from gateway.policy.schema import policy_schema

    del as_json
    show_json(policy_schema())


@policy.command(
    epilog="\b\nExamples:\n  sluice policy diff policy.yaml next.yaml\n  sluice policy diff 5f0c2d next.yaml --json"
)
@click.argument("old")
@click.argument("new")
@_check
@as_json
def diff(old: str, new: str, check: bool, as_json: bool) -> None:
    """Show what changes from the policy OLD to NEW; with --check, against the ledger too.

    Each is a file or a version of the history.
    """
    from gateway.policy.change.effects import compare

    before, after = asyncio.run(_named(old, new))
    report = asyncio.run(_plan(before, after)) if check else compare(before, after)
    _show_change(report, check=check, as_json=as_json)


@policy.command(epilog="\b\nExamples:\n  sluice policy plan next.yaml\n  sluice policy plan next.yaml --check --json")
@click.argument("new", type=_file)
@_check
@as_json
def plan(new: Path, check: bool, as_json: bool) -> None:
    """Show what changes from the policy in force to NEW, where its budgets stand, and who would be refused."""
    report = asyncio.run(_plan(None, _load(new)))
    _show_change(report, check=check, as_json=as_json)


def _load(path: Path | None) -> LoadedPolicy:
    from gateway.policy.source import load_policy

    return load_policy(path, os.environ, now())


async def _named(*names: str) -> list[LoadedPolicy]:
    """Load files and versions of the history; a file may be called like a version."""
    from gateway.policy.history.reading import find, load

    if not any(map(_is_version, names)):
        return [_load(Path(name)) for name in names]
    async with ledger() as database:
        return [
            await load(await find(database, name), os.environ, now()) if _is_version(name) else _load(Path(name))
            for name in names
        ]


def _is_version(name: str) -> bool:
    from gateway.policy.history.reading import is_version

    return is_version(name) and not Path(name).exists()


async def _plan(old: LoadedPolicy | None, new: LoadedPolicy) -> ChangeReport:
    """Compare two policies, or one with the policy in force."""
    from gateway.policy.change.effects import plan as plan_change
    from gateway.policy.history.starting import expected

    async with ledger() as database:
        before = old or (await expected(database, settings().policy_file, os.environ, now())).policy
        return await plan_change(before, new, database, now())


def _show_change(report: ChangeReport, *, check: bool, as_json: bool) -> None:
    from governance.names import shown

    if as_json:
        show_json(report.facts())
    else:
        click.echo("\n".join(map(shown, report.lines())))
    raise click.exceptions.Exit(1 if check and report.refused else 0)


@policy.command(
    epilog="\b\nExamples:\n  sluice policy replay next.yaml\n  sluice policy replay next.yaml --since 30d --team search"
)
@click.argument("new", type=_file)
@click.option("--since", type=Duration(), default="7d", show_default=True, help="How far to look back.")
@click.option("--team", help="Report on this team alone; all are replayed, for they share budgets.")
@as_json
def replay(new: Path, since: timedelta, team: str | None, as_json: bool) -> None:
    """Run the recorded traffic through the policy NEW: what it would have cost, refused, moved and queued."""
    report = asyncio.run(_replay(_load(new), since)).only(team)
    if as_json:
        show_json(report.facts())
    else:
        show_replay(report)


async def _replay(new: LoadedPolicy, since: timedelta) -> ReplayReport:
    from gateway.policy.history.reading import known
    from gateway.policy.history.starting import expected
    from gateway.policy.replay.recorded import replay as replay_ledger
    from governance.ledger.reading.traffic import traffic_size

    until = now()
    async with ledger() as database:
        active = (await expected(database, settings().policy_file, os.environ, until)).policy
        policies = {active.version: active, **await known(database, os.environ, until)}
        with replaying(await traffic_size(database, until - since, until)) as progress:
            return await replay_ledger(database, new, policies, until - since, until, progress)


@contextmanager
def replaying(size: int) -> Generator[Callable[[int], None]]:
    """Show on a terminal how far a replay of so many requests has come; give what it tells of each step."""
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    with Progress(console=console, disable=not console.is_terminal, transient=True) as bar:
        task = bar.add_task("Replaying", total=size)
        yield lambda more: bar.advance(task, more)


def show_replay(report: ReplayReport) -> None:
    """Print what a replay found, a row for each team."""
    from rich.table import Table
    from rich.text import Text

    from governance.names import shown

    table = Table(
        box=None,
        header_style="bold",
        pad_edge=False,
        show_footer=True,
        footer_style="bold",
        caption=f"USD, {report.since:%Y-%m-%d %H:%M} to {report.until:%Y-%m-%d %H:%M} UTC, policy {report.version}",
        caption_justify="left",
    )
    table.add_column("Team", footer="Total", overflow="fold")
    for title, total in zip(_REPLAY_TITLES, _replay_cells(report.total), strict=True):
        table.add_column(title, footer=total, justify="right", no_wrap=True)
    for name, outcome in sorted(report.teams.items()):
        table.add_row(Text(shown(name)), *_replay_cells(outcome))
    show_table(table)
    for move, calls in sorted(report.total.moves.items()):
        click.echo(shown(f"{calls:,} moved from {move.before} to {move.after} ({move.why})"))
    for why, calls in sorted(report.total.reasons.items()):
        click.echo(shown(f"{calls:,} stopped: {why}"))
    for sentence in report.left_out:
        click.echo(shown(f"left as it was: {sentence}"))


def _replay_cells(outcome: TeamOutcome) -> tuple[str, ...]:
    from governance.money import Nanodollars

    money = (Nanodollars(outcome.recorded).usd, Nanodollars(outcome.replayed).usd, outcome.saved.usd)
    counts = (
        outcome.refused,
        outcome.admitted,
        outcome.queued,
        outcome.moved,
        outcome.moved_zone,
        outcome.tightened,
        outcome.estimated + outcome.unpriced,
    )
    return (f"{outcome.requests:,}", *money, *(f"{count:,}" for count in counts))
