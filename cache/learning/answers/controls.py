"""Stored answers that test the judge: they are in other groups than what was found, and must not be called the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Sequence
    from random import Random

    from cache.learning.answers.groups import Groups
    from cache.learning.lookups import Candidate

_POOL = 16
_POOLS = 1_024


class Controls(msgspec.Struct):
    """A few entries of each partition, drawn at random; controls are never taken from another partition.

    Attributes:
        pools: Entries by partition.
    """

    pools: dict[bytes, list[bytes]] = {}

    def keep(self, partition: bytes, entry: bytes, rng: Random) -> None:
        """Remember an entry; a random one leaves when the pool is full, and the oldest pool when there are too many."""
        pool = self.pools.pop(partition, [])
        if len(pool) < _POOL:
            pool.append(entry)
        else:
            pool[rng.randrange(_POOL)] = entry
        self.pools[partition] = pool
        while len(self.pools) > _POOLS:
            del self.pools[next(iter(self.pools))]

    def draw(self, partition: bytes, near: Sequence[Candidate], groups: Groups, rng: Random) -> tuple[bytes, ...]:
        """Draw one entry whose group is none of those found nearby, or none at all."""
        pool = self.pools.get(partition)
        if not pool:
            return ()
        around = {groups.of(candidate.entry) for candidate in near} | {None}
        apart = [entry for entry in pool if groups.of(entry) not in around]
        return (rng.choice(apart),) if apart else ()
