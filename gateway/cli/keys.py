"""`sluice keys`: keys of applications, made, listed, rotated and revoked straight in the database.

A running gateway learns of a change within a second.
"""
# ruff: noqa: PLC0415  imported when a verb runs, so that --help answers at once

from __future__ import annotations

import asyncio
import secrets
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from gateway.cli.key_facts import KeyId, facts_of, show_keys, written
from gateway.cli.terminal import Duration, as_json, ledger, now, operator, say, settings, show_json

if TYPE_CHECKING:
    from collections.abc import Generator
    from datetime import timedelta

    from gateway.policy.source import LoadedPolicy
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
@click.option(
    "--budget", "budgets", multiple=True, help="The most it may spend, such as 5/day or 1/24h; repeat for more."
)
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
    from gateway.operations.key_terms import read_terms, require_app
    from governance.keys import create_key
    from governance.names import shown

    policy, note = asyncio.run(_policy())
    with _wrong_usage(note):
        require_app(policy, team, app)
        terms = read_terms(policy, tiers, models, budgets)
    notes = [*_notes(policy, team, app, feature), *filter(None, [note])]
    made_at = now()
    expires_at = made_at + expires if expires else None

    async def make() -> tuple[str, str]:
        async with ledger() as database:
            minted = await create_key(
                database,
                team=team,
                app=app,
                feature=feature,
                name=name,
                expires_at=expires_at,
                terms=terms,
                by=operator(),
                now=made_at,
                random_bytes=secrets.token_bytes,
            )
            return minted.public_id, minted.key

    key_id, key = asyncio.run(make())
    facts = {"id": key_id, "key": key, "team": team, "app": app, "feature": feature, "name": name}
    facts |= {"tiers": tiers or None, "models": models or None, "budgets": budgets}
    if as_json:
        show_json(facts | {"created_at": written(made_at), "expires_at": written(expires_at)})
    else:
        click.echo(key)
        say(f"Key {key_id} of {shown('/'.join(filter(None, (team, app, feature))))}. It is not shown again.")
    for note in notes:
        say(f"Note: {note}")


@keys.command(name="list", epilog="\b\nExample:\n  sluice keys list --team support")
@click.option("--team", help="Only keys of this team.")
@as_json
def list_(team: str | None, as_json: bool) -> None:
    """List keys, the newest first; never their secrets."""
    from governance.keys import list_keys

    async def read() -> tuple[KeyRecord, ...]:
        async with ledger() as database:
            return await list_keys(database, team)

    at = now()
    found = [facts_of(record, at) for record in asyncio.run(read())]
    if as_json:
        show_json(found)
    elif found:
        show_keys(found)
    elif team is None:
        click.echo("There are no keys. Make one: sluice keys create --team TEAM --app APP")
    else:
        from governance.names import shown

        click.echo(f"Team {shown(team)!r} has no keys.")


@keys.command(epilog="\b\nExample:\n  sluice keys rotate k7…q2 --overlap 1h")
@click.argument("key_id", metavar="ID", type=KeyId())
@click.option(
    "--overlap", type=Duration(), default="24h", show_default=True, help="How long the old secret stays good."
)
@as_json
def rotate(key_id: str, overlap: timedelta, as_json: bool) -> None:
    """Give a key a new secret; the old one stays good for a while."""
    from governance.keys import rotate_key

    at = now()

    async def change() -> str:
        async with ledger() as database:
            minted = await rotate_key(
                database, key_id, by=operator(), overlap=overlap, now=at, random_bytes=secrets.token_bytes
            )
            return minted.key

    key = asyncio.run(change())
    if as_json:
        show_json({"id": key_id, "key": key, "previous_until": written(at + overlap)})
    else:
        click.echo(key)
        say(f"The old secret of {key_id} is good until {written(at + overlap)}.")


@keys.command(epilog="\b\nExample:\n  sluice keys revoke k7…q2")
@click.argument("key_id", metavar="ID", type=KeyId())
@as_json
def revoke(key_id: str, as_json: bool) -> None:
    """Close a key for good."""
    from governance.keys import revoke_key

    at = now()

    async def change() -> None:
        async with ledger() as database:
            await revoke_key(database, key_id, by=operator(), now=at)

    asyncio.run(change())
    if as_json:
        show_json({"id": key_id, "revoked_at": written(at)})
    else:
        click.echo(f"Key {key_id} opens nothing any more.")


async def _policy() -> tuple[LoadedPolicy, str]:
    """Return the policy in force, and a note where the policy file says something else."""
    import os

    from gateway.policy.history.starting import expected, unapplied

    path, at = settings().policy_file, now()
    async with ledger() as database:
        standing = await expected(database, path, os.environ, at)
    differs = unapplied(path, standing, os.environ, at)
    return standing.policy, f"{path} {differs}. Put it in force with `sluice policy apply`." if differs else ""


@contextmanager
def _wrong_usage(note: str) -> Generator[None]:
    """Word what an option asks for in vain as wrong usage of that option, with a note of what might be meant."""
    from gateway.errors import BadRequest

    try:
        yield
    except BadRequest as wrong:
        hint = "'--team' / '--app'" if wrong.param == "app" else f"'--{wrong.param}'"
        message = f"{wrong.message}. Note: {note}" if note else wrong.message
        raise click.BadParameter(message, param_hint=hint) from wrong


def _notes(policy: LoadedPolicy, team: str, app: str, feature: str | None) -> list[str]:
    """Note what the owner of a new key might not expect."""
    from governance.names import shown

    notes: list[str] = []
    if feature is not None and feature not in policy.document.features(team, app):
        notes.append(f"the policy does not name the feature {shown(feature)!r}: the rules of {team}/{app} hold for it.")
    return notes
