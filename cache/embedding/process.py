"""Any model of sentence-transformers (Reimers and Gurevych 2019, arXiv 1908.10084), in a process of its own.

torch stays out of the gateway's process, and what happens to this one is no worse than a miss: when it dies or hangs it
is started again, and until then there are no vectors.
"""

from __future__ import annotations

import asyncio
import logging
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np

from cache.embedding.batching import Batches, Limits, readable
from cache.embedding.child import Child, Patience
from cache.errors import EmbeddingUnavailable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

log = logging.getLogger(__name__)

LIMITS: Final = Limits(patience_s=0.5)
"""Longer than for a model beside the event loop: there is a way there and back."""

_READS_CHARACTERS: Final = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What to start.

    Attributes:
        line: A command that speaks `frames.py`.
        threads: CPU threads of its computations.
        patience: How long to wait for it.
    """

    line: tuple[str, ...]
    threads: int = 1
    patience: Patience = field(default_factory=Patience)

    async def start(self) -> Child:
        """Start it, as `Child.start` says."""
        return await Child.start(self.line, self.threads, self.patience)


def sentence_transformers(model: str, threads: int = 1) -> Plan:
    """Return the plan for a model that sentence-transformers knows, by its name or its folder."""
    return Plan(line=(sys.executable, "-m", "cache.embedding.server", model), threads=threads)


class ProcessEmbedding:
    """An `Embedding` that is a process; `open` makes one."""

    def __init__(self, name: str, plan: Plan, child: Child, limits: Limits) -> None:
        self.name: Final = name
        self.dimensions: Final = child.dimensions
        self._plan = plan
        self._child: Child | None = child
        self._batches = Batches(self._compute, limits)
        self._keeper = asyncio.create_task(self._keep(child))

    @classmethod
    async def open(cls, name: str, plan: Plan, limits: Limits = LIMITS) -> ProcessEmbedding:
        """Start the process and wait until it has loaded its model, which takes seconds.

        Raises:
            EmbeddingUnavailable: It cannot, and why.
        """
        return cls(name, plan, await plan.start(), limits)

    @property
    def pid(self) -> int | None:
        """The number of the process, None while it is being started again."""
        return self._child.pid if self._child is not None else None

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return unit vectors, as `Embedding` says."""
        rows = await self._batches.run(texts)
        return np.stack(rows) if rows else np.empty((0, self.dimensions), np.float32)

    async def close(self) -> None:
        """Give up what waits, and end the process."""
        await self._batches.close()
        self._keeper.cancel()
        await asyncio.gather(self._keeper, return_exceptions=True)
        if self._child is not None:
            await self._child.kill()

    async def _compute(self, texts: Sequence[str]) -> list[NDArray[np.float32]]:
        if self._child is None:
            raise EmbeddingUnavailable("its process is being started again")
        return await self._child.embed([readable(text, _READS_CHARACTERS) for text in texts])

    async def _keep(self, child: Child) -> None:
        """Start the process again whenever it ends."""
        failures = 0
        while True:
            status = await child.ended()
            self._child = None
            log.warning("the process that embeds has ended", extra={"model": self.name, "status": status})
            failures = 0 if child.has_answered else failures + 1
            self._child = child = await self._again(failures)

    async def _again(self, failures: int) -> Child:
        while True:
            await asyncio.sleep(self._plan.patience.before_start(failures))
            try:
                return await self._plan.start()
            except (EmbeddingUnavailable, OSError) as error:
                log.warning("it could not be started again", extra={"model": self.name, "reason": str(error)})
                failures += 1
