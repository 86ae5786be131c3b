"""`sluice context report`: what prompts were made of, and what their needless parts have cost."""
# ruff: noqa: PLC0415  imported when a verb runs, so that --help answers at once

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Literal

import click

from gateway.cli.context.group import context
from gateway.cli.terminal import Duration, as_json, ledger, now, show_json, show_table

if TYPE_CHECKING:
    from datetime import timedelta

    By = Literal["team", "app", "feature"]
    Sums = dict[str, int]

_SHARES = ("system", "tools", "history", "retrieved", "asked")
_MONEY = ("input_nanos", "repeated_nanos", "unused_nanos", "saved_nanos")


@context.command(epilog="\b\nExamples:\n  sluice context report\n  sluice context report --by team --since 30d --json")
@click.option("--by", type=click.Choice(("team", "app", "feature")), default="feature", show_default=True)
@click.option("--since", type=Duration(), default="7d", show_default=True, help="How far to look back.")
@as_json
def report(by: By, since: timedelta, as_json: bool) -> None:
    """Show what the prompts of each feature were made of, and what is said twice in them has cost.

    Only requests under a policy with `context: {audit: true}` that were bought are counted, by the hour; tokens are
    estimates. What the repeated text cost is its share of what the prompts cost, at the rates that were paid.
    """
    found = asyncio.run(_read(by, since))
    if as_json:
        show_json([_facts(name, sums) for name, sums in found])
    elif found:
        _table(by, found)
    else:
        click.echo("No prompt has been audited yet: see `context` in the policy.")


async def _read(by: By, since: timedelta) -> list[tuple[str, Sums]]:
    from governance.context.hours import ContextHours

    async with ledger() as database:
        found = await ContextHours(database).since(now() - since, by)
    return sorted(found.items(), key=lambda one: (-one[1]["repeated_nanos"], one[0]))


def _facts(name: str, sums: Sums) -> dict[str, Any]:
    from governance.money import Nanodollars

    counts = {key: value for key, value in sums.items() if key not in _MONEY}
    money = {f"{key.removesuffix('_nanos')}_usd": Nanodollars(sums[key]).usd for key in _MONEY}
    return {"name": name} | counts | money


def _table(by: str, found: list[tuple[str, Sums]]) -> None:
    from rich.table import Table
    from rich.text import Text

    from governance.money import Nanodollars
    from governance.names import shown

    note = "Shares of tokens, before anything was cut; USD of prompts as they were paid"
    table = Table(box=None, header_style="bold", pad_edge=False, caption=note, caption_justify="left")
    table.add_column(by.capitalize(), overflow="fold")
    titles = ("System", "Tools", "History", "Retrieved", "Asked", "Repeated", "Unused tools", "Shared start")
    for title in ("Requests", "Tokens each", "Each turn adds", *titles, "Middle", "Prompts", "Repeated", "Cut saved"):
        table.add_column(title, justify="right", no_wrap=True)
    for name, sums in found:
        each = max(1, sums["requests"])
        shares = [sums[key] for key in _SHARES] + [sums["same"] + sums["near"], sums["unused"], sums["lead"]]
        table.add_row(
            Text(shown(name)),
            f"{sums['requests']:,}",
            f"{sums['tokens'] // each:,}",
            f"{sums['grown'] // each:,}",
            *(f"{share / max(1, sums['tokens']):.0%}" for share in shares),
            f"{sums['middle'] / max(1, sums['middle'] + sums['edge']):.0%}",
            *(Nanodollars(sums[key]).usd for key in ("input_nanos", "repeated_nanos", "saved_nanos")),
        )
    show_table(table)
