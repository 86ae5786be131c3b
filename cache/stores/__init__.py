"""Where stored answers live: the protocol that `cache.answers` needs, and one module per home.

`memory.py` is the home of a single process. Every home passes `tests/conformance/test_answer_store.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Stored:
    """An answer as it was bought.

    Attributes:
        body: The answer's body in wire form, without streaming.
        model: The policy's name of the model that answered.
        cost_nanos: What it cost, in nano-dollars: what a hit saves.
        usage: The tokens it was billed for, by class.
        created: When it was bought, in seconds since 1970.
    """

    body: bytes
    model: str
    cost_nanos: int
    usage: Mapping[str, int]
    created: float


@dataclass(frozen=True, slots=True)
class StoreSize:
    """How much a store holds, expired answers not yet swept included."""

    entries: int
    bytes: int


class AnswerStore(Protocol):
    """Keeps answers by fingerprint until they expire or their room is needed."""

    async def get(self, key: bytes) -> Stored | None:
        """Return the answer, or None when there is none or it has expired."""
        ...

    async def put(self, key: bytes, stored: Stored, ttl: float) -> None:
        """Keep the answer for `ttl` seconds, replacing what was there; what cannot fit is not kept."""
        ...

    async def delete(self, key: bytes) -> bool:
        """Forget the answer; tell whether there was one."""
        ...

    async def size(self) -> StoreSize:
        """Count what is kept."""
        ...
