"""`sluice prices`: what models cost, whether that is right, and how to change it."""
# ruff: noqa: PLC0415  imported when a verb runs, so that --help answers at once

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gateway.cli.terminal import as_json, now, replace_file, settings, show_json, show_table

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import date, datetime

    from gateway.policy.pricing.listing import Quote
    from gateway.policy.source import LoadedPolicy
    from governance.money import Nanodollars
    from governance.prices import Price

_file = click.argument("file", required=False, type=click.Path(path_type=Path, dir_okay=False))
_RATES = {
    "input": "input that no cache has",
    "output": "output",
    "cached-input": "input read from a cache",
    "cache-write": "input written to a cache",
    "cache-write-1h": "input written to a cache for an hour",
    "audio-input": "sound",
    "cached-audio": "sound read from a cache",
    "image-input": "pictures",
    "reasoning": "reasoning",
    "audio-output": "speech",
}


@click.group()
def prices() -> None:
    """See what models cost, find prices in doubt, and set one."""


@prices.command("list", epilog="\b\nExamples:\n  sluice prices list\n  sluice prices list policy.yaml --json")
@_file
@as_json
def list_(file: Path | None, as_json: bool) -> None:
    """Show what each model of FILE (or the policy file of the settings) costs now, since when, and until when."""
    from gateway.policy.pricing.listing import quotes

    at = now()
    found = quotes(_load(file, at), at)
    if as_json:
        show_json({"at": at.isoformat(), "models": [quote.facts() for quote in found]})
    else:
        _table(found)


@prices.command(epilog="\b\nExamples:\n  sluice prices check\n  sluice prices check policy.yaml --margin 5 --json")
@_file
@click.option("--margin", type=click.IntRange(0, 1000), default=10, show_default=True, help="Per cent of difference.")
@as_json
def check(file: Path | None, margin: int, as_json: bool) -> None:
    """Find models without a price, prices that the price book has otherwise, and a price book that is old.

    Status 1 when there is any of these.
    """
    from gateway.policy.pricing.checking import check_prices
    from governance.names import shown

    at = now()
    report = check_prices(_load(file, at), at, margin)
    if as_json:
        show_json(report.facts())
    else:
        click.echo("\n".join(map(shown, report.lines())))
    raise click.exceptions.Exit(1 if report.doubts else 0)


def _rate_options(verb: Callable[..., None]) -> Callable[..., None]:
    for name, what in reversed(_RATES.items()):
        verb = click.option(f"--{name}", metavar="USD", help=f"For a million tokens of {what}.")(verb)
    return verb


@prices.command(
    "set",
    epilog="\b\nExamples:\n  sluice prices set opus --input 15 --cached-input 1.50 --output 75"
    "\n  sluice prices set opus --input 12 --output 60 --from 2027-01-01 --write",
)
@click.argument("model")
@_file
@_rate_options
@click.option("--tool-run", metavar="USD", help="For a thousand calls of tools that the provider runs.")
@click.option("--from", "since", type=click.DateTime(["%Y-%m-%d"]), help="The day (UTC) from which these prices hold.")
@click.option("--write", is_flag=True, help="Change the file; otherwise the change is only shown.")
@as_json
def set_(
    model: str, file: Path | None, since: datetime | None, write: bool, as_json: bool, **rates: str | None
) -> None:
    """Set the price of MODEL in FILE (or the policy file of the settings), and leave all else as it is.

    With --from the prices before stay, and these follow them. Put the file in force with `sluice policy apply`.
    """
    from difflib import unified_diff

    from governance.names import shown

    path = file or settings().policy_file
    if path is None:
        raise click.UsageError("There is no policy file: name one.")
    text = _text(path)
    edited = _edited(text, path, model, _amounts(rates), None if since is None else since.date())
    change = list(unified_diff(text.splitlines(), edited.splitlines(), str(path), str(path), n=0, lineterm=""))
    if write:
        replace_file(path, edited)
    if as_json:
        show_json({"written": write, "change": change})
    else:
        click.echo("\n".join(map(shown, change)) or "nothing changes")


def _load(path: Path | None, at: datetime) -> LoadedPolicy:
    from gateway.policy.source import load_policy

    return load_policy(path or settings().policy_file, os.environ, at)


def _text(path: Path) -> str:
    """Read a file with its ends of lines as they are."""
    from gateway.policy.source import policy_text

    policy_text(path)  # which says what is wrong with it
    return path.read_bytes().decode()


def _amounts(rates: dict[str, str | None]) -> dict[str, Nanodollars]:
    from governance.errors import NotMoney
    from governance.money import Nanodollars

    found: dict[str, Nanodollars] = {}
    for name, text in rates.items():
        if text is not None:
            try:
                found[name] = Nanodollars.parse(text)
            except NotMoney as error:
                raise click.UsageError(f"--{name.replace('_', '-')} is no amount in USD: {error.why}.") from error
    if "input" not in found:
        raise click.UsageError("A price needs --input.")
    return found


def _edited(text: str, path: Path, model: str, rates: dict[str, Nanodollars], since: date | None) -> str:
    """Return the new text of a policy that is valid before and after."""
    from gateway.policy.change.rewriting import CannotEdit
    from gateway.policy.pricing.editing import priced
    from gateway.policy.source import parse_policy

    parse_policy(text, str(path), os.environ, now())
    try:
        edited = priced(text, model, rates, since)
    except CannotEdit as error:
        raise click.ClickException(f"{error}: write it by hand.") from error
    parse_policy(edited, str(path), os.environ, now())
    return edited


def _table(found: tuple[Quote, ...]) -> None:
    from rich.table import Table
    from rich.text import Text

    from governance.names import shown

    table = Table(
        box=None, header_style="bold", pad_edge=False, caption="USD per million tokens", caption_justify="left"
    )
    table.add_column("Model", overflow="fold")
    for title in ("Input", "Cached", "Output"):
        table.add_column(title, justify="right", no_wrap=True)
    for title in ("More", "Source", "Since", "Until"):
        table.add_column(title, overflow="fold")
    for quote in found:
        table.add_row(*(Text(shown(cell)) for cell in _cells(quote)))
    show_table(table)


def _cells(quote: Quote) -> tuple[str, ...]:
    if quote.price is None:
        return (quote.name, "", "", "", "", quote.why, "", "")
    main: list[Any] = [quote.price.input, quote.price.cached_input or "", quote.price.output]
    more = [_others(quote.price), *(_tier(tier) for tier in quote.price.tiers)]
    more += [f"{service}: {price.input} in, {price.output} out" for service, price in quote.services.items()]
    days = ["" if day is None else f"{day:%Y-%m-%d %H:%M}" for day in quote.span]
    return (quote.name, *map(str, main), "; ".join(filter(None, more)), quote.price.source, *days)


def _tier(tier: Price) -> str:
    return f"above {tier.above}: {tier.input} in, {tier.output} out"


def _others(price: Price) -> str:
    shown = ("input", "cached_input", "output")
    return ", ".join(f"{name} {rate}" for name, rate in price.rates.items() if rate is not None and name not in shown)
