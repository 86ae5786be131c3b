"""`sluice prove`: read the records again and show that they hold."""
# ruff: noqa: PLC0415  imported when the verb runs, so that --help answers at once

from __future__ import annotations

import asyncio
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from gateway.cli.terminal import as_json, ledger, show_json

if TYPE_CHECKING:
    from governance.confinement.proving import ZoneProof


@click.group()
def prove() -> None:
    """Read the records again and show that they hold."""


@prove.command(epilog="\b\nExamples:\n  sluice prove zones\n  sluice prove zones --json")
@as_json
def zones(as_json: bool) -> None:
    """Show that nothing confined to a zone has left it.

    Reads the log of decisions from its first entry, each sealed by the one before, and holds it against the ledger:
    every call of a confined request is in both, and went inside its zones. Exit status 1 when anything does not hold.
    """
    proof = asyncio.run(_prove())
    if as_json:
        show_json({"holds": proof.breach is None, **asdict(proof)})
    else:
        _show(proof)
    sys.exit(proof.breach is not None)


async def _prove() -> ZoneProof:
    from governance.confinement.proving import prove as proven

    async with ledger() as database:
        return await proven(database)


def _show(proof: ZoneProof) -> None:
    click.echo(
        f"{proof.entries:,} entries hold: {proof.confined:,} confined requests, {proof.calls:,} calls for them, "
        f"{proof.refused:,} requests that might go nowhere."
    )
    breach = proof.breach
    if breach is None:
        click.echo("Nothing that was confined has left its zones.")
        return
    place = "" if breach.n is None else f"entry {breach.n:,}"
    about = f"request {breach.request_id}" if breach.request_id else ""
    where = ", ".join(filter(None, (place, about)))
    click.echo(f"Broken{f' at {where}' if where else ''}: {breach.why}.", err=True)
