"""`sluice keys`: keys of applications, made, listed, rotated and revoked straight in the database.

A running gateway learns of a change within a second.
"""
# ruff: noqa: PLC0415  imported when a verb runs, so that --help answers at once

from __future__ import annotations

import asyncio
import getpass
import secrets
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING

import click

from gateway.cli.terminal import Duration, as_json, now, settings, show_json

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Generator
    from datetime import datetime, timedelta

    from gateway.policy.source import LoadedPolicy
    from governance.audit.chain import Actor
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
@click.option("--tier", "tiers", multiple=True, help="Only models of this tier; repeat for more.")
@click.option("--model", "models", multiple=True, help="Only this model; repeat for more.")
@click.option("--budget", "budgets", multiple=True, help="The most it may spend, such as 5/day; repeat for more.")
@as_json
def create(
    team: str,
    app: str,
    feature: str | None,
    name: str | None,
    expires: timedelta | None,
    tiers: tuple[str, ...],
    models: tuple[str, ...],
    budgets: tuple[str, ...],
    as_json: bool,
) -> None:
    """Make a key. It is shown once and kept nowhere.

    Tiers, models and budgets narrow what the policy grants the app, and never widen it.
    """
    from gateway.policy.key_terms import read_terms, require_app
    from governance.keys import create_key

    with _wrong_usage():
        policy = _policy()
        require_app(policy, team, app)
        terms = read_terms(policy, tiers, models, budgets)
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
                terms=terms,
                by=_operator(),
                now=made_at,
                random_bytes=secrets.token_bytes,
            )
            return minted.public_id, minted.key

    key_id, key = asyncio.run(make())
    facts = {"id": key_id, "key": key, "team": team, "app": app, "feature": feature, "name": name}
    facts |= {"tiers": tiers or None, "models": models or None, "budgets": budgets}
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
            minted = await rotate_key(
                database, key_id, by=_operator(), overlap=overlap, now=at, random_bytes=secrets.token_bytes
            )
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
            await revoke_key(database, key_id, by=_operator(), now=at)

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


def _policy() -> LoadedPolicy:
    import os

    from gateway.policy.source import load_policy

    return load_policy(settings().policy_file, os.environ, now())


@contextmanager
def _wrong_usage() -> Generator[None]:
    """Word what an option asks for in vain as wrong usage of that option."""
    from gateway.errors import BadRequest

    try:
        yield
    except BadRequest as wrong:
        hint = "'--team' / '--app'" if wrong.param == "app" else f"'--{wrong.param}'"
        raise click.BadParameter(wrong.message, param_hint=hint) from wrong


def _operator() -> Actor:
    """How the audit log names whoever types: the system's user, who may do all that the files' modes allow."""
    from governance.audit.chain import Actor

    return Actor(f"cli:{getpass.getuser()}", "operator")


def _facts(record: KeyRecord, at: datetime) -> dict[str, str | list[str] | None]:
    """Say everything of a key but its secret."""
    caller, terms = record.caller, record.caller.terms
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
        "tiers": None if terms.tiers is None else list(terms.tiers),
        "models": None if terms.models is None else list(terms.models),
        "budgets": [f"{budget.limit.usd}/{budget.window.value}" for budget in terms.budgets],
    }


def _table(found: list[dict[str, str | list[str] | None]]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, header_style="bold", pad_edge=False)
    columns = {"id": "Id", "team": "Team", "app": "App", "feature": "Feature", "name": "Name", "state": "State"}
    for title in (*columns.values(), "Only", "Expires"):
        table.add_column(title, overflow="fold")
    for facts in found:
        only = [word for part in ("tiers", "models", "budgets") for word in facts[part] or ()]
        cells = [str(facts[column] or "") for column in columns]
        table.add_row(*map(Text, (*cells, ", ".join(only), str(facts["expires_at"] or "never"))))
    Console().print(table)


def _text(at: datetime | None) -> str | None:
    return at.isoformat(timespec="seconds").replace("+00:00", "Z") if at else None
