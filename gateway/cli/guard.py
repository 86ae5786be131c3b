"""`sluice guard`: what the guardrails have learned."""
# ruff: noqa: PLC0415  imported when a verb runs, so that --help answers at once

from __future__ import annotations

import gzip
import hashlib
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from gateway.cli.terminal import as_json, show_json, show_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from governance.guardrails.injection.head import Head

_file = click.Path(path_type=Path, dir_okay=False, exists=True)
_BATCH: Final = 64


@click.group()
def guard() -> None:
    """Train and measure what the guardrails have learned."""


@guard.command(
    epilog="\b\nExamples:\n  sluice guard train texts.jsonl.gz --validation held-out.jsonl.gz --out head.json"
)
@click.argument("data", type=_file)
@click.option("--validation", type=_file, required=True, help="Texts to measure it on, that are not among DATA.")
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), help="Where to write it; the head in use.")
@as_json
def train(data: Path, validation: Path, out: Path | None, as_json: bool) -> None:
    """Fit the detector of prompt injection anew, for the embedding that is installed.

    A line of DATA is {"text", "label"}: 1 is an injection. JSON Lines, plain or gzip. Texts of the validation that
    are among DATA are left out of it.
    """
    from governance.guardrails.injection.head import BUNDLED

    head = _fitted(data, validation)
    head.save(out or BUNDLED)
    _show(head.metrics | {"embedding": head.embedding}, as_json=as_json)


@guard.command(epilog="\b\nExamples:\n  sluice guard evaluate held-out.jsonl.gz --json")
@click.argument("data", type=_file)
@as_json
def evaluate(data: Path, as_json: bool) -> None:
    """Measure the detector of prompt injection on labelled texts; a line of DATA is as for `train`."""
    import numpy as np

    from governance.guardrails.injection.head import open_head
    from governance.guardrails.injection.measuring import measured

    head, (texts, labels) = open_head(), _read(data)
    name, vectors = _placed(texts)
    if name != head.embedding:
        raise click.ClickException(f"The head was made for {head.embedding}, not for {name}: train it anew.")
    scores = np.asarray(head.probabilities(vectors))
    _show(measured(scores, labels, head.threshold) | {"embedding": name}, as_json=as_json)


def _fitted(data: Path, validation: Path) -> Head:
    import numpy as np

    from governance.guardrails.injection.fitting import fit, held_out
    from governance.guardrails.injection.head import Head
    from governance.guardrails.injection.measuring import measured, threshold_at

    texts, labels = _read(data)
    known = {text.casefold().strip() for text in texts}
    held = [
        (text, label) for text, label in zip(*_read(validation), strict=True) if text.casefold().strip() not in known
    ]
    held_texts, held_labels = [text for text, _ in held], np.array([label for _, label in held])
    name, vectors = _placed([*texts, *held_texts])
    weights, bias = fit(vectors[: len(texts)], labels)
    rounded = tuple(round(float(weight), 4) for weight in weights)
    head = Head(embedding=name, weights=rounded, bias=round(bias, 4), threshold=0.5, data=_hash(data), metrics={})
    apart = replace(head, threshold=round(threshold_at(held_out(vectors[: len(texts)], labels), labels), 4))
    scores = np.asarray(head.probabilities(vectors[len(texts) :]))
    return replace(apart, metrics=measured(scores, held_labels, apart.threshold))


def _read(file: Path) -> tuple[list[str], NDArray[np.bool_]]:
    import numpy as np

    data = gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
    rows = [json.loads(line) for line in data.splitlines() if line.strip()]
    try:
        return [str(row["text"]) for row in rows], np.array([row["label"] == 1 for row in rows])
    except (KeyError, TypeError) as error:
        raise click.ClickException(f'{file}: a line is {{"text": …, "label": 0 or 1}}') from error


def _placed(texts: Sequence[str]) -> tuple[str, NDArray[np.float32]]:
    import asyncio
    import math

    import numpy as np

    from cache.embedding.batching import Limits
    from cache.embedding.opening import open_embedding

    async def place() -> tuple[str, NDArray[np.float32]]:
        embedding = await open_embedding(limits=Limits(waiting=len(texts) + 1, batch=_BATCH, patience_s=math.inf))
        try:
            with click.progressbar(range(0, len(texts), _BATCH), label="Placing texts", file=sys.stderr) as starts:
                rows = [await embedding.embed(texts[start : start + _BATCH]) for start in starts]
        finally:
            await embedding.close()
        return embedding.name, np.vstack(rows)

    return asyncio.run(place())


def _hash(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def _show(metrics: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        return show_json(metrics)
    from rich.table import Table

    table = Table("measure", "value", "95 % interval", box=None)
    for name, value in metrics.items():
        if isinstance(value, dict):
            table.add_row(name, f"{value['value']:.3f}", f"{value['low']:.3f} to {value['high']:.3f}")
    return show_table(table)
