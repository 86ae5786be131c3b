"""Compare texts by meaning with the embedding that the process has; by words alone where it has none, or no time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

import anyio

from cache.errors import CacheError

if TYPE_CHECKING:
    from cache.embedding import Embedding

Embeddings = Callable[[], "Embedding | None"]
"""The embedding of this process; None while there is none."""

PATIENCE_S: Final = 2.0
"""How long a request waits to have its context compared by meaning."""

_AT_ONCE: Final = 8
"""Texts of one round: whoever looks up a single question meanwhile comes in between."""


async def cosines(embedding: Embedding | None, questions: Sequence[str], texts: Sequence[str]) -> list[float] | None:
    """Return for each text the cosine with the nearest question; None where that cannot be said in time."""
    if embedding is None or not questions or not texts:
        return None
    found: list[float] = []
    try:
        with anyio.fail_after(PATIENCE_S):
            asked = await embedding.embed(questions)
            for at in range(0, len(texts), _AT_ONCE):
                rows = await embedding.embed(texts[at : at + _AT_ONCE])
                found += [float(row.max()) for row in rows @ asked.T]
    except (CacheError, TimeoutError):
        return None
    return found
