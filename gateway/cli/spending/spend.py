"""`sluice spend`: who spent what, read from the ledger."""
# ruff: noqa: PLC0415  imported when a verb runs, so that --help answers at once

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import click

from gateway.cli.terminal import Duration, as_json, ledger, now, show_json, show_table

if TYPE_CHECKING:
    from datetime import timedelta

    from governance.ledger.reading.reports import SpendReport, SpendRow
    from governance.money import Nanodollars

DIMENSIONS = ("team", "app", "feature", "workflow", "model", "segment", "environment", "session")


@click.command(
    epilog="\b\nExamples:\n  sluice spend\n  sluice spend --by model --since 30d --json\n  sluice spend --forecast\n"
    "  sluice spend --unread"
)
@click.option("--by", type=click.Choice(DIMENSIONS), default="team", show_default=True, help="Group by this dimension.")
@click.option("--since", type=Duration(), default="7d", show_default=True, help="How far to look back.")
@click.option("--forecast", is_flag=True, help="Show each budget instead, and when it will run out.")
@click.option("--unread", is_flag=True, help="Show what was written to providers' caches and nobody has read.")
@as_json
@click.pass_context
def spend(context: click.Context, by: str, since: timedelta, forecast: bool, unread: bool, as_json: bool) -> None:
    """Show what was spent, saved and refused; or where each budget will end."""
    if unread:
        from gateway.cli.spending.unread import show_unread

        if forecast or context.get_parameter_source("by") is not click.core.ParameterSource.DEFAULT:
            raise click.UsageError("--unread is by app and feature, and looks back: it goes with --since alone.")
        show_unread(since, as_json=as_json)
        return
    if forecast:
        from gateway.cli.spending.forecast import show_forecast

        _refuse_beside_forecast(context)
        show_forecast(as_json=as_json)
        return
    report = asyncio.run(_read(by, since))
    if as_json:
        show_json(
            {
                "by": report.by,
                "since": report.since.isoformat(),
                "until": report.until.isoformat(),
                "rows": [_facts(row) for row in report.rows],
                "total": _facts(report.total),
            }
        )
    else:
        _table(report)


def _refuse_beside_forecast(context: click.Context) -> None:
    given = context.get_parameter_source
    for name in ("by", "since"):
        if given(name) is not click.core.ParameterSource.DEFAULT:
            raise click.UsageError(
                f"--{name} has no meaning with --forecast: each budget has its own scope and window."
            )


async def _read(by: str, since: timedelta) -> SpendReport:
    from governance.ledger.reading import reports

    until = now()
    async with ledger() as database:
        return await reports.spend(database, by, until - since, until)


def _facts(row: SpendRow) -> dict[str, str | int]:
    return {
        "name": row.name,
        "requests": row.requests,
        "refused": row.refused,
        "cached": row.cached,
        "input_tokens": row.input_tokens,
        "output_tokens": row.output_tokens,
        "cost_usd": row.cost.usd,
        "saved_usd": row.saved.usd,
        **{f"saved_{lever}_usd": saved.usd for lever, saved in _levers(row)},
    }


def _levers(row: SpendRow) -> tuple[tuple[str, Nanodollars], ...]:
    savings = (row.saved_cache, row.saved_prefix, row.saved_routing, row.saved_context)
    return tuple(zip(("cache", "prefix", "routing", "context"), savings, strict=True))


def _table(report: SpendReport) -> None:
    from rich.table import Table
    from rich.text import Text

    from governance.names import shown

    levers = "Saved by " + ", ".join(f"{lever} {saved.usd}" for lever, saved in _levers(report.total))
    table = Table(
        box=None,
        header_style="bold",
        pad_edge=False,
        show_footer=True,
        footer_style="bold",
        caption=f"USD, {report.since:%Y-%m-%d %H:%M} to {report.until:%Y-%m-%d %H:%M} UTC\n{levers}",
        caption_justify="left",
    )
    table.add_column(report.by.capitalize(), footer="Total", overflow="fold")
    titles = ("Requests", "Refused", "Cached", "Tokens in", "Tokens out", "Saved", "Spend")
    for title, total in zip(titles, _cells(report.total), strict=True):
        table.add_column(title, footer=total, justify="right", no_wrap=True)
    for row in report.rows:
        table.add_row(Text(shown(row.name)), *_cells(row))
    show_table(table)


def _cells(row: SpendRow) -> tuple[str, ...]:
    counts = (row.requests, row.refused, row.cached, row.input_tokens, row.output_tokens)
    return (*(f"{count:,}" for count in counts), row.saved.usd, row.cost.usd)
