"""`sluice cache stats`: what the caches answered, and how far the semantic cache may be trusted."""
# ruff: noqa: PLC0415  imported when the verb runs, so that --help answers at once

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import click

from gateway.cli.caching.group import cache
from gateway.cli.terminal import Duration, as_json, ledger, now, show_json, show_table

if TYPE_CHECKING:
    from cache.learning.standing import Standing
    from governance.lookups.records import LookupKind

_WEEK = timedelta(days=7)


@cache.command(epilog="\b\nExamples:\n  sluice cache stats\n  sluice cache stats --since 30d --json")
@click.option("--since", type=Duration(), default=_WEEK, show_default="7d", help="How far back look-ups are counted.")
@as_json
def stats(since: timedelta, as_json: bool) -> None:
    """Show, for each feature, what the caches answered, and how the semantic cache stands.

    Its error is the share of look-ups served a wrong answer, as estimated from answers that were compared; the bound is
    what that share does not exceed with 95 % confidence. A feature that cannot keep its bound is closed, and says why.
    """
    counts, standings = asyncio.run(_read(since))
    features = sorted({*counts, *standings})
    if as_json:
        show_json([_facts(name, counts.get(name, {}), standings.get(name)) for name in features])
    elif features:
        _table({name: (counts.get(name, {}), standings.get(name)) for name in features})
    else:
        click.echo("No cache has answered or been asked yet: see `cache` in the policy.")


async def _read(since: timedelta) -> tuple[dict[str, dict[LookupKind, int]], dict[str, Standing]]:
    import os
    from random import SystemRandom

    from gateway.caching.learned import Learned
    from gateway.caching.recorder import Recorder
    from gateway.policy.history.reading import in_force
    from governance.lookups.records import Lookups

    async with ledger() as database:
        lookups, standing = Lookups(database), await in_force(database, os.environ, now())
        section = None if standing is None else standing.policy.document.cache.semantic
        learned = Learned(SystemRandom())
        if section is not None:
            learned.bind(section.max_error)
        await Recorder(lookups, "").begin(learned.learn)
        return await lookups.counts(now() - since), learned.standings()


def _facts(feature: str, counts: dict[LookupKind, int], standing: Standing | None) -> dict[str, Any]:
    facts: dict[str, Any] = {"feature": feature, **{kind: counts.get(kind, 0) for kind in ("exact", "semantic")}}
    if standing is None:
        return facts
    return facts | {
        "lookups": standing.lookups,
        "served": standing.hits,
        "compared": standing.audited,
        "open": standing.open,
        "reason": standing.reason.value,
        "error": standing.error,
        "error_upper": standing.upper,
        "exploration": standing.exploration,
        "judge_misses": standing.judge_misses,
        "judge_false_alarms": standing.judge_alarms,
    }


def _table(found: dict[str, tuple[dict[LookupKind, int], Standing | None]]) -> None:
    from rich.table import Table
    from rich.text import Text

    from governance.names import shown

    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column("Feature", overflow="fold")
    for title in ("Exact hits", "Semantic hits", "Look-ups", "Compared", "Error", "Bound"):
        table.add_column(title, justify="right", no_wrap=True)
    table.add_column("State", overflow="fold")
    for feature, (counts, standing) in found.items():
        hits = (f"{counts.get(kind, 0):,}" for kind in ("exact", "semantic"))
        table.add_row(Text(shown(feature)), *hits, *_cells(standing))
    show_table(table)


def _cells(standing: Standing | None) -> tuple[str, ...]:
    if standing is None:
        return ("", "", "", "", "")
    figures = (f"{standing.lookups:,}", f"{standing.audited:,}", f"{standing.error:.2%}", f"{standing.upper:.2%}")
    return (*figures, "open" if standing.open else f"closed: {standing.reason.value}")
