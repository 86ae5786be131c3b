"""`sluice policy apply`, `rollback`, `history`, `show` and `shadow`: which policy is in force, was, or is tried.

All of them speak to the database; a running gateway follows within a second.
"""
# ruff: noqa: PLC0415  imported when a verb runs, so that --help answers at once

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gateway.cli.policies.texts import policy, replaying, show_replay
from gateway.cli.terminal import as_json, ledger, now, operator, say, settings, show_json, show_table

if TYPE_CHECKING:
    from gateway.policy.history.applying import Decision
    from gateway.policy.history.shadowing import Shade
    from gateway.policy.replay.outcomes import ReplayReport
    from governance.policy.history import Applied

_file = click.Path(path_type=Path, dir_okay=False)
_note = click.option("--note", default="", help="What to remember about it.")


@policy.command(
    epilog="\b\nExamples:\n  sluice policy apply\n  sluice policy apply next.yaml --note 'new budgets for search'\n"
    "  sluice policy apply next.yaml --shadow"
)
@click.argument("file", required=False, type=_file)
@click.option("--shadow", is_flag=True, help="Only try it beside the policy in force; see `sluice policy shadow`.")
@_note
@as_json
def apply(file: Path | None, shadow: bool, note: str, as_json: bool) -> None:
    """Put FILE (or the policy file of the settings) in force, in every running gateway within a second.

    Prints what changes. Status 1, and nothing is changed, when it is no policy.
    """
    from gateway.policy.history.applying import History
    from gateway.policy.history.masking import secrets_in
    from gateway.policy.history.starting import read_file

    at = now()
    written, loaded = read_file(file or settings().policy_file, os.environ, at)

    async def decide() -> Decision:
        async with ledger() as database:
            return await History(database, os.environ, operator()).apply(written, loaded, at, shadow=shadow, note=note)

    _show_decision(asyncio.run(decide()), as_json=as_json)
    if any(secrets_in(written.text)):
        say("Note: a secret is written out in this policy, and the history keeps it; name it as ${NAME} instead.")


@policy.command(epilog="\b\nExamples:\n  sluice policy rollback\n  sluice policy rollback 5f0c2d")
@click.argument("version", required=False)
@_note
@as_json
def rollback(version: str | None, note: str, as_json: bool) -> None:
    """Put VERSION of the history in force again, or the one before the policy in force."""
    from gateway.policy.history.applying import History

    async def decide() -> Decision:
        async with ledger() as database:
            return await History(database, os.environ, operator()).roll_back(version, now(), note)

    _show_decision(asyncio.run(decide()), as_json=as_json)


@policy.command(epilog="\b\nExamples:\n  sluice policy history\n  sluice policy history --limit 100 --json")
@click.option("--limit", type=click.IntRange(1, 1000), default=20, show_default=True, help="How many, from the newest.")
@as_json
def history(limit: int, as_json: bool) -> None:
    """List which policy was put in force when, and by whom, the newest first."""
    from gateway.policy.history.reading import facts_of
    from governance.policy.history import listed

    async def read() -> tuple[Applied, ...]:
        async with ledger() as database:
            return await listed(database, limit)

    found = [facts_of(applied) for applied in asyncio.run(read())]
    if as_json:
        show_json(found)
    elif found:
        _show_history(found)
    else:
        click.echo("No policy was ever put in force. The first start does it, or: sluice policy apply")


@policy.command(epilog="\b\nExamples:\n  sluice policy show\n  sluice policy show 5f0c2d > before.yaml")
@click.argument("version", required=False)
@as_json
def show(version: str | None, as_json: bool) -> None:
    """Print the text of VERSION, or of the policy in force; secrets that were written into it are masked."""
    from gateway.errors import UnknownPolicy
    from gateway.policy.history.masking import masked
    from gateway.policy.history.reading import facts_of, find
    from governance.policy.history import Mode, newest

    async def read() -> Applied | None:
        async with ledger() as database:
            return await (newest(database, Mode.ACTIVE) if version is None else find(database, version))

    applied = asyncio.run(read())
    if applied is None:
        raise UnknownPolicy("no policy was ever put in force; the first start does it, or `sluice policy apply`", "")
    text = masked(applied.policy.text)
    if as_json:
        show_json(facts_of(applied) | {"text": text})
    else:
        click.echo(text, nl=False)


@policy.command(epilog="\b\nExamples:\n  sluice policy shadow\n  sluice policy shadow --off")
@click.option("--off", is_flag=True, help="Try it no longer.")
@as_json
def shadow(off: bool, as_json: bool) -> None:
    """Say what the policy in the shade would have done since it was put there: the last one, when none is now.

    Put one there with `sluice policy apply FILE --shadow`. It changes nothing that is answered.
    """
    if off:
        _end_shadow(as_json=as_json)
        return
    found = asyncio.run(_shade())
    if found is None:
        if as_json:
            show_json(None)
        else:
            click.echo("No policy was ever tried in the shade: sluice policy apply FILE --shadow")
        return
    shade, report = found
    if as_json:
        show_json(shade.facts(report))
    else:
        show_replay(report)


async def _shade() -> tuple[Shade, ReplayReport] | None:
    from gateway.policy.history.shadowing import last_shade

    at = now()
    async with ledger() as database:
        shade = await last_shade(database)
        if shade is None:
            return None
        with replaying(await shade.size(database, at)) as progress:
            return shade, await shade.report(database, os.environ, at, progress)


def _end_shadow(*, as_json: bool) -> None:
    from gateway.policy.history.applying import History
    from gateway.policy.history.reading import facts_of

    async def end() -> Applied | None:
        async with ledger() as database:
            return await History(database, os.environ, operator()).end_shadow(now())

    ended = asyncio.run(end())
    if as_json:
        show_json(None if ended is None else facts_of(ended))
    elif ended is None:
        click.echo("No policy is in the shade.")
    else:
        click.echo(f"Policy {ended.policy.version} is tried no longer.")


def _show_decision(decision: Decision, *, as_json: bool) -> None:
    from governance.names import shown
    from governance.policy.history import Mode

    applied = decision.applied
    if as_json:
        show_json(decision.facts())
        return
    for change in decision.changes:
        click.echo(shown(str(change)))
    if not decision.changes:
        click.echo("no difference" if decision.before else "no policy was in force before")
    version = applied.policy.version
    if applied.mode is Mode.SHADOW:
        say(f"Policy {version} is in the shade; `sluice policy shadow` says what it would have done.")
    else:
        say(f"Policy {version} is in force; running gateways follow within a second.")


def _show_history(found: list[dict[str, Any]]) -> None:
    from rich.table import Table
    from rich.text import Text

    from governance.names import shown

    columns = {
        "id": "Id",
        "at": "At",
        "mode": "Mode",
        "version": "Version",
        "source": "From",
        "by": "By",
        "note": "Note",
    }
    table = Table(box=None, header_style="bold", pad_edge=False)
    for name, title in columns.items():
        table.add_column(title, overflow="fold", no_wrap=name not in {"source", "by", "note"})
    for facts in found:
        table.add_row(*(Text(shown(str(facts[name]))) for name in columns))
    show_table(table)
