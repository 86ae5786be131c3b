"""`sluice cache evaluate`: how often a stored answer would be served, and how often wrongly."""
# ruff: noqa: PLC0415  imported when a verb runs, so that --help answers at once

from __future__ import annotations

from pathlib import Path

import click

from gateway.cli.caching.group import cache
from gateway.cli.terminal import as_json

_file = click.Path(path_type=Path, dir_okay=False, exists=True)
_share = click.FloatRange(0, 1, min_open=True, max_open=True)
_error = click.FloatRange(0, 0.5)


@cache.command(
    epilog="\b\nExamples:\n"
    "  sluice cache evaluate\n"
    "  sluice cache evaluate --policy next.yaml --write\n"
    "  sluice cache evaluate --pairs pairs.jsonl.gz --max-error 0.02 --json\n"
    "  sluice cache evaluate --stream questions.jsonl --judge-error 0.05"
)
@click.option("--pairs", type=_file, help="Pairs of questions, labelled: JSON Lines, plain or gzip.")
@click.option(
    "--stream", type=_file, help="Questions in order with the class of their answer: JSON Lines, plain or gzip."
)
@click.option(
    "--max-error", type=_share, default=0.01, show_default=True, help="File: the share of wrong hits to stay under."
)
@click.option("--judge-error", type=_error, default=0.0, help="Stream: how often the judge's word is turned round.")
@click.option(
    "--seed", type=int, default=0, show_default=True, help="Stream: of exploration and of the judge's errors."
)
@click.option("--policy", type=_file, help="Record: the policy to hold it against; SLUICE_POLICY otherwise.")
@click.option("--write", is_flag=True, help="Record: write what it advises into the policy.")
@as_json
def evaluate(
    pairs: Path | None,
    stream: Path | None,
    max_error: float,
    judge_error: float,
    seed: int,
    policy: Path | None,
    write: bool,
    as_json: bool,
) -> None:
    """Replay the look-ups on record under other bounds, and advise which features to serve; no text is needed.

    With a file, put labelled questions through the decision of the semantic cache instead, as a request would be.

    A line of PAIRS is {"a", "b", "same", "kind", "context"?}: is a stored answer to `a` a right answer to `b`?
    `a` and `b` are text, a list of messages or a whole request; `context` is messages that stand before both.

    A line of STREAM is {"id", "prompt", "answer_class", "tenant"?, "feature"?}: they are replayed in order through an
    empty cache that learns as it goes, from a judge who compares the classes.
    """
    if pairs is not None and stream is not None:
        raise click.UsageError("Give either --pairs or --stream.")
    if (pairs or stream) and (policy or write):
        raise click.UsageError("--policy and --write go with the record, not with a file.")
    if pairs is not None:
        from gateway.cli.caching.pairs import show_pairs

        return show_pairs(pairs, max_error, as_json=as_json)
    if stream is not None:
        from gateway.cli.caching.streams import show_stream

        return show_stream(stream, max_error, judge_error, seed, as_json=as_json)
    from gateway.cli.caching.recorded import show_recorded

    return show_recorded(policy, write=write, as_json=as_json)
