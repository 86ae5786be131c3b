"""`sluice doctor`: what could keep this installation from working, each finding with its cure."""
# ruff: noqa: PLC0415  imported when a verb runs, so that --help answers at once

from __future__ import annotations

import asyncio
import os
from dataclasses import asdict

import click

from gateway.cli.terminal import as_json, now, settings, show_json

_COLOURS = {"ok": "green", "warn": "yellow", "fail": "red"}


@click.command(epilog="\b\nExample:\n  sluice doctor")
@as_json
def doctor(as_json: bool) -> None:
    """Look for what could keep this installation from working.

    Status 1 when something must be mended; warnings do not count.
    """
    from gateway.operations.doctor import State, examine

    findings = asyncio.run(examine(settings(), os.environ, now()))
    failed = any(finding.state is State.FAIL for finding in findings)
    if as_json:
        show_json({"ok": not failed, "findings": [asdict(finding) for finding in findings]})
    else:
        for finding in findings:
            mark = click.style(f"{finding.state:<4}", fg=_COLOURS[finding.state], bold=True)
            click.echo(f"{mark}  {finding.name:<15} {finding.detail}")
            if finding.cure:
                click.echo(f"{'':22}{finding.cure}")
    raise click.exceptions.Exit(1 if failed else 0)
