"""`sluice router evaluate`: RouteLLM's measures on prompts that a router has not learned from, beside baselines."""
# ruff: noqa: PLC0415  imported when the verb runs, so that --help answers at once

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gateway.cli.routers.group import artifact, chosen, data, router, strong, weak
from gateway.cli.terminal import as_json, show_json, show_table

if TYPE_CHECKING:
    from router_models.evaluating.bootstrap import Measure, Measured
    from router_models.evaluating.report import Report, Unseen


@router.command(
    epilog="\b\nExamples:\n"
    "  sluice router evaluate --data unseen.jsonl --weak small --strong large\n"
    "  sluice router evaluate --data unseen.jsonl.gz --router router.safetensors --json"
)
@data
@weak
@strong
@artifact
@click.option("--draws", type=click.IntRange(20, 10_000), default=500, show_default=True, help="Of the bootstrap.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of the bootstrap.")
@as_json
def evaluate(
    files: tuple[Path, ...],
    weak: str | None,
    strong: str | None,
    path: Path | None,
    draws: int,
    seed: int,
    as_json: bool,
) -> None:
    """Measure a router as RouteLLM does, on prompts that it has not learned from.

    Prompts that it has learned from, whole or nearly so, and repetitions are dropped and counted. APGR is the share of
    the gap between the two models that is recovered, on average over the share of strong calls; CPT(x) the percentage
    of strong calls that recovers x % of it. All intervals are 95 %, drawn anew by prompt.
    """
    from gateway.cli.routers.reading import read_labelled
    from router_models.artifact import open_scorer, require_embedding
    from router_models.evaluating.report import report, unseen
    from router_models.labelled.lines import pair_of

    found = chosen(path)
    scorer = open_scorer(found)
    labelled = read_labelled(files, quiet=as_json)
    require_embedding(scorer, labelled.embedding)
    pair = pair_of(labelled.examples, weak, strong)
    asked = unseen(scorer, labelled.examples, labelled.vectors, labelled.features, pair)
    done = report(scorer, asked, draws=draws, seed=seed)
    if as_json:
        named = {"router": scorer.name, "artifact": str(found or "bundled"), "weak": pair.weak, "strong": pair.strong}
        return show_json({**named, **_facts(done, asked)})
    _table(done)
    click.echo(
        f"{done.router.n:,} prompts; {asked.same:,} dropped as learned from, {asked.nearly:,} as nearly the same"
    )
    return click.echo(
        f"Quality {done.weak_quality:.3f} (weak) to {done.strong_quality:.3f} (strong); "
        f"strange to the router {done.strange.value:.1%}; calibration error {done.calibration_error:.3f}"
    )


def _facts(done: Report, asked: Unseen) -> dict[str, Any]:
    return {
        **asdict(done.router),
        "dropped": {"same": asked.same, "nearly_same": asked.nearly},
        "weak_quality": done.weak_quality,
        "strong_quality": done.strong_quality,
        "strange": asdict(done.strange),
        "calibration_error": done.calibration_error,
        "strange_to_strong": asdict(done.guarded),
        "baselines": {name: asdict(measured) for name, measured in done.baselines.items()},
    }


def _table(done: Report) -> None:
    from rich.table import Table

    table = Table("Router", box=None, pad_edge=False)
    for heading in ("APGR", "CPT(50) %", "CPT(80) %", "Quality at 20 %", "at 50 %", "ROC AUC"):
        table.add_column(heading, justify="right", no_wrap=True)
    rows = {"this router": done.router, "strange to strong": done.guarded, **done.baselines}
    for name, measured in rows.items():
        table.add_row(name.replace("_", " "), *_cells(measured))
    show_table(table)


def _cells(measured: Measured) -> tuple[str, ...]:
    qualities = measured.quality_at_cost_share
    three = (qualities["0.2"], qualities["0.5"], measured.roc_auc)
    return (
        _cell(measured.apgr, 3), _cell(measured.cpt50, 1), _cell(measured.cpt80, 1), *(_cell(one, 3) for one in three)
    )  # fmt: skip


def _cell(found: Measure, digits: int) -> str:
    return f"{found.value:.{digits}f} ({found.low:.{digits}f}-{found.high:.{digits}f})"
