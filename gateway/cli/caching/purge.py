"""`sluice cache purge`: have stored answers forgotten, by an order in the database that every gateway follows."""
# ruff: noqa: PLC0415  imported when the verb runs, so that --help answers at once

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import click

from gateway.cli.caching.group import cache
from gateway.cli.terminal import as_json, ledger, now, operator, show_json

if TYPE_CHECKING:
    from governance.lookups.purges import Purge

_ALIKE = 0.95


@cache.command(
    epilog="\b\nExamples:\n  sluice cache purge --tag doc-17\n  sluice cache purge --feature support-bot/faq"
    "\n  sluice cache purge --like 'How long does delivery take?' --similarity 0.9"
)
@click.option("--all", "everything", is_flag=True, help="Forget every stored answer.")
@click.option("--tag", help="Answers that a caller tagged so (body field cache.tags).")
@click.option("--team", help="Answers bought for this team.")
@click.option("--app", help="Answers bought for this app.")
@click.option("--feature", metavar="APP/FEATURE", help="Answers bought for this feature.")
@click.option("--model", help="Answers that this model of the policy gave.")
@click.option("--request", "request_id", metavar="ID", help="The answer that was bought for this request.")
@click.option("--key", metavar="HEX", help="The answer under this fingerprint.")
@click.option("--like", metavar="QUESTION", help="Answers of the semantic cache to questions like this one.")
@click.option(
    "--similarity",
    type=click.FloatRange(0, 1, min_open=True),
    help="From what cosine on a question is like the one of --like.  [default: 0.95]",
)
@as_json
def purge(
    everything: bool,
    tag: str | None,
    team: str | None,
    app: str | None,
    feature: str | None,
    model: str | None,
    request_id: str | None,
    key: str | None,
    like: str | None,
    similarity: float | None,
    as_json: bool,
) -> None:
    """Have stored answers forgotten: those made until now, in every home and every process.

    A running gateway obeys within a second; one that is not running obeys when it starts.
    """
    from governance.lookups import purges

    named = {"team": team, "app": app, "feature": feature, "model": model, "request": request_id}
    said = {name: value for name, value in {**named, "tag": tag, "key": key, "like": like}.items() if value is not None}
    if len(said) + everything != 1:
        raise click.UsageError("Say what to forget by exactly one of the options; see --help.")
    if (empty := next((name for name, value in said.items() if not value), None)) is not None:
        raise click.UsageError(f"--{empty} is empty.")
    if similarity is not None and like is None:
        raise click.UsageError("--similarity goes with --like.")
    tags = [
        f"{name}:{value}" if name in named else value for name, value in said.items() if name not in {"key", "like"}
    ]
    ordered = _order(tags, key, like, _ALIKE if similarity is None else similarity)

    async def give() -> None:
        async with ledger() as database:
            await purges.order(database, ordered, operator())

    asyncio.run(give())
    if as_json:
        show_json({"kind": ordered.kind, "value": ordered.value, "at": ordered.at.isoformat()})
    else:
        click.echo("Ordered: running gateways forget within a second, others when they start.")


def _order(tags: list[str], key: str | None, like: str | None, similarity: float) -> Purge:
    from governance.lookups.purges import Purge

    at, by = now(), operator().name
    if tags:
        return Purge(at=at, kind="tag", value=tags[0], by=by)
    if like is not None:
        return Purge(at=at, kind="like", value=like, similarity=similarity, by=by)
    if key is None:
        return Purge(at=at, kind="all", value="", by=by)
    try:
        digest = bytes.fromhex(key)
    except ValueError:
        digest = b""
    if len(digest) != 32:  # noqa: PLR2004  SHA-256
        raise click.UsageError("--key is not a fingerprint: 64 hexadecimal digits.")
    return Purge(at=at, kind="key", value=digest.hex(), by=by)
