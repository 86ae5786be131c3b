"""Learn the verifier anew and say how it does on questions that were held out."""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import random
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from cache.embedding.batching import Limits
from cache.embedding.minilm.embedding import MiniLMEmbedding
from cache.embedding.opening import open_embedding
from cache.guards import veto
from cache.verifying.artifact import Card, read_lexicon, write_artifact
from cache.verifying.features import DIRECTIONS, compare
from cache.verifying.question import describe, mark
from cache.verifying.training.calibrating import calibrate, recall_at
from cache.verifying.training.fitting import Examples, fit, held_out
from cache.verifying.training.pairs import Pair, given, grouped, strangers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from cache.embedding import Reading as Embedded

_AXES = 64
_BATCH = 32
_PATIENCE_S = 60.0
_RATES = (0.01, 0.02, 0.05, 0.1)


def main() -> None:
    """Read the arguments, learn, write and report."""
    parser = argparse.ArgumentParser(prog="python -m cache.verifying.training", description=__doc__)
    parser.add_argument("--pairs", type=Path, action="append", default=[], help="more labelled pairs, JSON Lines")
    parser.add_argument("--weight", type=float, default=4.0, help="what a pair of these counts")
    parser.add_argument("--repeats", type=int, default=3, help="how often to hold out")
    parser.add_argument("--output", type=Path, default=Path(str(files("cache.verifying"))) / "weights")
    arguments = parser.parse_args()
    chance = random.Random(0)  # noqa: S311  wording, not secrets
    pairs = list(grouped(chance))
    for path in arguments.pairs:
        pairs += given(path, arguments.weight, chance)
    learn(pairs, arguments.output, arguments.repeats)


def learn(pairs: Sequence[Pair], output: Path, repeats: int) -> None:
    """Learn from pairs, and write the artifact into a folder."""
    name, embedded = asyncio.run(_embed(sorted({text for pair in pairs for text in (pair.a, pair.b)}, key=len)))
    pairs = [*pairs, *strangers(pairs, {text: found.vector for text, found in embedded.items()})]
    centre, axes = _axes([found.states[1:-1] for found in embedded.values()])
    lexicon = read_lexicon()
    questions = {text: describe(text, mark(found, centre, axes), lexicon) for text, found in embedded.items()}
    examples = Examples(
        features=np.concatenate(
            [
                compare(
                    questions[pair.a], [(questions[pair.b], float(embedded[pair.a].vector @ embedded[pair.b].vector))]
                )
                for pair in pairs
            ]
        ),
        same=np.array([pair.same for pair in pairs]),
        weights=np.array([pair.weight for pair in pairs], np.float32),
        groups=[pair.group for pair in pairs],
        vetoed=np.array([veto(questions[pair.a].reading, questions[pair.b].reading) is not None for pair in pairs]),
    )
    odds = [held_out(examples, seed) for seed in range(repeats)]
    found = np.array([not pair.made for pair in pairs])
    same = np.tile(examples.same[found], repeats)
    trees = fit(examples)
    written = "\n".join(f"{pair.a}\t{pair.b}\t{pair.same}" for pair in pairs)
    card = Card(
        embedding=name,
        features=tuple(DIRECTIONS),
        data_sha256=hashlib.sha256(written.encode()).hexdigest(),
        metrics=_report(pairs, odds, examples.same),
        calibration=calibrate(_probabilities(np.concatenate([one[found] for one in odds])), same),
        depth=trees.depth,
        base=trees.base,
    )
    write_artifact(output / "verifier.safetensors", card, centre, axes, trees)


def _report(pairs: Sequence[Pair], odds: Sequence[NDArray[np.float32]], same: NDArray[np.bool_]) -> dict[str, float]:
    """Print, by source, how much is served at a rate of wrong hits; return the figures of all."""
    sources = [pair.group.partition(":")[0] if ":" in pair.group else "groups" for pair in pairs]
    inside = {
        source: np.array([at == source and not pair.made for at, pair in zip(sources, pairs, strict=True)])
        for source in sorted(set(sources))
    }
    metrics: dict[str, float] = {}
    for source, at in inside.items():
        for rate in _RATES:
            found = [recall_at(one[at], same[at], rate) for one in odds]
            metrics[f"{source} recall at {rate:g}"] = round(float(np.mean(found)), 4)
            print(f"{source:24} {rate:5.0%} wrong: {np.mean(found):6.1%} served, {np.std(found):.1%} spread")  # noqa: T201
    return metrics


async def _embed(texts: list[str]) -> tuple[str, dict[str, Embedded]]:
    """Read all texts; return the name of the embedding and what it made of each."""
    embedding = await open_embedding(limits=Limits(waiting=_BATCH, batch=_BATCH, patience_s=_PATIENCE_S))
    assert isinstance(embedding, MiniLMEmbedding)  # noqa: S101  the bundled one
    batches = (texts[at : at + _BATCH] for at in range(0, len(texts), _BATCH))
    found = {text: one for batch in batches for text, one in zip(batch, await embedding.read(batch), strict=True)}
    await embedding.close()
    return embedding.name, found


def _probabilities(odds: NDArray[np.float32]) -> NDArray[np.float32]:
    return (1 / (1 + np.exp(-odds))).astype(np.float32)


def _axes(states: Sequence[NDArray[np.float32]]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return the mean of token states and their main axes, by principal components."""
    rows = np.concatenate(states)
    centre = rows.mean(axis=0)
    values, vectors = np.linalg.eigh(np.cov((rows - centre).T))
    return centre, vectors[:, np.argsort(-values)[:_AXES]].astype(np.float32)


if __name__ == "__main__":
    main()
