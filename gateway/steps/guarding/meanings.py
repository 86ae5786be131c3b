"""Rules that go by what a text means: the topics that may be asked about, and injections.

They need the bundled embedding, which is opened when the first request needs it. Where it is not installed, or has too
much to do, a rule that blocks lets nothing pass, and a rule that flags says nothing.
"""
# ruff: noqa: PLC0415  what belongs to an extra is imported only where it is used

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, Protocol

from cache.errors import EmbeddingUnavailable
from governance.guardrails.injection.head import open_head
from governance.guardrails.rules import Injection, Rule, Topics

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from cache.embedding import Embedding

PATIENCE_S: Final = 2.0

_PIECE: Final = 800
"""Characters of a text that are placed as one; about what the embedding reads."""

_MOST_PIECES: Final = 6
"""Pieces of a text that are looked at: its beginning, and its end."""


class Places(Protocol):
    """Gives texts their places among all meanings."""

    async def place(self, texts: Sequence[str]) -> tuple[str, "NDArray[np.float32]"]:
        """Return the embedding's name, and a unit vector for each text.

        Raises:
            EmbeddingUnavailable: it is not installed, or cannot do it now.
        """
        ...


class Bundled:
    """The bundled embedding, opened when it is first needed.

    A rule cannot go on without a vector as a cache can, so it is waited for longer: for `patience_s` seconds.
    """

    def __init__(self, patience_s: float = PATIENCE_S) -> None:
        self._patience_s = patience_s
        self._embedding: Embedding | None = None
        self._opening = asyncio.Lock()

    async def place(self, texts: Sequence[str]) -> tuple[str, "NDArray[np.float32]"]:
        """Return the embedding's name, and a unit vector for each text.

        Raises:
            EmbeddingUnavailable: it is not installed, or cannot do it now.
        """
        async with self._opening:
            if self._embedding is None:
                from cache.embedding.batching import Limits
                from cache.embedding.opening import open_embedding

                self._embedding = await open_embedding(limits=Limits(patience_s=self._patience_s))
        return self._embedding.name, await self._embedding.embed(texts)

    async def close(self) -> None:
        """Close it, if it was opened."""
        if self._embedding is not None:
            await self._embedding.close()


class MeaningRules:
    """Says whether texts are what rules by meaning look for."""

    def __init__(self, places: Places) -> None:
        self._places = places
        self._sentences: dict[tuple[str, ...], NDArray[np.float32]] = {}

    async def finds(self, rule: Rule, texts: Sequence[str]) -> bool:
        """Say whether any of the texts is what a rule looks for.

        Raises:
            EmbeddingUnavailable: nobody can say, and the rule blocks.
        """
        pieces = [piece for text in texts for piece in _pieces(text)]
        if not pieces:
            return False
        try:
            match rule.looks_for:
                case Injection(threshold):
                    return await self._injected(pieces, threshold)
                case Topics() as topics:
                    return await self._off_topic(topics, pieces)
                case _:
                    return False
        except EmbeddingUnavailable:
            if rule.action == "block":
                raise
            return False

    async def _injected(self, pieces: list[str], threshold: float | None) -> bool:
        head = open_head()
        name, vectors = await self._places.place(pieces)
        if name != head.embedding:
            raise EmbeddingUnavailable(f"the injection head was made for {head.embedding}, not for {name}")
        return max(head.probabilities(vectors)) >= (head.threshold if threshold is None else threshold)

    async def _off_topic(self, topics: Topics, pieces: list[str]) -> bool:
        if topics.sentences not in self._sentences:
            self._sentences[topics.sentences] = (await self._places.place(topics.sentences))[1]
        _, vectors = await self._places.place(pieces)
        closest: Any = (vectors @ self._sentences[topics.sentences].T).max(axis=1)
        about = [float(cosine) >= topics.threshold for cosine in closest]
        return not any(about) if topics.allowed else any(about)


def _pieces(text: str) -> list[str]:
    cut = [text[at : at + _PIECE] for at in range(0, len(text), _PIECE)]
    cut = [piece for piece in cut if piece.strip()]
    return cut if len(cut) <= _MOST_PIECES else [*cut[: _MOST_PIECES // 2], *cut[-(_MOST_PIECES // 2) :]]
