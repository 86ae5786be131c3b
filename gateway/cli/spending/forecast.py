"""What `sluice spend --forecast` shows: where each budget stands, and where its window will end."""
# ruff: noqa: PLC0415  imported when a verb runs, so that --help answers at once

from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from gateway.cli.terminal import ledger, now, settings, show_json, show_table

if TYPE_CHECKING:
    from datetime import datetime
    from zoneinfo import ZoneInfo

    from gateway.policy.source import LoadedPolicy
    from governance.ledger.reading.outlooks import Values
    from governance.limits import Standing
    from governance.limits.forecast import Forecast, Outlook

_NOTHING = "-"
_DOLLAR = 10**9
_CENT = 10**7


@dataclass(frozen=True, slots=True)
class _Report:
    """Every budget at an instant, and how many values there are of those for each value."""

    at: datetime
    policy: LoadedPolicy
    budgets: list[tuple[Standing, Outlook | None]]
    values: list[Values]

    @property
    def timezone(self) -> ZoneInfo:
        """The zone of the budgets' calendar."""
        return self.policy.rules.timezone


def show_forecast(*, as_json: bool) -> None:
    """Show the budgets of the policy in force and of the keys."""
    report = asyncio.run(_read())
    if as_json:
        show_json(_facts(report))
        return
    if report.budgets:
        _table(report)
    for found in report.values:
        click.echo(_of_values(found))
    if not (report.budgets or report.values):
        click.echo("Neither the policy in force nor any key has a budget.")


async def _read() -> _Report:
    from gateway.policy.source import load_policy
    from governance.identity import Keyring
    from governance.keys import refresh
    from governance.ledger.reading.history import DailySpend
    from governance.ledger.reading.outlooks import look_ahead, stand

    at = now()
    policy = load_policy(settings().policy_file, os.environ, at)
    tz, keyring = policy.rules.timezone, Keyring()
    async with ledger() as database:
        await refresh(keyring, database)
        budgets = (*policy.rules.budgets(), *keyring.budgets())
        standings, values = await stand(database, budgets, at, tz)
        return _Report(at, policy, await look_ahead(DailySpend(database, tz), standings, at, tz), values)


def _facts(report: _Report) -> dict[str, Any]:
    return {
        "at": report.at.isoformat(),
        "timezone": report.timezone.key,
        "policy": {"source": report.policy.source, "version": report.policy.version},
        "budgets": [_budget_facts(*budget) for budget in report.budgets],
        "values": [
            {
                "scope": found.budget.scope,
                "each": found.budget.each,
                "window": found.budget.window.value,
                "count": found.count,
            }
            for found in report.values
        ],
    }


def _budget_facts(standing: Standing, outlook: Outlook | None) -> dict[str, Any]:
    best = outlook.best if outlook else None
    return {
        "scope": standing.scope,
        "window": standing.window.value,
        "limit_usd": standing.limit.usd,
        "spent_usd": standing.settled.usd,
        "resets_at": standing.resets_at.isoformat(),
        "linear_usd": outlook.linear.amount.usd if outlook else None,
        "weekday_usd": outlook.weekday.amount.usd if outlook and outlook.weekday else None,
        "forecast_by": best.by if best else None,
        "runs_out_at": best.runs_out_at.isoformat() if best and best.runs_out_at else None,
    }


def _table(report: _Report) -> None:
    from rich.table import Table
    from rich.text import Text

    from governance.names import shown

    table = Table(
        box=None,
        header_style="bold",
        pad_edge=False,
        caption=f"USD; {report.at.astimezone(report.timezone):%Y-%m-%d %H:%M} {report.timezone.key}, "
        f"policy {report.policy.version}",
        caption_justify="left",
    )
    table.add_column("Budget", overflow="fold")
    table.add_column("Window", no_wrap=True)
    for title in ("Limit", "Spent", "Linear", "By weekday"):
        table.add_column(title, justify="right", no_wrap=True)
    table.add_column("Runs out", no_wrap=True)
    for standing, outlook in report.budgets:
        ahead = (outlook.linear, outlook.weekday) if outlook else (None, None)
        money = (standing.limit.usd, standing.settled.usd, *map(_amount, ahead))
        cells = (standing.window.value, *money, _runs_out(standing, outlook, report.timezone))
        table.add_row(Text(shown(_name(standing.scope))), *cells)
    show_table(table)


def _name(scope: str) -> str:
    from governance.limits.scopes import parted

    whose, dimension, value = parted(scope)
    return f"{whose}, {dimension} {value}" if dimension else whose


def _amount(forecast: Forecast | None) -> str:
    """Write what is foretold no finer than it is meant: in cents, or below a dollar in three figures."""
    from governance.money import Nanodollars

    if forecast is None:
        return _NOTHING
    nanos = forecast.amount.nanos
    unit = _CENT if nanos >= _DOLLAR else 10 ** max(0, len(str(nanos)) - 3)
    return Nanodollars((nanos + unit // 2) // unit * unit).usd


def _runs_out(standing: Standing, outlook: Outlook | None, tz: ZoneInfo) -> str:
    """Say when a budget runs out; a rolling one that has not says nothing, for its window has no end."""
    if standing.remaining.nanos <= 0:
        return "is spent"
    if outlook is None or outlook.best.runs_out_at is None:
        return _NOTHING
    return f"{outlook.best.runs_out_at.astimezone(tz):%Y-%m-%d %H:%M}"


def _of_values(found: Values) -> str:
    """Say of a budget for each value how many there are, and which are shown."""
    from governance.ledger.reading.outlooks import LISTED
    from governance.windows import SESSION

    budget = found.budget
    per = "" if budget.window == SESSION else f" per {budget.window.value}"
    whose = f"{budget.limit.usd}{per} for each {budget.each} of {budget.scope}"
    if not found.count:
        return f"{whose}: nobody has spent from it."
    listed = "" if found.count <= LISTED else f"; the {LISTED} that spent most are shown"
    return f"{whose}: {found.count:,} {'has' if found.count == 1 else 'have'} spent{listed}."
