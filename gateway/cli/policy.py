"""`sluice policy`: is this policy right, and what may be written in one."""
# ruff: noqa: PLC0415  imported when a verb runs, so that --help answers at once

from __future__ import annotations

import os
from pathlib import Path

import click

from gateway.cli.terminal import as_json, now, settings, show_json


@click.group()
def policy() -> None:
    """Check a policy, or learn what one may say."""


@policy.command(epilog="\b\nExamples:\n  sluice policy check\n  sluice policy check policy.yaml --json")
@click.argument("file", required=False, type=click.Path(path_type=Path, dir_okay=False))
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
