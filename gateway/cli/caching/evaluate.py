"""`sluice cache evaluate`: how often a stored answer would be served, and how often wrongly."""
# ruff: noqa: PLC0415  imported when a verb runs, so that --help answers at once

from __future__ import annotations

from pathlib import Path

import click

from gateway.cli.caching.group import cache
from gateway.cli.terminal import as_json

_file = click.Path(path_type=Path, dir_okay=False, exists=True)


@cache.command(
    epilog="\b\nExamples:\n"
    "  sluice cache evaluate --pairs pairs.jsonl\n"
    "  sluice cache evaluate --pairs pairs.jsonl.gz --max-error 0.02 --json"
)
@click.option("--pairs", type=_file, required=True, help="Pairs of questions, labelled: JSON Lines, plain or gzip.")
@click.option("--max-error", type=float, default=0.01, show_default=True, help="The share of wrong hits to stay under.")
@as_json
def evaluate(pairs: Path, max_error: float, as_json: bool) -> None:
    """Put labelled pairs through the decision of the semantic cache, as a request would be.

    A line of the file is {"a", "b", "same", "kind", "context"?}: is a stored answer to `a` a right answer to `b`?
    `a` and `b` are text, a list of messages or a whole request; `context` is messages that stand before both.
    """
    from gateway.cli.caching.pairs import show_pairs

    show_pairs(pairs, max_error, as_json=as_json)
