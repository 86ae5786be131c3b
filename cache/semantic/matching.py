"""Whether two questions ask the same: by guards and a verifier where there is one for the embedding, or by guards."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from cache.guards import read, veto

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from cache.embedding import Embedding, TokenEmbedding
    from cache.stores import Stored
    from cache.verifying.verifier import Verifier


@dataclass(frozen=True, slots=True)
class Placed:
    """A question and its place.

    Attributes:
        text: Its words.
        vector: A unit vector [dimensions].
        marks: What has to be kept beside its answer for it to be judged later.
        whole: Whether all of its words were read; what was not read cannot be compared.
    """

    text: str
    vector: NDArray[np.float32]
    marks: bytes = b""
    whole: bool = True


@dataclass(frozen=True, slots=True)
class Match:
    """What is thought of serving a stored answer.

    Attributes:
        probability: That it is a right one; None where nobody can say.
        vetoed: A guard forbids it.
    """

    probability: float | None
    vetoed: bool


class Matching(Protocol):
    """Places questions, and compares them."""

    @property
    def embedding(self) -> str:
        """The name of what places them."""
        ...

    async def place(self, text: str) -> Placed:
        """Place a question.

        Raises:
            EmbeddingUnavailable: It cannot be placed just now.
        """
        ...

    def judge(self, asked: Placed, stored: Sequence[tuple[Stored, float]]) -> list[Match]:
        """Judge stored answers, each with the cosine of its question to the one asked."""
        ...

    async def close(self) -> None:
        """Free what is held."""
        ...


class Verified:
    """Compares by guards and by what a verifier has learned for this embedding."""

    def __init__(self, embedding: TokenEmbedding, verifier: Verifier) -> None:
        self.embedding = embedding.name
        self._embedding = embedding
        self._verifier = verifier

    async def place(self, text: str) -> Placed:
        """Place a question; see `Matching.place`."""
        (reading,) = await self._embedding.read([text])
        whole = not (reading.is_cut or reading.unknown)
        return Placed(text, reading.vector, self._verifier.mark(reading), whole)

    def judge(self, asked: Placed, stored: Sequence[tuple[Stored, float]]) -> list[Match]:
        """Judge stored answers; one that was kept without marks of ours cannot be judged, and so not be served."""
        known = [
            (self._verifier.question(answer.question, answer.marks), similarity)
            for answer, similarity in stored
            if answer.question is not None and self._verifier.knows(answer.marks)
        ]
        verdicts = iter(self._verifier.judge(self._verifier.question(asked.text, asked.marks), known))
        matches: list[Match] = []
        for answer, _ in stored:
            said = next(verdicts) if answer.question is not None and self._verifier.knows(answer.marks) else None
            matches.append(_NONE if said is None else Match(said.probability, vetoed=said.veto is not None))
        return matches

    async def close(self) -> None:
        """Close the embedding."""
        await self._embedding.close()


class Guarded:
    """Compares by guards alone; how much similarity is enough is then all for the learner to find out."""

    def __init__(self, embedding: Embedding) -> None:
        self.embedding = embedding.name
        self._embedding = embedding

    async def place(self, text: str) -> Placed:
        """Place a question; see `Matching.place`."""
        return Placed(text, (await self._embedding.embed([text]))[0])

    def judge(self, asked: Placed, stored: Sequence[tuple[Stored, float]]) -> list[Match]:
        """Judge stored answers; see `Matching.judge`."""
        mine = read(asked.text)
        return [
            Match(None, vetoed=answer.question is None or veto(mine, read(answer.question)) is not None)
            for answer, _ in stored
        ]

    async def close(self) -> None:
        """Close the embedding."""
        await self._embedding.close()


_NONE = Match(None, vetoed=True)
