"""Labelled prompts as a router sees them: read from files, counted and embedded."""
# ruff: noqa: PLC0415  imported when a verb runs, so that --help answers at once

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import click

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from router_models.features import PromptFeatures
    from router_models.labelled.lines import Example

_BATCH: Final = 32
_PATIENCE_S: Final = 600.0


@dataclass(frozen=True, slots=True)
class Labelled:
    """Labelled prompts.

    Attributes:
        examples: As they were read.
        features: What is counted in each.
        vectors: Unit vectors, float32 [examples, dimensions].
        embedding: The name of the embedding.
    """

    examples: Sequence[Example]
    features: Sequence[PromptFeatures]
    vectors: NDArray[np.float32]
    embedding: str


def read_labelled(files: Sequence[Path], *, quiet: bool, most: int | None = None) -> Labelled:
    """Read labelled prompts, count and embed them; `most` takes only so many, by chance but always the same.

    Raises:
        BadExample: A line is no labelled prompt.
        EmbeddingMissing: The embedding is not installed.
    """
    from hashlib import sha256

    from router_models.features import features_of
    from router_models.labelled.lines import read_examples

    examples = read_examples(files)
    if most is not None:
        examples = sorted(examples, key=lambda one: sha256(one.text.encode()).digest())[:most]
    features = [features_of(one.text, turns=one.turns) for one in examples]
    texts = [one.text for one in examples]
    with click.progressbar(length=len(texts), label="Embedding", hidden=quiet) as bar:
        name, vectors = asyncio.run(_embedded(texts, bar.update))
    return Labelled(examples, features, vectors, name)


async def _embedded(texts: Sequence[str], progress: Callable[[int], object]) -> tuple[str, NDArray[np.float32]]:
    from cache.embedding.batching import Limits
    from cache.embedding.opening import open_embedding

    embedding = await open_embedding(limits=Limits(waiting=_BATCH, batch=_BATCH, patience_s=_PATIENCE_S))
    import numpy as np  # there where the embedding is

    try:
        vectors = np.empty((len(texts), embedding.dimensions), np.float32)
        order = sorted(range(len(texts)), key=lambda place: len(texts[place]))  # texts of one length go well together
        for start in range(0, len(order), _BATCH):
            places = order[start : start + _BATCH]
            vectors[places] = await embedding.embed([texts[place] for place in places])
            progress(len(places))
        return embedding.name, vectors
    finally:
        await embedding.close()
