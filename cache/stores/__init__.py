"""Where stored answers live: the protocol that `cache.answers` needs, and one module per home.

`memory.py` is the home of a single process, `disk.py` one that outlives it, `redis.py` that of a fleet; `near.py` keeps
what is asked for now in front of the last two. Every home passes `tests/conformance/test_answer_store.py`. `gdsf.py`
and `tinylfu.py` say which answers stay, `record.py` how an answer is written as bytes, `purges.py` what was purged.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping


OVERHEAD: Final = 1_024
"""Bytes counted for an answer beside its texts: the objects, the key, and its places in the order."""


@dataclass(frozen=True, slots=True)
class Stored:
    """An answer as it was bought.

    Attributes:
        body: The answer's body in wire form, without streaming.
        model: The policy's name of the model that answered.
        cost_nanos: What it cost, in nano-dollars: what a hit saves.
        usage: The tokens it was billed for, by class.
        created: When it was asked for, in seconds since 1970.
        question: The text of the last turn it answers, where a lookup by meaning may find it.
        marks: What a verifier has to know of that question beside its words.
        tags: What it can be purged by.
    """

    body: bytes
    model: str
    cost_nanos: int
    usage: Mapping[str, int]
    created: float
    question: str | None = None
    marks: bytes = b""
    tags: tuple[str, ...] = ()


def weight(stored: Stored) -> int:
    """Return the bytes an answer counts for."""
    return len(stored.body) + len((stored.question or "").encode()) + sum(map(len, stored.tags)) + OVERHEAD


@dataclass(frozen=True, slots=True)
class StoreSize:
    """How much a store holds, expired answers not yet swept included."""

    entries: int
    bytes: int


class AnswerStore(Protocol):
    """Keeps answers by fingerprint until they expire or their room is needed."""

    @property
    def sure(self) -> bool:
        """Whether what it did not find just now is not there; false while it cannot tell."""
        ...

    async def get(self, key: bytes) -> Stored | None:
        """Return the answer, or None when there is none or it has expired."""
        ...

    async def put(self, key: bytes, stored: Stored, ttl: float) -> None:
        """Keep the answer for `ttl` seconds, replacing what was there.

        What cannot fit is not kept, nor what is worth less than all that would have to go for it.
        """
        ...

    async def delete(self, key: bytes) -> bool:
        """Forget the answer; tell whether there was one."""
        ...

    async def purge(self, tag: str, before: float) -> int:
        """Forget all answers with this tag that were asked for at or before that instant; tell how many there were.

        An answer that is still on its way in counts among them: it is not kept when it comes.
        """
        ...

    async def size(self) -> StoreSize:
        """Count what is kept."""
        ...

    async def close(self) -> None:
        """Let go of what the store holds open; what it keeps beyond the process stays."""
        ...
