"""`sluice policy`: is this policy right, what may be written in one, and what would another one do."""
# ruff: noqa: PLC0415  imported when a verb runs, so that --help answers at once

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gateway.cli.terminal import as_json, now, settings, show_json

if TYPE_CHECKING:
    from gateway.policy.change.effects import ChangeReport
    from gateway.policy.source import LoadedPolicy

_file = click.Path(path_type=Path, dir_okay=False)
_check = click.option("--check", is_flag=True, help="Status 1 when it would refuse somebody who spent in 7 days.")


@click.group()
def policy() -> None:
    """Check a policy, learn what one may say, or see what a change would do."""


@policy.command(epilog="\b\nExamples:\n  sluice policy check\n  sluice policy check policy.yaml --json")
@click.argument("file", required=False, type=_file)
@as_json
def check(file: Path | None, as_json: bool) -> None:
    """Find what is wrong with FILE (or the policy in force), by line and column.

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
    epilog="\b\nExamples:\n  sluice policy diff policy.yaml next.yaml\n  sluice policy diff a.yaml b.yaml --json"
)
@click.argument("old", type=_file)
@click.argument("new", type=_file)
@_check
@as_json
def diff(old: Path, new: Path, check: bool, as_json: bool) -> None:
    """Show what changes from the policy OLD to NEW; with --check, against the ledger too."""
    from gateway.policy.change.effects import compare

    before, after = _load(old), _load(new)
    report = asyncio.run(_plan(before, after)) if check else compare(before, after)
    _show_change(report, check=check, as_json=as_json)


@policy.command(epilog="\b\nExamples:\n  sluice policy plan next.yaml\n  sluice policy plan next.yaml --check --json")
@click.argument("new", type=_file)
@_check
@as_json
def plan(new: Path, check: bool, as_json: bool) -> None:
    """Show what changes from the policy in force to NEW, where its budgets stand, and who would be refused."""
    report = asyncio.run(_plan(_load(settings().policy_file), _load(new)))
    _show_change(report, check=check, as_json=as_json)


def _load(path: Path | None) -> LoadedPolicy:
    from gateway.policy.source import load_policy

    return load_policy(path, os.environ, now())


async def _plan(old: LoadedPolicy, new: LoadedPolicy) -> ChangeReport:
    from gateway.operations.ledger import open_ledger
    from gateway.policy.change.effects import plan as plan_change

    async with open_ledger(settings()) as database:
        return await plan_change(old, new, database, now())


def _show_change(report: ChangeReport, *, check: bool, as_json: bool) -> None:
    from governance.names import shown

    if as_json:
        show_json(report.facts())
    else:
        click.echo("\n".join(map(shown, report.lines())))
    raise click.exceptions.Exit(1 if check and report.refused else 0)
