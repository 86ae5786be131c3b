"""`sluice router train`: learn which prompts need the strong model."""
# ruff: noqa: PLC0415  imported when the verb runs, so that --help answers at once

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gateway.cli.routers.group import data, out, router, trained
from gateway.cli.terminal import as_json, show_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from router_models.labelled.lines import Example, Pair
    from router_models.learned import LearnedRouter


@router.command(
    epilog="\b\nExamples:\n"
    "  sluice router train --data labelled.jsonl --weak small --strong large\n"
    "  sluice router train --data a.jsonl.gz --data b.jsonl.gz --weak w1 --strong s1 --weak w2 --strong s2"
)
@data
@click.option("--weak", "weaks", multiple=True, help="The weak model, as the data call it; may be given again.")
@click.option("--strong", "strongs", multiple=True, help="The strong model beside it, in the same order.")
@out
@click.option("--labels", type=click.IntRange(1), help="Learn from so many prompts only, drawn by their hash.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of all chance.")
@as_json
def train(
    files: tuple[Path, ...],
    weaks: tuple[str, ...],
    strongs: tuple[str, ...],
    out: Path | None,
    labels: int | None,
    seed: int,
    as_json: bool,
) -> None:
    """Learn from labelled prompts, and write a router: numbers in a safetensors file, with a card in JSON.

    Where the data know but two models, the pair need not be named. How it did is told of prompts that were held out in
    turn; for prompts of another kind, see evaluate.
    """
    from gateway.cli.routers.reading import read_labelled
    from router_models.artifact import write_artifact
    from router_models.learning.training import train as learn

    found = read_labelled(files, quiet=as_json, most=labels)
    pairs = _pairs(found.examples, weaks, strongs)
    learned = learn(found.examples, found.vectors, found.features, pairs, embedding=found.embedding, seed=seed)
    path = out or trained()
    write_artifact(path, learned)
    facts = _facts(path, learned)
    if as_json:
        return show_json(facts)
    metrics = learned.card.metrics
    click.echo(
        f"{learned.card.prompts:,} prompts learned, {learned.card.dropped:,} dropped (nearly repeated, or no pair)"
    )
    calls = f"CPT(50) {metrics['cpt50']:.1f} %, CPT(80) {metrics['cpt80']:.1f} %"
    click.echo(f"Held out in turn: APGR {metrics['apgr']:.3f}, {calls}")
    return click.echo(f"Written to {path}: {facts['bytes']:,} bytes")


def _pairs(examples: Sequence[Example], weaks: tuple[str, ...], strongs: tuple[str, ...]) -> list[Pair]:
    from router_models.labelled.lines import pair_of

    if weaks and strongs:
        if len(weaks) != len(strongs):
            raise click.UsageError("Give as many --weak as --strong.")
        return [pair_of(examples, weak, strong) for weak, strong in zip(weaks, strongs, strict=True)]
    return [pair_of(examples, next(iter(weaks), None), next(iter(strongs), None))]


def _facts(path: Path, learned: LearnedRouter) -> dict[str, Any]:
    card = learned.card
    weights = zip(learned.heads.__slots__, learned.stack.weights.tolist(), strict=True)
    return {
        "artifact": str(path),
        "bytes": path.stat().st_size,
        "name": card.name,
        "embedding": card.embedding,
        "pairs": [{"weak": weak, "strong": strong} for weak, strong in card.pairs],
        "n": card.prompts,
        "dropped": card.dropped,
        "data_sha256": card.data_sha256,
        "seed": card.seed,
        "held_out": card.metrics,
        "weights": {name: round(weight, 4) for name, weight in weights},
    }
