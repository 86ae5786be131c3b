"""Compare texts by meaning with the embedding that the process has; by words alone where it has none, or no time.

What was compared once is remembered by its digest: the pages and turns of a conversation come again with its next turn.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING, Final

import anyio

from cache.errors import CacheError
from gateway.steps.guarding.meanings import Places

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]

PATIENCE_S: Final = 2.0
"""How long a request waits to have its context compared by meaning."""

MOST: Final = 8_192
"""Vectors that are remembered, of 1.5 kB each with the bundled embedding."""

_AT_ONCE: Final = 8
"""Texts of one round: whoever looks up a single question meanwhile comes in between."""


class Nearness:
    """Compares texts.

    Args:
        places: gives texts their places.
        patience_s: how long it is waited for.
    """

    def __init__(self, places: Places, patience_s: float = PATIENCE_S) -> None:
        self._places = places
        self._placed_by = ""
        self._patience_s = patience_s
        self._known: OrderedDict[bytes, Vector] = OrderedDict()

    async def cosines(self, questions: Sequence[str], texts: Sequence[str]) -> list[float] | None:
        """Return for each text the cosine with the nearest question; None where that cannot be said in time."""
        if not questions or not texts:
            return None
        try:
            with anyio.fail_after(self._patience_s):
                asked = await self._vectors(questions)
                found = await self._vectors(texts)
        except (CacheError, TimeoutError):
            return None
        return [max(float(vector @ question) for question in asked) for vector in found]

    async def _vectors(self, texts: Sequence[str]) -> list[Vector]:
        names = [_name(text) for text in texts]
        fresh = [(name, text) for name, text in zip(names, texts, strict=True) if name not in self._known]
        found = {name: self._known[name] for name in names if name in self._known}
        for at in range(0, len(fresh), _AT_ONCE):
            part = fresh[at : at + _AT_ONCE]
            by, rows = await self._places.place([text for _, text in part])
            if by != self._placed_by:
                self._known.clear()
                self._placed_by = by
            found |= {name: row for (name, _), row in zip(part, rows, strict=True)}
            self._remember({name: found[name] for name, _ in part})
        return [found[name] for name in names]

    def _remember(self, found: dict[bytes, Vector]) -> None:
        self._known.update(found)
        while len(self._known) > MOST:
            self._known.popitem(last=False)


def _name(text: str) -> bytes:
    return blake2b(text.encode(errors="replace"), digest_size=16).digest()
