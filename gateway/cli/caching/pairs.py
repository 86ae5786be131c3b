"""What `sluice cache evaluate --pairs` shows: rates at the operating threshold, and the curve over it."""
# ruff: noqa: PLC0415  imported when a verb runs, so that --help answers at once

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import click

from gateway.cli.terminal import show_json, show_table

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence
    from pathlib import Path

    from cache.evaluating.deciding import Decided
    from cache.evaluating.labelled import LabelledPair
    from cache.evaluating.report import Curve, Rates
    from cache.intervals import Share


@dataclass(frozen=True, slots=True)
class _Report:
    """What was found: every pair as it was decided, the threshold in force, and two ways to score."""

    decided: Sequence[Decided]
    threshold: float
    verifier: Curve
    cosine: Curve


def show_pairs(file: Path, max_error: float, *, as_json: bool) -> None:
    """Put the pairs of a file through the decision, and show how it did."""
    from cache.evaluating.labelled import read_pairs

    _require_extra()
    from cache.evaluating.report import curve

    pairs = read_pairs(file)
    if not pairs:
        raise click.ClickException(f"{file} has no pairs.")
    decided, threshold = asyncio.run(_decide(pairs, max_error))
    report = _Report(
        decided,
        threshold,
        curve([(one.score, one.pair.same) for one in decided]),
        curve([(one.similarity, one.pair.same) for one in decided]),
    )
    if as_json:
        show_json(_facts(report, max_error))
    else:
        _tables(report, max_error)


def _require_extra() -> None:
    """Refuse at once, and clearly, where the packages of the semantic cache are missing."""
    from importlib.util import find_spec

    from cache.embedding.opening import BUNDLED
    from cache.errors import EmbeddingMissing

    if not all(map(find_spec, ("numpy", "onnxruntime", "tokenizers", "safetensors"))):
        raise EmbeddingMissing(BUNDLED, "sluicegate[semantic]")


async def _decide(pairs: Sequence[LabelledPair], max_error: float) -> tuple[list[Decided], float]:
    from cache.detecting.unfit import unfit
    from cache.embedding.batching import Limits
    from cache.embedding.minilm.embedding import MiniLMEmbedding
    from cache.embedding.opening import open_embedding
    from cache.errors import EmbeddingMissing
    from cache.evaluating.deciding import decide
    from cache.verifying.verifier import open_verifier

    embedding = await open_embedding(limits=Limits(patience_s=60.0))
    if not isinstance(embedding, MiniLMEmbedding):
        raise EmbeddingMissing("onnxruntime", "sluicegate[semantic]")
    verifier = open_verifier()
    try:
        with _deciding(len(pairs)) as progress:
            decided = await decide(pairs, embedding, verifier, lambda text: unfit(text) is None, progress)
    finally:
        await embedding.close()
    return decided, verifier.calibration.threshold(max_error)


@contextmanager
def _deciding(size: int) -> Generator[Callable[[int], None]]:
    """Show on a terminal how many pairs are decided; give what it tells of each step."""
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    with Progress(console=console, disable=not console.is_terminal, transient=True) as bar:
        task = bar.add_task("Deciding", total=size)
        yield lambda more: bar.advance(task, more)


def _facts(report: _Report, max_error: float) -> dict[str, Any]:
    from cache.evaluating.report import by_kind, rates

    scored = [(one.score, one.pair.same) for one in report.decided]
    stopped = [one.stopped_by for one in report.decided if one.stopped_by]
    return {
        "max_error": max_error,
        "threshold": report.threshold,
        **_rates(rates(scored, report.threshold)),
        "kinds": {kind: _rates(found) for kind, found in by_kind(report.decided, report.threshold).items()},
        "stopped_by": {reason: stopped.count(reason) for reason in sorted(set(stopped))},
        **_curve(report.verifier),
        "baselines": {"cosine": _curve(report.cosine)},
    }


def _curve(curve: Curve) -> dict[str, Any]:
    return {
        "recall_at_trap_rate": {f"{rate:g}": asdict(found) for rate, found in curve.recall_at.items()},
        "curve": [{"threshold": at, **_rates(found)} for at, found in curve.points],
    }


def _rates(found: Rates) -> dict[str, Any]:
    return asdict(found)


def _tables(report: _Report, max_error: float) -> None:
    from rich.table import Table

    from cache.evaluating.report import by_kind, rates

    scored = [(one.score, one.pair.same) for one in report.decided]
    rows = {"all": rates(scored, report.threshold), **by_kind(report.decided, report.threshold)}
    table = Table(
        "Kind",
        box=None,
        header_style="bold",
        pad_edge=False,
        caption=f"95 % intervals; served from probability {report.threshold:.3f} on, for an error of {max_error:g}",
        caption_justify="left",
    )
    for title in ("Pairs", "Hits", "Wrong", "Same served", "Traps served"):
        table.add_column(title, justify="right", no_wrap=True)
    for kind, found in rows.items():
        shares = (found.hit_rate, found.error_rate, found.recall, found.trap_rate)
        table.add_row(kind, f"{found.n:,}", *map(_share, shares))
    show_table(table)
    trapped = Table("Traps served", box=None, header_style="bold", pad_edge=False)
    for title in ("Same served", "By cosine alone"):
        trapped.add_column(title, justify="right", no_wrap=True)
    for rate, found in report.verifier.recall_at.items():
        trapped.add_row(f"≤ {rate:.0%}", _share(found), _share(report.cosine.recall_at[rate]))
    show_table(trapped)


def _share(found: Share) -> str:
    return f"{found.value:.1%} ({found.low:.1%}-{found.high:.1%})"
