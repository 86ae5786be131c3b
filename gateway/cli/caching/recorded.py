"""`sluice cache evaluate` without a file: what the record of look-ups says, and the policy that follows from it."""
# ruff: noqa: PLC0415  imported when the verb runs, so that --help answers at once

from __future__ import annotations

import asyncio
import os
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from gateway.cli.terminal import ledger, now, replace_file, settings, show_json, show_table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from gateway.caching.advice import Advice


def show_recorded(file: Path | None, *, write: bool, as_json: bool) -> None:
    """Print hits against errors of each feature on record, and the policy's section as it should be."""
    from random import Random

    from gateway.caching.advice import advise
    from gateway.policy.source import load_policy

    path = file or settings().policy_file
    section = load_policy(path, os.environ, now()).document.cache.semantic
    if section is None:
        raise click.UsageError("The policy has no cache.semantic; name features in its `observe` to have them watched.")
    found = advise(asyncio.run(_read()), section, Random(0))  # noqa: S311  the same record, the same advice
    if not as_json:
        _show(found)
    change = [] if path is None else _change(path, section, found, write=write)
    written = write and bool(change)
    if as_json:
        show_json({"features": [_facts(one) for one in found], "change": change, "written": written})
    elif change:
        click.echo("\n".join(["", *change]))
        click.echo(f"Written to {path}." if written else "Nothing is written yet: --write does.")
    elif found:
        click.echo("The policy need not change.")


def _show(found: tuple[Advice, ...]) -> None:
    from governance.names import shown

    if not found:
        return click.echo("No look-up of the semantic cache is on record yet.")
    _table(found)
    return click.echo("\n".join(f"{shown(one.feature)}: {one.why}" for one in found))


async def _read() -> list[Any]:
    from gateway.caching.recorder import Recorder
    from governance.lookups.records import Lookup, Lookups

    found: list[Lookup] = []
    async with ledger() as database:
        await Recorder(Lookups(database), "").begin(found.append)
    return found


def _change(path: Path, section: Any, found: tuple[Advice, ...], *, write: bool) -> list[str]:
    """Return the difference that the advice makes to the policy's text, and make it where that is wanted."""
    from difflib import unified_diff

    from gateway.caching.advice import advised
    from gateway.policy.change.rewriting import CannotEdit
    from gateway.policy.source import parse_policy
    from governance.names import shown

    text = path.read_bytes().decode()
    try:
        edited = _edited(text, advised(section, found))
    except CannotEdit as error:
        raise click.ClickException(f"{error}: write it by hand.") from error
    if edited == text:
        return []
    parse_policy(edited, str(path), os.environ, now())
    if write:
        replace_file(path, edited)
    before, after = text.splitlines(), edited.splitlines()
    return [shown(line) for line in unified_diff(before, after, str(path), str(path), n=0, lineterm="")]


def _edited(text: str, lists: Mapping[str, Sequence[str]]) -> str:
    """Write the lists of features into the text where they are not what it says."""
    from gateway.policy.change.rewriting import rewritten
    from gateway.policy.positions import parse

    data: Any = parse(text).data
    for name, features in lists.items():
        if list(features) != data["cache"]["semantic"].get(name, []):
            text = rewritten(text, ("cache", "semantic", name), features, f"cache.semantic.{name}")
    return text


def _facts(one: Advice) -> dict[str, Any]:
    return {
        "feature": one.feature,
        "lookups": one.lookups,
        "move": one.move or None,
        "why": one.why,
        "curve": [asdict(point) for point in one.curve],
    }


def _table(found: tuple[Advice, ...]) -> None:
    from rich.table import Table
    from rich.text import Text

    from governance.names import shown

    note = "Hits and errors are shares of look-ups, with 95 % intervals"
    table = Table(box=None, header_style="bold", pad_edge=False, caption=note, caption_justify="left")
    table.add_column("Feature", overflow="fold")
    for title in ("Look-ups", "Bound", "Hits", "Wrong"):
        table.add_column(title, justify="right", no_wrap=True)
    for one in found:
        for n, point in enumerate(one.curve):
            name, lookups = (shown(one.feature), f"{one.lookups:,}") if not n else ("", "")
            own = " (policy)" if point == one.own else ""
            hits, wrong = (_interval(share) for share in (point.hit_rate, point.error_rate))
            table.add_row(Text(name), lookups, f"{point.max_error:.2%}{own}", hits, wrong)
    show_table(table)


def _interval(share: Any) -> str:
    return f"{share.value:.1%} ({share.low:.1%} to {share.high:.1%})"
