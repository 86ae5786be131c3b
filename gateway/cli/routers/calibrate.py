"""`sluice router calibrate`: fit a router's probabilities and thresholds to other labelled prompts."""
# ruff: noqa: PLC0415  imported when the verb runs, so that --help answers at once

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gateway.cli.routers.group import artifact, chosen, data, out, router, strong, trained, weak
from gateway.cli.terminal import as_json, show_json, show_table

if TYPE_CHECKING:
    from router_models.calibrating.thresholds import Thresholds

_share = click.FloatRange(0, 1)


@router.command(
    epilog="\b\nExamples:\n"
    "  sluice router calibrate --data recent.jsonl --weak small --strong large --quality 0.95\n"
    "  sluice router calibrate --data recent.jsonl --cost-share 0.3 --json"
)
@data
@weak
@strong
@artifact
@out
@click.option("--quality", type=_share, help="The least share of the strong model's quality to keep.")
@click.option("--cost-share", type=_share, help="The share of requests that may go to the strong model.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of the bootstrap.")
@as_json
def calibrate(
    files: tuple[Path, ...],
    weak: str | None,
    strong: str | None,
    path: Path | None,
    out: Path | None,
    quality: float | None,
    cost_share: float | None,
    seed: int,
    as_json: bool,
) -> None:
    """Fit a router's probabilities and thresholds to labelled prompts that it has not learned from.

    What it has learned of prompts stays as it is; the result is written beside, or over, the one in the home. The least
    that a threshold keeps is the lower end of a bootstrap over prompts, with a confidence of 95 %.
    """
    from dataclasses import replace

    import numpy as np

    from gateway.cli.routers.reading import read_labelled
    from router_models.artifact import open_scorer, require_embedding, write_artifact
    from router_models.calibrating.isotonic import fit_isotonic
    from router_models.calibrating.thresholds import fit_thresholds
    from router_models.evaluating.report import unseen
    from router_models.labelled.lines import pair_of

    scorer = open_scorer(chosen(path))
    labelled = read_labelled(files, quiet=as_json)
    require_embedding(scorer, labelled.embedding)
    pair = pair_of(labelled.examples, weak, strong)
    asked = unseen(scorer, labelled.examples, labelled.vectors, labelled.features, pair)
    predictions, _ = scorer.predictions(asked.prompts)
    calibration = fit_isotonic(predictions, asked.labels.gaps)
    thresholds = fit_thresholds(
        calibration.of(predictions), asked.labels.weak, asked.labels.strong, np.random.default_rng(seed)
    )
    target = out or trained()
    write_artifact(target, replace(scorer, calibration=calibration, thresholds=thresholds))
    aims = _aims(thresholds, quality, cost_share)
    if as_json:
        dropped = {"same": asked.same, "nearly_same": asked.nearly}
        facts = {"artifact": str(target), "weak": pair.weak, "strong": pair.strong, "n": len(asked.prompts)}
        return show_json({**facts, "dropped": dropped, **aims, "thresholds": _rows(thresholds)})
    _table(thresholds)
    for aim, threshold in aims.items():
        click.echo(f"{aim.replace('_', ' ')}: threshold {threshold:.4f}")
    return click.echo(f"{len(asked.prompts):,} prompts; written to {target}")


def _aims(thresholds: Thresholds, quality: float | None, cost_share: float | None) -> dict[str, float]:
    found = dict[str, float]()
    if quality is not None:
        found["threshold_for_quality"] = thresholds.for_quality(quality)
    if cost_share is not None:
        found["threshold_for_cost_share"] = thresholds.for_cost_share(cost_share)
    return found


def _rows(thresholds: Thresholds) -> list[dict[str, Any]]:
    names = thresholds.__slots__
    columns = [getattr(thresholds, name).tolist() for name in names]
    return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]


def _table(thresholds: Thresholds) -> None:
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for heading in ("Threshold", "Strong calls", "Quality kept", "at least"):
        table.add_column(heading, justify="right", no_wrap=True)
    for row in _rows(thresholds)[::4]:
        table.add_row(f"{row['at']:.4f}", *(f"{row[name]:.1%}" for name in ("strong_share", "kept", "kept_least")))
    show_table(table)
