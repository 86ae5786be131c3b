"""`sluice spend --unread`: what providers' caches were written with and nobody has read."""
# ruff: noqa: PLC0415  imported when a verb runs, so that --help answers at once

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from gateway.cli.terminal import ledger, now, show_json, show_table

if TYPE_CHECKING:
    from datetime import timedelta

    from governance.ledger.reading.prefixes import Unread


def show_unread(since: timedelta, *, as_json: bool) -> None:
    """Show it by app and feature, dearest first."""
    found = asyncio.run(_read(since))
    if as_json:
        rows = [
            {
                "team": one.team,
                "app": one.app,
                "feature": one.feature,
                "writes": one.writes,
                "tokens": one.tokens,
                "cost_usd": one.cost.usd,
            }
            for one in found
        ]
        show_json({"rows": rows})
    else:
        _table(found)


async def _read(since: timedelta) -> tuple[Unread, ...]:
    from governance.ledger.reading.prefixes import unread_writes

    until = now()
    async with ledger() as database:
        return await unread_writes(database, until - since, until)


def _table(found: tuple[Unread, ...]) -> None:
    from rich.table import Table
    from rich.text import Text

    from governance.money import ZERO
    from governance.names import shown

    total = sum((one.cost for one in found), ZERO)
    table = Table(
        box=None,
        header_style="bold",
        pad_edge=False,
        caption=f"Cache writes never read: {total.usd} USD beyond what the same tokens cost as fresh input",
        caption_justify="left",
    )
    for title in ("App", "Feature"):
        table.add_column(title, overflow="fold")
    for title in ("Writes", "Tokens", "Cost"):
        table.add_column(title, justify="right", no_wrap=True)
    for one in found:
        names = (Text(shown(name)) for name in (f"{one.team}/{one.app}", one.feature))
        table.add_row(*names, f"{one.writes:,}", f"{one.tokens:,}", one.cost.usd)
    show_table(table)
