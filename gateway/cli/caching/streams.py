"""What `sluice cache evaluate --stream` shows."""
# ruff: noqa: PLC0415  imported when a verb runs, so that --help answers at once

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import click
import msgspec

from cache.errors import BadLine, EmbeddingUnavailable
from gateway.cli.terminal import say, show_json, show_table

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from cache.evaluating.lines import Line
    from cache.evaluating.streams import StreamReport
    from cache.evaluating.tally import Rates
    from cache.intervals import Share

_BATCH = 64
_PATIENCE_S = 300.0


def show_stream(file: Path, max_error: float, judge_error: float, seed: int, *, as_json: bool) -> None:
    """Replay the stream of a file, and show how the cache did."""
    from cache.evaluating.guarding import guarded
    from cache.evaluating.lines import read_lines
    from cache.evaluating.streams import replay

    try:
        lines = read_lines(file)
        with click.progressbar(length=2 * len(lines), label="Replaying", hidden=as_json) as bar:
            vectors = asyncio.run(_embedded(lines, bar.update))
            report = replay(
                lines,
                vectors,
                max_error=max_error,
                judge_error=judge_error,
                seed=seed,
                forbidden=guarded(lines),
                progress=bar.update,
            )
    except (BadLine, EmbeddingUnavailable) as fault:
        raise click.ClickException(str(fault)) from fault
    if as_json:
        show_json(msgspec.to_builtins(report))
    else:
        _tables(report)


async def _embedded(lines: Sequence[Line], progress: Callable[[int], object]) -> NDArray[np.float32]:
    import numpy as np

    from cache.embedding.batching import Limits
    from cache.embedding.opening import open_embedding

    embedding = await open_embedding(limits=Limits(patience_s=_PATIENCE_S))
    try:
        parts: list[NDArray[np.float32]] = [np.empty((0, embedding.dimensions), np.float32)]
        for start in range(0, len(lines), _BATCH):
            texts = [line.prompt for line in lines[start : start + _BATCH]]
            parts.append(await embedding.embed(texts))

            progress(len(texts))
        return np.concatenate(parts)
    finally:
        await embedding.close()


def _tables(report: StreamReport) -> None:
    from rich.table import Table

    table = Table("Cache", box=None, pad_edge=False)
    for heading in ("Hits", "Wrong", "Right of hits"):
        table.add_column(heading, justify="right")
    for point in report.curve:
        mark = " (asked for)" if point.setting == report.max_error else ""
        table.add_row(f"error ≤ {point.setting:.2%}{mark}", *_cells(point.rates))
    for point in report.static:
        table.add_row(f"cosine ≥ {point.setting:.2f}", *_cells(point.rates))
    show_table(table)
    for feature, standing in report.standing.items():
        state = "open" if standing.open else "closed"
        say(
            f"{feature or 'all'}: {state}, {standing.reason.value}; wrong per lookup {standing.error:.2%}, "
            f"at most {standing.upper:.2%} (95 %); {report.explored:.1%} of lookups explored"
        )


def _cells(rates: Rates) -> tuple[str, str, str]:
    return _cell(rates.hit_rate), _cell(rates.error_rate), _cell(rates.precision)


def _cell(share: Share) -> str:
    return f"{share.value:.2%} [{share.low:.2%}, {share.high:.2%}]"
