"""`sluice keys`: keys of applications, made, listed, rotated and revoked straight in the database.

A running gateway learns of a change within a second.
"""
# ruff: noqa: PLC0415  imported when a verb runs, so that --help answers at once

from __future__ import annotations

import asyncio
import secrets
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import click

from gateway.cli.terminal import Duration, as_json, now, settings, show_json

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from datetime import datetime, timedelta

    from governance.database import Database
    from governance.identity import KeyRecord


@click.group()
def keys() -> None:
    """Make, list, rotate and revoke the keys of applications."""


@keys.command(epilog="\b\nExample:\n  sluice keys create --team support --app support-bot --expires 30d --json")
@click.option("--team", required=True, help="A team of the policy.")
@click.option("--app", required=True, help="One of its apps.")
@click.option("--feature", help="Bind the key to one feature of the app.")
@click.option("--name", help="What people call it.")
@click.option("--expires", type=Duration(), help="How long it is good for, such as 30d.  [default: for ever]")
@as_json
def create(
    team: str, app: str, feature: str | None, name: str | None, expires: timedelta | None, as_json: bool
) -> None:
    """Make a key. It is shown once and kept nowhere."""
    from governance.keys import create_key

    _must_know(team, app)
    made_at = now()
    expires_at = made_at + expires if expires else None

    async def make() -> tuple[str, str]:
        async with _database() as database:
            minted = await create_key(
                database,
                team=team,
                app=app,
                feature=feature,
                name=name,
                expires_at=expires_at,
                now=made_at,
                random_bytes=secrets.token_bytes,
            )
            return minted.public_id, minted.key

    key_id, key = asyncio.run(make())
    facts = {"id": key_id, "key": key, "team": team, "app": app, "feature": feature, "name": name}
    if as_json:
        show_json(facts | {"created_at": _text(made_at), "expires_at": _text(expires_at)})
    else:
        click.echo(key)
        click.echo(f"Key {key_id} of {team}/{app}. It is not shown again.", err=True)


@keys.command(name="list", epilog="\b\nExample:\n  sluice keys list --team support")
@click.option("--team", help="Only keys of this team.")
@as_json
def list_(team: str | None, as_json: bool) -> None:
    """List keys, the newest first; never their secrets."""
    from governance.keys import list_keys

    async def read() -> tuple[KeyRecord, ...]:
        async with _database() as database:
            return await list_keys(database)

    at = now()
    found = [_facts(record, at) for record in asyncio.run(read()) if team in (None, record.caller.team)]
    if as_json:
        show_json(found)
    elif found:
        _table(found)
    else:
        click.echo("There are no keys. Make one: sluice keys create --team TEAM --app APP")


@keys.command(epilog="\b\nExample:\n  sluice keys rotate k7…q2 --overlap 1h")
@click.argument("key_id", metavar="ID")
@click.option(
    "--overlap", type=Duration(), default="24h", show_default=True, help="How long the old secret stays good."
)
@as_json
def rotate(key_id: str, overlap: timedelta, as_json: bool) -> None:
    """Give a key a new secret; the old one stays good for a while."""
    from governance.keys import rotate_key

    at = now()

    async def change() -> str:
        async with _database() as database:
            minted = await rotate_key(database, key_id, overlap=overlap, now=at, random_bytes=secrets.token_bytes)
            return minted.key

    key = asyncio.run(change())
    if as_json:
        show_json({"id": key_id, "key": key, "previous_until": _text(at + overlap)})
    else:
        click.echo(key)
        click.echo(f"The old secret of {key_id} is good until {_text(at + overlap)}.", err=True)


@keys.command(epilog="\b\nExample:\n  sluice keys revoke k7…q2")
@click.argument("key_id", metavar="ID")
@as_json
def revoke(key_id: str, as_json: bool) -> None:
    """Close a key for good."""
    from governance.keys import revoke_key

    at = now()

    async def change() -> None:
        async with _database() as database:
            await revoke_key(database, key_id, now=at)

    asyncio.run(change())
    if as_json:
        show_json({"id": key_id, "revoked_at": _text(at)})
    else:
        click.echo(f"Key {key_id} opens nothing any more.")


@asynccontextmanager
async def _database() -> AsyncGenerator[Database]:
    from gateway.operations.ledger import open_ledger

    async with open_ledger(settings()) as database:
        yield database


def _must_know(team: str, app: str) -> None:
    """Refuse a key that no request could use, naming those that one could."""
    import os

    from gateway.policy.source import load_policy

    rules = load_policy(settings().policy_file, os.environ, now()).rules
    if rules.app(team, app) is None:
        known = ", ".join(f"{rule.team}/{rule.app}" for rule in rules.apps()) or "none"
        raise click.BadParameter(f"the policy has no {team}/{app}; it has: {known}", param_hint="'--team' / '--app'")


def _facts(record: KeyRecord, at: datetime) -> dict[str, str | None]:
    """Say everything of a key but its secret."""
    caller = record.caller
    expired = record.expires_at is not None and record.expires_at <= at
    return {
        "id": caller.key_id,
        "team": caller.team,
        "app": caller.app,
        "feature": caller.feature,
        "name": caller.name,
        "state": "revoked" if record.revoked_at else "expired" if expired else "good",
        "created_at": _text(record.created_at),
        "expires_at": _text(record.expires_at),
        "revoked_at": _text(record.revoked_at),
    }


def _table(found: list[dict[str, str | None]]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, header_style="bold", pad_edge=False)
    columns = {"id": "Id", "team": "Team", "app": "App", "feature": "Feature", "name": "Name", "state": "State"}
    for title in (*columns.values(), "Expires"):
        table.add_column(title, overflow="fold")
    for facts in found:
        table.add_row(*(Text(facts[column] or "") for column in columns), Text(facts["expires_at"] or "never"))
    Console().print(table)


def _text(at: datetime | None) -> str | None:
    return at.isoformat(timespec="seconds").replace("+00:00", "Z") if at else None
