"""`sluice batch`: deferred work, looked at and cancelled straight in the database.

A running gateway obeys within a second.
"""
# ruff: noqa: PLC0415  imported when a verb runs, so that --help answers at once

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import click

from gateway.cli.terminal import as_json, ledger, now, operator, show_json, show_table

if TYPE_CHECKING:
    from datetime import datetime

    from governance.deferred.records import Batch


@click.group()
def batch() -> None:
    """List, show and cancel batches of deferred work."""


@batch.command(name="list", epilog="\b\nExample:\n  sluice batch list --team research")
@click.option("--team", help="Only batches of this team.")
@click.option("--limit", type=click.IntRange(1, 1000), default=50, show_default=True, help="The most to show.")
@as_json
def list_(team: str | None, limit: int, as_json: bool) -> None:
    """List batches, the newest first, with their progress."""
    from governance.deferred import batches

    async def read() -> tuple[Batch, ...]:
        async with ledger() as database:
            return await batches.listed(database, limit, team=team)

    found = asyncio.run(read())
    if as_json:
        show_json([_facts(one) for one in found])
    elif found:
        _table(found)
    else:
        click.echo("There are no batches. An OpenAI SDK makes one: client.batches.create(…)")


@batch.command(epilog="\b\nExample:\n  sluice batch show batch_0123456789abcdef01234567")
@click.argument("batch_id", metavar="ID")
@as_json
def show(batch_id: str, as_json: bool) -> None:
    """Show how far a batch has come."""
    from governance.deferred import batches

    async def read() -> Batch:
        async with ledger() as database:
            return await batches.find(database, batch_id)

    _show(asyncio.run(read()), as_json=as_json)


@batch.command(epilog="\b\nExample:\n  sluice batch cancel batch_0123456789abcdef01234567")
@click.argument("batch_id", metavar="ID")
@as_json
def cancel(batch_id: str, as_json: bool) -> None:
    """Begin nothing more of a batch; what was done is kept, and what runs is still finished."""
    from governance.deferred import batches

    async def change() -> Batch:
        async with ledger() as database:
            return await batches.cancel(database, batch_id, None, now(), operator())

    _show(asyncio.run(change()), as_json=as_json)


def _facts(found: Batch) -> dict[str, object]:
    from gateway.deferred.objects import batch_object

    waits = found.waits_until
    own = {"team": found.owner.team, "app": found.owner.app, "key_id": found.key_id}
    return {**batch_object(found), **own, "waits_until": None if waits is None else int(waits.timestamp())}


def _show(found: Batch, *, as_json: bool) -> None:
    if as_json:
        show_json(_facts(found))
        return
    from governance.names import shown

    counts = found.counts
    done = f"{counts.completed:,} answered, {counts.failed:,} not"
    rows = {
        "Batch": found.id,
        "Whose": f"{shown(found.owner.team)} / {shown(found.owner.app)}, key {found.key_id}",
        "Endpoint": found.endpoint,
        "Status": found.status.value,
        "Progress": f"{_progress(found)} of {counts.total:,} lines: {done}",
        "Handed in": _at(found.created_at),
        "Expires": _at(found.expires_at),
        "Waits until": _at(found.waits_until),
        "Output file": found.output_file_id or "",
        "Error file": found.error_file_id or "",
    }
    for name, value in rows.items():
        if value:
            click.echo(f"{name:<12} {value}")
    for fault in found.faults:
        click.echo(f"{'Fault':<12} {'' if fault.line is None else f'line {fault.line}: '}{shown(fault.message)}")


def _table(found: tuple[Batch, ...]) -> None:
    from rich.table import Table
    from rich.text import Text

    from governance.names import shown

    table = Table(box=None, header_style="bold", pad_edge=False, caption="Times in UTC", caption_justify="left")
    table.add_column("Batch", no_wrap=True)
    table.add_column("Whose", overflow="fold")
    table.add_column("Status", no_wrap=True)
    for title in ("Lines", "Answered", "Failed", "Progress"):
        table.add_column(title, justify="right", no_wrap=True)
    table.add_column("Handed in", no_wrap=True)
    for one in found:
        counts = (one.counts.total, one.counts.completed, one.counts.failed)
        whose = Text(f"{shown(one.owner.team)} / {shown(one.owner.app)}")
        cells = (*(f"{count:,}" for count in counts), _progress(one), _at(one.created_at))
        table.add_row(one.id, whose, one.status.value, *cells)
    show_table(table)


def _progress(found: Batch) -> str:
    counts = found.counts
    return "" if not counts.total else f"{100 * (counts.completed + counts.failed) // counts.total} %"


def _at(at: datetime | None) -> str:
    return "" if at is None else f"{at:%Y-%m-%d %H:%M}"
